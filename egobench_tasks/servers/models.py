"""What a server says of its models in ``GET /models``."""

import json
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedModel:
    """What a server says of a model in ``GET /v1/models``; None where it does not say. ``created_s``: UNIX time."""

    server_id: str | None = None
    root: str | None = None
    parent: str | None = None
    created_s: int | None = None


def read_model_list(body: str, model: str) -> ServedModel:
    """Read what a list of models says of the one of that name, or of the only one; nothing where it is no such list."""
    try:
        listed = [item for item in json.loads(body)["data"] if isinstance(item, Mapping)]
    except (ValueError, LookupError, TypeError, RecursionError):
        return ServedModel()
    named = [item for item in listed if item.get("id") == model] or (listed if len(listed) == 1 else [])
    if not named:
        return ServedModel()
    created = named[0].get("created")
    names = {field: value for field in ("id", "root", "parent") if isinstance(value := named[0].get(field), str)}
    return ServedModel(
        server_id=names.get("id"),
        root=names.get("root"),
        parent=names.get("parent"),
        created_s=created if isinstance(created, int) and not isinstance(created, bool) and created > 0 else None,
    )
