"""Dataset folders that ``datasets`` loads as VideoFolder: a plan of what one holds, and the writing of it.

A folder is complete or absent: a first build happens beside it (``.NAME.building``) and is renamed into place; a
later one changes a complete folder file by file, clips first and the report last, so that what the metadata names
is there at every moment. Clips are named by the SHA-256 of their bytes: one that is there need not be stored again.
"""

import errno
import io
import json
import os
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, Literal

import pyarrow as pa
import pyarrow.parquet as pq
import yaml
from tqdm import tqdm

from dataset_scripts.repository.clips import ClipFacts, ClipSource
from egobench_tasks.documents import parse_json
from egobench_tasks.errors import EgobenchError, InputError
from egobench_tasks.files import sha256_of, write_atomically

REPORT_NAME = "build_report.json"
"""The report's file name: written last, and what tells a folder that we built from any other."""

Link = Literal["hard", "copy"]

_NO_LINK_HERE = {errno.EXDEV, errno.EPERM, errno.EACCES, errno.EMLINK, errno.ENOTSUP, errno.ENOSYS}


@dataclass(frozen=True, slots=True)
class StoredClip:
    """A checked clip: where its bytes come from, and what they are."""

    source: ClipSource
    facts: ClipFacts


@dataclass(frozen=True, slots=True)
class Repository:
    """All that a finished dataset folder holds.

    ``builder`` names the benchmark, ``configs`` the loadable configurations. ``files`` maps relative POSIX paths to
    bytes, in the order in which they are written. ``clips`` maps relative POSIX paths (see ``clip_path``) to checked
    clips; a content that two configs share appears once in each. ``report`` is the JSON-able build report.
    """

    builder: str
    configs: tuple[str, ...]
    files: Mapping[str, bytes]
    clips: Mapping[str, StoredClip]
    report: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Written:
    """What one run changed: files written and removed, and files found as they should be."""

    clips_stored: int
    clips_reused: int
    files_written: int
    files_reused: int
    removed: int

    @property
    def unchanged(self) -> bool:
        """Whether the folder was already what it should be."""
        return not (self.clips_stored or self.files_written or self.removed)


def clip_file_name(digest: str) -> str:
    """Return a clip's path relative to its config's folder: it tells nothing but the content."""
    return f"videos/{digest}.mp4"


def parquet_bytes(rows: Sequence[Mapping[str, Any]], schema: pa.Schema) -> bytes:
    """Return rows as one Parquet file: the same bytes for the same rows and the same pyarrow.

    Raises ``pyarrow.ArrowInvalid`` for a value that the schema does not take.
    """
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(list(rows), schema=schema), buffer, compression="zstd")
    return buffer.getvalue()


def configs_yaml(patterns: Mapping[str, Sequence[str]]) -> str:
    """Return the ``configs:`` block of a card: every config's split ``test`` and its file patterns.

    The first config is the default one. ``datasets`` 5.2 guesses one builder for the whole repository from the files
    of the *first* config, so that config must match video files; a lone ``metadata.parquet`` would make it Parquet.
    """
    configs = [
        {"config_name": name, **({"default": True} if index == 0 else {}), "data_files": [_test_split(paths)]}
        for index, (name, paths) in enumerate(patterns.items())
    ]
    return yaml.safe_dump({"configs": configs}, sort_keys=False).rstrip("\n")


def tasks_yaml(configs: Mapping[str, str]) -> str:
    """Return the ``tasks:`` block of a benchmark's ``eval.yaml``; ``configs`` maps a task's id to its config."""
    tasks = [{"id": task, "config": config, "split": "test"} for task, config in configs.items()]
    return yaml.safe_dump({"tasks": tasks}, sort_keys=False).rstrip("\n")


def _test_split(paths: Sequence[str]) -> dict[str, Any]:
    return {"split": "test", "path": list(paths)}


def render_card(template: Path, values: Mapping[str, str]) -> bytes:
    """Fill a card template (``string.Template``: ``${name}``, ``$$`` for a dollar sign).

    Raises ``KeyError`` for a placeholder without a value.
    """
    return string.Template(template.read_text(encoding="utf-8")).substitute(values).encode()


def report_bytes(report: Mapping[str, Any]) -> bytes:
    """Return a build report as it is written to the folder."""
    return (json.dumps(report, indent=2, ensure_ascii=False) + "\n").encode()


