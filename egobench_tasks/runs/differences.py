"""In what two identities, or two runs' circumstances, differ: by name, for messages."""

from collections.abc import Mapping
from typing import Any

_ABSENT = object()


def differing(first: Any, second: Any, prefix: str = "") -> list[str]:
    """Return the dotted names at which two nested mappings differ, sorted; lists differ as wholes.

    >>> differing({"a": 1, "b": {"c": 2}}, {"a": 1, "b": {"c": 3}, "d": 4})
    ['b.c', 'd']
    """
    if not (isinstance(first, Mapping) and isinstance(second, Mapping)):
        return [] if _plain(first) == _plain(second) else [prefix]
    names = sorted(first.keys() | second.keys(), key=str)
    return [
        found
        for name in names
        for found in differing(
            first.get(name, _ABSENT), second.get(name, _ABSENT), f"{prefix}.{name}" if prefix else str(name)
        )
    ]


def _plain(value: Any) -> Any:
    """Tuples as lists: what was read back from JSON has no others."""
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def comparable(identity: Mapping[str, Any]) -> dict[str, Any]:
    """Return an identity as it is for every machine: a repository counts by its commit, whichever of its files a cache
    has; a large file by its bytes, whenever it was copied."""
    sources = {
        role: {"commit": source["commit"]}
        if source.get("commit")
        else {"files": {name: _but_times(file) for name, file in source["files"].items()}}
        for role, source in identity.get("sources", {}).items()
    }
    return {**identity, "sources": sources}


def _but_times(file: Any) -> Any:
    return {name: value for name, value in file.items() if name != "mtime_ns"} if isinstance(file, Mapping) else file
