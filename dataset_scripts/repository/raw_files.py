"""Writing a raw release, whole or not at all: JSON, JSON lines, and clips that are linked rather than copied."""

import contextlib
import fcntl
import glob
import json
import os
import shutil
import uuid
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any


@contextlib.contextmanager
def appearing_whole(out: Path) -> Iterator[Path]:
    """Yield a hidden folder beside ``out`` that becomes ``out`` at the end; on an exception nothing of it stays.

    What a killed process left of an earlier try is removed; what one that still runs builds is not.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    for left in out.parent.glob(f".{glob.escape(out.name)}.*.tmp"):
        with _held(left) as is_ours:
            if is_ours:
                shutil.rmtree(left, ignore_errors=True)
    building = out.with_name(f".{out.name}.{uuid.uuid4().hex}.tmp")
    try:
        building.mkdir()
        with _held(building):
            yield building
            building.rename(out)
    except BaseException:
        shutil.rmtree(building, ignore_errors=True)
        raise


@contextlib.contextmanager
def _held(folder: Path) -> Iterator[bool]:
    """Hold a folder's lock, which ends with its process; yields whether nobody else has it."""
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:  # gone, or no folder
        yield False
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # held by another process, or a file system without locks
        yield False
    else:
        yield True
    finally:
        os.close(handle)


def write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write rows as JSON lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write one JSON object."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def link_files(source: Path, target: Path, names: Iterable[Path]) -> None:
    """Link files of one folder into another under the same names; a name that is no file there is passed over."""
    for name in names:
        if (source / name).is_file():
            link_file(source / name, target / name)


def link_file(source: Path, target: Path) -> None:
    """Hard-link a file, or copy it where that cannot be done. One that is there already stays."""
    if target.exists():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(source.resolve(), target)
    except OSError:  # another file system, or one without hard links
        shutil.copyfile(source, target)
