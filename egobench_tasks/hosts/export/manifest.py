"""What an export holds: its ``export.json``, which says of every question what was written, and when it is whole.

The file grows with the export: a part (a file of lines) counts once it is listed. ``digest`` is set last, and an export
without one is unfinished.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from egobench_tasks.documents import parse_json
from egobench_tasks.errors import InputError
from egobench_tasks.files import write_atomically
from egobench_tasks.runs.values import from_json

MANIFEST_NAME = "export.json"
FRAMES_FOLDER = "frames"


class Form(StrEnum):
    """What the files of an export are for."""

    MESSAGES = "messages"  # a line a question: its id, its message, its budget
    OPENAI_BATCH = "openai-batch"  # OpenAI's batch API, and whoever takes its files
    LMMS_EVAL = "lmms-eval"  # a task for lmms-eval's --include_path


class Embed(StrEnum):
    """Where the frames are: in the messages, or in files beside them."""

    BASE64 = "base64"
    FILES = "files"


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A question of an export. ``digest`` is its message's, None where its clip could not be read; see ``failure``."""

    id: str
    task: str
    question_id: str
    budget_tokens: int
    digest: str | None = None
    failure: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A file of the export, and how many of the questions it covers, unreadable ones counted."""

    name: str
    n_questions: int
    n_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is exported and how, before the first question is written.

    ``tasks`` and ``limit`` as given; ``inputs``: wording, frames and rows of each task by its full name (see
    `hosts.lighteval.docs.RowPrompt`). ``datasets``: where each lies, by the variable that names it. ``settings`` shape
    the messages or the requests; ``model`` is the name in the requests, None where none was given. ``questions``: a
    digest of all that will be written, but for the pixels.
    """

    form: str
    embed: str
    tasks: str
    limit: int | None
    model: str | None
    thinking: bool
    inputs: Mapping[str, Any]
    datasets: Mapping[str, Any]
    settings: Mapping[str, Any]
    questions: str
    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """An export as far as it is written; ``digest`` is None until it is whole (see `export_digest`)."""

    plan: Plan
    written: tuple[Written, ...] = ()
    parts: tuple[Part, ...] = ()
    digest: str | None = None


def digest_of(value: Any) -> str:
    """Return 32 hex digits of a JSON value, order of the names aside."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()[:32]


def export_digest(plan: Plan, written: Sequence[Written]) -> str:
    """Return the digest of prompts, frames and settings: what an answer to this export is an answer to.

    Frames in files and frames in the messages are the same frames. lmms-eval encodes pictures anew, so its form counts.
    """
    reencoded = plan.form == Form.LMMS_EVAL
    shown = [(one.id, one.digest, one.budget_tokens) for one in written]
    return digest_of({"settings": plan.settings, "reencoded": reencoded, "questions": shown})


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write a manifest over the one that is there, whole or not at all."""
    with write_atomically(folder / MANIFEST_NAME) as file:
        file.write((json.dumps(asdict(manifest), indent=1, ensure_ascii=False) + "\n").encode())


def read_manifest(folder: Path) -> Manifest | None:
    """Return the manifest in a folder, None where there is none. Raises ``InputError`` where it cannot be read."""
    path = folder / MANIFEST_NAME
    try:
        found = from_json(Manifest, parse_json(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{path}: cannot be read as an export's manifest ({type(error).__name__}: {error}); export anew"
        ) from error
    assert isinstance(found, Manifest)
    return found


def read_whole(folder: Path) -> Manifest:
    """Return the manifest of a finished export. Raises ``InputError`` where there is none, or it is unfinished."""
    found = read_manifest(folder)
    if found is None:
        raise InputError(f"{folder}: holds no {MANIFEST_NAME}; --export names a folder that `egobench export` made")
    if found.digest is None:
        raise InputError(f"{folder}: this export is unfinished; run the same `egobench export` again to complete it")
    return found
