"""Files of wording: ours, and a user's in place of it, for a message that is a paper's byte for byte (PROTOCOL 1.2).

What a user's file leaves out is ours, and a notice at the start says so.
"""

import hashlib
import logging
import os
import string
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from pathlib import Path
from typing import Any

from egobench_tasks.documents import read_toml
from egobench_tasks.errors import InputError

logger = logging.getLogger(__name__)


class Order(StrEnum):
    """What comes first in a message."""

    TEXT_FIRST = "text first"
    FRAMES_FIRST = "frames first"


@dataclass(frozen=True, slots=True)
class Layout:
    """How a message is put together round its instruction.

    heading: stands before a clip's frames, with ``$label`` (the clip's) and ``$number`` (from 1) filled in.
    single_heading: the same for a clip without a label; empty for none.
    clip_end: stands after a clip's frames; empty for nothing.
    option: one option, with ``$letter`` and ``$text``; between_options: what stands between two.
    end: follows the instruction, which then counts as it stands. Where it is None, blanks and line ends round the
        instruction are taken off and one line end follows it.
    order: see `Order`.
    plural: further placeholders of the instruction, each a word for one option to select and one for several.
    """

    heading: str = "\n$label\n"
    single_heading: str = ""
    clip_end: str = ""
    option: str = "$letter. $text"
    between_options: str = "\n"
    end: str | None = None
    order: Order = Order.TEXT_FIRST
    plural: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    def finished(self, instruction: str) -> str:
        """An instruction's template with what follows it."""
        return f"{instruction.strip()}\n" if self.end is None else instruction + self.end

    def differences(self) -> list[str]:
        """What is not as it is without a file, as text for a fingerprint."""
        return [
            f"{item.name}={value}" for item in fields(self) if (value := getattr(self, item.name)) != _default(item)
        ]


LAYOUT_KEYS = frozenset(item.name for item in fields(Layout))


def read_file(path: Path) -> dict[str, Any]:
    """Read a TOML file. Raises ``InputError`` where it cannot be read."""
    return read_toml(path, "the wording")


def users_file(variable: str, environ: Mapping[str, str] = os.environ) -> Path | None:
    """The file that a variable names, None where it names none."""
    return Path(environ[variable]) if environ.get(variable) else None


def say_what_is_ours(where: str, left_out: Iterable[str]) -> None:
    """Tell the user what a file leaves out."""
    if names := ", ".join(sorted(left_out)):
        logger.warning(f"{where} leaves out {names}: there the wording is egobench's own")


def check_keys(values: Mapping[str, Any], known: Collection[str], where: str) -> None:
    """Raise ``InputError`` for a key that is not known, and for a file without a version."""
    if unknown := sorted(set(values) - set(known)):
        raise InputError(f"{where}: unknown {', '.join(unknown)}; known are {', '.join(sorted(known))}")
    if "version" not in values:
        raise InputError(f"{where}: needs a version, which stands beside every score")


def text_of(values: Mapping[str, Any], key: str, where: str) -> str:
    """Return a key's text. Raises ``InputError`` for another type."""
    if not isinstance(values[key], str):
        raise InputError(f"{where}: {key} must be text, got {values[key]!r}")
    return str(values[key])


def layout_of(values: Mapping[str, Any], where: str) -> Layout:
    """Read the layout's keys among others; what is left out is as without a file. Raises ``InputError``."""
    given: dict[str, Any] = {key: values[key] for key in LAYOUT_KEYS & values.keys()}
    for key in given.keys() - {"plural", "order"}:
        given[key] = text_of(values, key, where)
    if "order" in given:
        if given["order"] not in list(Order):
            raise InputError(f"{where}: order must be one of {', '.join(Order)}; got {given['order']!r}")
        given["order"] = Order(given["order"])
    if "plural" in given:
        given["plural"] = _plural(given["plural"], where)
    layout = Layout(**given)
    check_placeholders(layout.heading, {"label", "number"}, set(), f"{where}: heading")
    check_placeholders(layout.option, {"letter", "text"}, {"letter", "text"}, f"{where}: option")
    return layout


def check_placeholders(template: str, known: Collection[str], required: Collection[str], where: str) -> None:
    """Raise ``InputError`` for a placeholder that is unknown or missing, and for a stray dollar sign."""
    parsed = string.Template(template)
    if not parsed.is_valid():
        raise InputError(f"{where}: a stray $; write $$ for the sign itself")
    names = set(parsed.get_identifiers())
    if unknown := sorted(names - set(known)):
        raise InputError(f"{where}: unknown placeholder {unknown}; known are {sorted(known)}")
    if missing := sorted(set(required) - names):
        raise InputError(f"{where}: the placeholder {missing} is missing")


def fingerprint(version: str, *wordings: str) -> str:
    """``version`` and a digest of the very characters, for task configs, journals and reports."""
    digest = hashlib.sha256("\0".join(wordings).encode()).hexdigest()
    return f"{version}-{digest[:12]}"


def _plural(value: object, where: str) -> dict[str, tuple[str, str]]:
    words = value if isinstance(value, dict) else {}
    pairs = {name: tuple(pair) for name, pair in words.items() if isinstance(pair, list)}
    if (
        not words
        or len(pairs) != len(words)
        or not all(len(pair) == 2 and all(isinstance(word, str) for word in pair) for pair in pairs.values())
    ):
        raise InputError(f'{where}: plural must hold pairs such as option = ["option", "options"]')
    return {name: (pair[0], pair[1]) for name, pair in pairs.items()}


def _default(item: Any) -> Any:
    return getattr(_PLAIN, item.name)


_PLAIN = Layout()