def check_target(out: Path, builder: str, configs: Sequence[str]) -> None:
    """Refuse an output folder that a build by ``builder`` of ``configs`` must not touch.

    Raises ``InputError`` unless ``out`` is absent, empty, or was built by the same builder with no other config.
    Call it before the long part of a build.
    """
    if not out.exists():
        return
    if not out.is_dir():
        raise InputError(f"{out}: a file is in the way; give a folder")
    if not any(out.iterdir()):
        return
    built = read_report(out / REPORT_NAME)
    if built.get("builder") != builder:
        raise InputError(f"{out}: holds something that `egobench build {builder}` did not make; give an empty folder")
    others = sorted(set(built.get("configs", ())) - set(configs))
    if others:
        raise InputError(
            f"{out}: also holds {', '.join(others)}, which this build would leave out; "
            "build without --only, or give an empty folder"
        )


def read_report(path: Path) -> Mapping[str, Any]:
    """Return what the builder wrote of its build; nothing where it cannot be read as such."""
    try:
        report = parse_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return report if isinstance(report, dict) else {}


def staging_folder(out: Path) -> Path:
    """Return the hidden folder beside ``out`` in which a first build happens, and from which it resumes."""
    return out.with_name(f".{out.name}.building")


def journal_file(out: Path) -> Path:
    """Return the hidden file beside ``out`` in which a build keeps which clips it has checked."""
    return out.with_name(f".{out.name}.checked.jsonl")


def write_repository(repository: Repository, out: Path, *, link: Link) -> Written:
    """Make ``out`` hold ``repository``; what is already right is left alone, modification times included.

    ``link="hard"`` links clips to the source files where the file system allows it and copies otherwise: to overwrite
    a source in place then changes the dataset too (the next build notices). ``"copy"`` always copies.

    Raises what ``check_target`` raises, and ``EgobenchError`` for a source clip that changed meanwhile.
    """
    out = out.resolve()
    check_target(out, repository.builder, repository.configs)
    root = out if (out / REPORT_NAME).is_file() else staging_folder(out)
    clips_stored = _store_clips(repository.clips, root, link)
    files = {**repository.files, REPORT_NAME: report_bytes(repository.report)}
    files_written = sum(_write_if_different(root / name, data) for name, data in files.items())
    removed = _remove_strays(root, repository)
    if root != out:
        root.replace(out)
        _sync_folder(out.parent)
    journal_file(out).unlink(missing_ok=True)
    return Written(
        clips_stored, len(repository.clips) - clips_stored, files_written, len(files) - files_written, removed
    )


def _store_clips(clips: Mapping[str, StoredClip], root: Path, link: Link) -> int:
    """Store every clip that is missing; return how many were."""
    stored = 0
    first_of_content: dict[str, Path] = {}
    for name, clip in tqdm(sorted(clips.items()), desc="storing clips", unit="clip", disable=None):
        target = root / name
        if not _is_there(target, clip):
            target.parent.mkdir(parents=True, exist_ok=True)
            _store_clip(clip, target, first_of_content.get(clip.facts.sha256), link)
            stored += 1
        first_of_content.setdefault(clip.facts.sha256, target)
    return stored


def _is_there(target: Path, clip: StoredClip) -> bool:
    """Whether the clip is stored and whole: a link to the source just checked, or a file of the same content."""
    if not target.is_file() or target.stat().st_size != clip.facts.size_bytes:
        return False
    is_the_source = clip.source.is_whole_file and target.samefile(clip.source.path)
    return is_the_source or sha256_of(target) == clip.facts.sha256


def _store_clip(clip: StoredClip, target: Path, twin: Path | None, link: Link) -> None:
    target.unlink(missing_ok=True)
    if twin is not None and _hard_link(twin, target):
        return
    if link == "hard" and clip.source.is_whole_file and _hard_link(clip.source.path.resolve(strict=True), target):
        return
    with clip.source.open() as source, write_atomically(target) as file:
        if _copy_and_hash(source, file) != clip.facts.sha256:
            raise EgobenchError(f"{clip.source}: changed while the dataset was built; run the same command again")


def _hard_link(source: Path, target: Path) -> bool:
    try:
        os.link(source, target)
    except OSError as error:
        if error.errno not in _NO_LINK_HERE:
            raise
        return False
    return True


def _copy_and_hash(source: BinaryIO, target: BinaryIO) -> str:
    digest = sha256()
    while chunk := source.read(1 << 20):
        digest.update(chunk)
        target.write(chunk)
    return digest.hexdigest()


def _write_if_different(path: Path, data: bytes) -> bool:
    if path.is_file() and path.read_bytes() == data:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    with write_atomically(path) as file:
        file.write(data)
    return True


def _remove_strays(root: Path, repository: Repository) -> int:
    """Remove clips that no row names any more, and what a killed run left; return how many files went."""
    removed = 0
    for config in repository.configs:
        for path in sorted((root / config).rglob("*")):
            name = PurePosixPath(path.relative_to(root)).as_posix()
            if path.is_file() and name not in repository.clips and name not in repository.files:
                path.unlink()
                removed += 1
    return removed


def _sync_folder(folder: Path) -> None:
    """Make a rename in ``folder`` durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
