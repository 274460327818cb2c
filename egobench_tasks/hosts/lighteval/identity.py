"""What answers: a model of this process, down to the files and the libraries that shape its input and output.

An answer is kept under its model's identity, and so is never taken for another model's, whatever both are called.
"""

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from huggingface_hub import constants
from huggingface_hub.file_download import repo_folder_name
from lighteval.models.abstract_model import ModelConfig
from pydantic import create_model

from egobench_tasks.documents import parse_json
from egobench_tasks.extras import DISTRIBUTION
from egobench_tasks.files import sha256_of
from egobench_tasks.runs.circumstances import library_versions

_LIBRARIES = ("torch", "transformers", "tokenizers", "pillow", "torchvision", "av", "peft", DISTRIBUTION)
# Settings that shape no answer, and those that name no file: a folder "cuda" in the working folder is no model.
_SHAPES_NOTHING = frozenset({"cache_dir", "batch_size"})
_NAMES_NO_FILE = frozenset(
    {"revision", "subfolder", "dtype", "device", "device_map", "system_prompt", "input", "attn_implementation"}
    | {"quantization"}
)
_HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")
_READ_BY_NO_MODEL = frozenset({".md", ".png", ".jpg", ".jpeg", ".gif", ".pdf"})
_TEMPLATES_FOLDER = "additional_chat_templates"
_WHOLE_BYTES = 64 * 2**20
_BLOCK_BYTES, _N_BLOCKS = 2**18, 64


def model_identity(config: ModelConfig, sha: str) -> dict[str, Any]:
    """Return everything about a model that shapes an answer, the question aside.

    ``model`` holds all settings but those that shape nothing. ``sources`` holds, for each setting that names a folder,
    a file or a repository (the model, its processor, an adapter; the adapter's base model too), the commit and the
    files: small ones by SHA-256, large ones by size, time and the SHA-256 of 64 parts. ``sha``: the Hub's commit, for
    a model of which the cache has none. ``versions``: the libraries'.
    """
    settings = config.model_dump(exclude=set(_SHAPES_NOTHING))
    sources = dict(_sources(settings))
    if sha and not sources["model_name"]["commit"] and not Path(config.model_name).exists():
        sources["model_name"]["commit"] = sha
    return {"model": settings, "sources": sources, "versions": library_versions(_LIBRARIES)}


def with_identity(config: ModelConfig, identity: Mapping[str, Any]) -> ModelConfig:
    """Return the config with the identity's files and versions beside its settings, for lighteval to save with them."""
    kind = create_model(type(config).__name__, __base__=type(config), identity=(dict[str, Any], {}))
    known = {name: value for name, value in identity.items() if name != "model"}
    return kind.model_construct(**{**dict(config), "identity": known})


def _sources(settings: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    revision, subfolder = settings.get("revision") or "main", settings.get("subfolder")
    for role, value in sorted(settings.items()):
        if role in _NAMES_NO_FILE or not isinstance(value, str) or not value:
            continue
        folder = _folder(value, revision)
        if folder is None and role != "model_name":
            continue
        yield role, _source(folder, subfolder)
        if folder is not None and (base := _base_of(folder)):
            yield f"{role}.base", _source(_folder(*base), None)


def _folder(name: str, revision: str) -> Path | None:
    """A folder or file as it stands, or the snapshot of a repository that the cache's ``refs/REVISION`` names.

    The latter is what transformers loads, with a network (it has just written the reference) and without.
    """
    path = Path(name).expanduser()
    if path.exists():
        return path
    if not _HUB_ID.fullmatch(name):
        return None
    repository = Path(constants.HF_HUB_CACHE) / repo_folder_name(repo_id=name, repo_type="model")
    reference = repository / "refs" / revision
    snapshot = repository / "snapshots" / (reference.read_text().strip() if reference.is_file() else revision)
    return snapshot if snapshot.is_dir() else None


def _source(folder: Path | None, subfolder: str | None) -> dict[str, Any]:
    if folder is None:
        return {"commit": None, "files": {}}
    files = {name: _file(path) for name, path in _files(folder, subfolder)}
    return {"commit": folder.name if folder.parent.name == "snapshots" else None, "files": files}


def _files(folder: Path, subfolder: str | None) -> Iterator[tuple[str, Path]]:
    """The files that a model may read, by their names. Not all below: lighteval's cache makes folders in there."""
    if folder.is_file():
        yield folder.name, folder
        return
    for inside in (folder, folder / _TEMPLATES_FOLDER, *([folder / subfolder] if subfolder else [])):
        for path in sorted(inside.iterdir()) if inside.is_dir() else ():
            if path.is_file() and not path.name.startswith(".") and path.suffix.lower() not in _READ_BY_NO_MODEL:
                yield path.relative_to(folder).as_posix(), path


def _file(path: Path) -> str | dict[str, Any]:
    """A file's SHA-256; of a large one what can be had without reading it all."""
    facts = path.stat()
    if facts.st_size <= _WHOLE_BYTES:
        return sha256_of(path)
    return {"bytes": facts.st_size, "mtime_ns": facts.st_mtime_ns, "sha256_of_parts": _sha256_of_parts(path)}


def _sha256_of_parts(path: Path) -> str:
    """The SHA-256 of 64 blocks of 256 KiB, evenly spaced from a file's first to its last byte."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        last = file.seek(0, os.SEEK_END) - _BLOCK_BYTES
        for index in range(_N_BLOCKS):
            file.seek(last * index // (_N_BLOCKS - 1))
            digest.update(file.read(_BLOCK_BYTES))
    return digest.hexdigest()


def _base_of(folder: Path) -> tuple[str, str] | None:
    """The name and revision of the model that an adapter's folder is for."""
    try:
        adapter = parse_json((folder / "adapter_config.json").read_text(encoding="utf-8"))
        name = adapter["base_model_name_or_path"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return (str(name), str(adapter.get("revision") or "main")) if name else None
