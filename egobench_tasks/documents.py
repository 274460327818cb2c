"""Files that users write, in YAML, TOML or JSON: what is wrong with one is one line, whatever it holds.

A key given twice is an error, since one of the two would silently win. YAML's aliases are refused: a few lines of
them unfold into gigabytes.
"""

import json
import tomllib
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any

import yaml

from egobench_tasks.errors import InputError
from egobench_tasks.texts import one_line

MAX_BYTES = 64 * 2**20
_MAX_YAML_DEPTH = 100


def read_yaml(path: Path, what: str) -> Any:
    """Read a YAML file; ``what`` it is (``"the judge's settings"``) is said in errors. Raises ``InputError``."""
    return _read(path, what, parse_yaml)


def read_json(path: Path, what: str) -> Any:
    """Read a JSON file, as `read_yaml`."""
    return _read(path, what, parse_json)


def read_toml(path: Path, what: str) -> dict[str, Any]:
    """Read a TOML file, as `read_yaml`. TOML itself forbids a key that stands twice."""
    loaded: dict[str, Any] = _read(path, what, tomllib.loads)
    return loaded


def parse_yaml(text: str) -> Any:
    """Parse YAML without aliases and without keys that stand twice. Raises ``yaml.YAMLError``."""
    return yaml.load(text, Loader=_StrictLoader)  # a SafeLoader


def parse_json(text: str) -> Any:
    """Parse JSON without keys that stand twice, nested as deep as Python reads. Raises ``ValueError``."""
    try:
        return json.loads(text, object_pairs_hook=unique_keys)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object of its pairs, for ``json``. Raises ``ValueError`` for a key that stands twice."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"key {key!r} is given twice")
        found[key] = value
    return found


def _read(path: Path, what: str, parse: Callable[[str], Any]) -> Any:
    try:
        if path.exists() and not path.is_file():
            raise ValueError("is no file")
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise ValueError(f"is larger than {MAX_BYTES // 2**20} MB")
        return parse(data.decode("utf-8-sig"))
    except RecursionError:
        raise InputError(f"{path}: cannot read {what}: it is nested too deeply") from None
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise InputError(f"{path}: cannot read {what}: {one_line(error)}") from error


class _StrictLoader(yaml.SafeLoader):
    """YAML whose mappings have each key once, without aliases."""

    _depth = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Compose one node, none of them an alias, none too deep."""
        mark: Any = self.peek_event().start_mark  # type: ignore[no-untyped-call]
        if self.check_event(yaml.AliasEvent):
            raise yaml.composer.ComposerError(None, None, "aliases (*name) are not taken", mark)
        if self._depth >= _MAX_YAML_DEPTH:
            raise yaml.composer.ComposerError(None, None, "it is nested too deeply", mark)
        self._depth += 1
        try:
            return super().compose_node(parent, index)
        finally:
            self._depth -= 1

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        """Construct a mapping whose keys are all different."""
        seen = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if isinstance(key, Hashable) and key in seen:
                raise yaml.constructor.ConstructorError(None, None, f"key {key!r} is given twice", key_node.start_mark)
            seen.add(key if isinstance(key, Hashable) else None)
        return super().construct_mapping(node, deep)
