"""Rules on names and places: what the metadata names is there, file names tell nothing, folders stay small."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from dataset_scripts.check.finding import Finding, error, warning
from dataset_scripts.check.input import (
    CARD,
    CLIPS_FOLDER,
    REGISTRATION,
    TABLE_NAME,
    DatasetFolder,
    Table,
    named_clips,
)
from dataset_scripts.repository.videofolder import REPORT_NAME

MAX_FILES_IN_A_FOLDER = 10_000
MAX_FILES_IN_A_REPOSITORY = 100_000
"""The Hub's limits: a folder, and a repository, must hold fewer."""

_KNOWN_FILES = {CARD, REGISTRATION, REPORT_NAME, "LICENSE", ".gitattributes"}
_CLIP_NAME = re.compile(r"[0-9a-f]{64}\.mp4")


def file_findings(folder: DatasetFolder) -> Iterator[Finding]:
    """Check names, places and numbers of files."""
    for table in folder.tables:
        yield from _named_clips(folder, table)
    yield from _clip_names(folder.files)
    yield from _strays(folder)
    yield from number_findings(folder.files)


def _named_clips(folder: DatasetFolder, table: Table) -> Iterator[Finding]:
    """Every clip that a row names is a file inside the table's own folder."""
    home = (folder.root / table.name).resolve()
    for index, name in named_clips(table):
        where = table.where(index)
        if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts or "://" in name or "\\" in name:
            yield error("clip-outside", where, f"names {name!r}: `datasets` takes relative paths without '..' only")
        elif not (home / name).is_file():
            yield error("clip-missing", where, f"names {name!r}, which is not there; build the dataset again")
        elif not (home / name).resolve().is_relative_to(home):
            yield error("clip-outside", where, f"{name!r} is a link out of the folder; build with --link copy")


def _clip_names(files: Iterable[str]) -> Iterator[Finding]:
    """A clip's name is its content's hash: upstream's names tell route, speed and lighting, which are answers."""
    for file in files:
        path = PurePosixPath(file)
        if path.suffix == ".mp4" and not _CLIP_NAME.fullmatch(path.name):
            yield error("clip-name", file, "is not named by its SHA-256: a name may tell the route, speed or lighting")


def _strays(folder: DatasetFolder) -> Iterator[Finding]:
    expected = {f"{table.name}/{name}" for table in folder.tables for _, name in named_clips(table)}
    unsound = {file.partition("/")[0] for file in folder.files if file.endswith(f"/{TABLE_NAME}")}
    unsound -= {table.name for table in folder.tables}
    for file in folder.files:
        path = PurePosixPath(file)
        is_table = len(path.parts) == 2 and path.name == TABLE_NAME
        if file in _KNOWN_FILES or file in expected or is_table:
            continue
        if path.parent.name == CLIPS_FOLDER and path.parts[0] in unsound:
            continue  # the table that names its clips has faults of its own
        what = "no row names this clip" if path.parent.name == CLIPS_FOLDER else "is no part of a dataset"
        yield warning("stray-file", file, f"{what}; remove it, or it is published too")


def number_findings(files: Iterable[str]) -> Iterator[Finding]:
    """Check the numbers of files in each folder and in all against the Hub's limits."""
    counts = Counter(PurePosixPath(file).parent.as_posix() for file in files)
    for folder, n_files in sorted(counts.items()):
        if n_files >= MAX_FILES_IN_A_FOLDER:
            yield error("too-many-files", folder, f"holds {n_files} files; the Hub takes < {MAX_FILES_IN_A_FOLDER}")
    if counts.total() >= MAX_FILES_IN_A_REPOSITORY:
        yield error("too-many-files", ".", f"holds {counts.total()} files; the Hub takes < {MAX_FILES_IN_A_REPOSITORY}")
