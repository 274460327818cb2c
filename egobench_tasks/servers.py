"""What the settings of an OpenAI-compatible server share, be it the model's or the judge's."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from egobench_tasks.errors import InputError


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


def read_settings(path: Path, whose: str) -> dict[str, Any]:
    """Read a YAML file of ``name: value`` lines; ``whose`` settings they are is said in errors.

    Raises ``InputError`` naming the file where it cannot be read, is no mapping, or holds a key.
    """
    import yaml

    try:
        loaded = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InputError(f"{path}: cannot read {whose} settings: {error}") from error
    if not isinstance(loaded, dict):
        raise InputError(f"{path}: {whose} settings must be a mapping of `name: value` lines")
    if "api_key" in loaded:
        raise InputError(
            f"{path}: api_key does not belong in a file; put the key in an environment variable "
            "and name the variable: `api_key_variable: MY_KEY`"
        )
    return {str(name): value for name, value in loaded.items()}


def check_base_url(base_url: str) -> None:
    """Raise ``InputError`` for an address that is none, or that holds a password (it would be saved with results)."""
    try:
        parts = urlsplit(base_url)
        readable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        readable = False
    if not readable:
        raise InputError(f"base_url must be like http://127.0.0.1:8000/v1, got {base_url!r}")
    if parts.username or parts.password:
        raise InputError("base_url holds a user name or password; put the key in a variable instead")
