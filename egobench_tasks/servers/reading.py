"""Settings from a YAML file, from variables and from options: checked name by name and value by value."""

import types
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from egobench_tasks.documents import parse_json, read_yaml
from egobench_tasks.errors import InputError
from egobench_tasks.servers.settings import ServerSettings
from egobench_tasks.texts import nearest

_WORDS: Mapping[type, str] = {str: "text", int: "a whole number", float: "a number", dict: "a mapping"}


@dataclass(frozen=True, slots=True)
class _Kind:
    """What a setting takes: a type, or some words, or both; ``may_be_null``: also null."""

    type: type | None
    choices: Mapping[str, Any]
    may_be_null: bool

    def __str__(self) -> str:
        words = [_WORDS[self.type]] if self.type else []
        return " or ".join([*words, *([f"one of {', '.join(self.choices)}"] if self.choices else [])])


def file_values(path: Path, settings: type[ServerSettings], whose: str) -> dict[str, Any]:
    """Read a YAML file of ``name: value`` lines for a class of settings; ``whose`` they are is said in errors.

    Raises ``InputError`` naming the file and the setting: one that is unknown, wrong or a key.
    """
    loaded = read_yaml(path, f"{whose} settings")
    if not isinstance(loaded, dict):
        raise InputError(f"{path}: {whose} settings must be a mapping of `name: value` lines")
    if "api_key" in loaded:
        raise InputError(
            f"{path}: api_key does not belong in a file; put the key in an environment variable "
            "and name the variable: `api_key_variable: MY_KEY`"
        )
    kinds = _kinds(settings)
    for name in loaded:
        if name not in kinds:
            raise InputError(f"{path}: unknown setting {name!r}; {nearest(name, kinds)}")
    return {name: _checked(value, kinds[name], f"{path}: {name}") for name, value in loaded.items()}


def variable_value(name: str, text: str, settings: type[ServerSettings], variable: str) -> Any:
    """Read one setting from an environment variable's text. Raises ``InputError`` naming the variable."""
    kinds = _kinds(settings)
    if name not in kinds:
        raise InputError(f"{variable}: unknown setting; {nearest(name, kinds)}")
    kind = kinds[name]
    if text in kind.choices:
        return kind.choices[text]
    value: Any = text
    try:
        if kind.type is dict:
            value = parse_json(text)
        elif kind.type in (int, float):
            value = kind.type(text)
    except ValueError:
        pass  # the check says what was expected
    return _checked(value, kind, variable)


def _kinds(settings: type[ServerSettings]) -> dict[str, _Kind]:
    return {name: _kind(hint) for name, hint in get_type_hints(settings).items()}


def _kind(hint: Any) -> _Kind:
    hints = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    plain: type | None = None
    choices: dict[str, Any] = {}
    for one in hints:
        if get_origin(one) is Literal:
            choices |= {word: word for word in get_args(one)}
        elif get_origin(one) is not None:
            plain = dict
        elif issubclass(one, StrEnum):
            choices |= {choice.value: choice for choice in one}
        elif one is not types.NoneType:
            plain = one
    return _Kind(plain, choices, types.NoneType in hints)


def _checked(value: object, kind: _Kind, where: str) -> Any:
    if value is None and kind.may_be_null:
        return None
    if kind.choices:
        # YAML 1.1 reads a bare on or off as a truth value
        word = ("on" if value else "off") if isinstance(value, bool) else str(value)
        if word in kind.choices:
            return kind.choices[word]
    # bool is an int to Python, never to a user
    accepted = (int, float) if kind.type is float else kind.type
    if accepted is None or isinstance(value, bool) or not isinstance(value, accepted):
        raise InputError(f"{where} must be {kind}; got {_shortly(value)}")
    return value


def _shortly(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 100 else f"{text[:100]}…"
