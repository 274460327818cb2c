"""Frozen dataclasses and the JSON they are kept as, both ways."""

import dataclasses
import types
import typing
from collections.abc import Mapping
from enum import Enum
from typing import Any


def from_json(kind: Any, value: Any) -> Any:
    """Return a loaded JSON value as a dataclass, or another type that a field may declare.

    Names that the dataclass has not are passed over, those that it has a default for may be missing.
    Raises ``TypeError``, ``AttributeError`` or ``ValueError`` where the value is of another form.
    """
    if dataclasses.is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        known = {item.name: value[item.name] for item in dataclasses.fields(kind) if item.name in _checked(value, dict)}
        return kind(**{name: from_json(hints[name], inner) for name, inner in known.items()})  # type: ignore[operator]
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is types.UnionType:
        return None if value is None else from_json(arguments[0], value)
    if origin is tuple:
        return tuple(from_json(arguments[0], inner) for inner in _checked(value, list))
    if origin is Mapping:
        return dict(_checked(value, dict))
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind(value)
    return float(value) if kind is float and type(value) is int else _checked(value, kind)


def _checked(value: Any, kind: type) -> Any:
    if not isinstance(value, kind):
        raise TypeError(f"{value!r} is no {kind.__name__}")
    return value
