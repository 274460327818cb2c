"""Finding a benchmark's dataset and loading its rows with the videos undecoded."""

import hashlib
import itertools
import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from egobench_tasks.benchmarks import EGOGEARS, EGOTEMPO, Benchmark
from egobench_tasks.errors import InputError
from egobench_tasks.texts import first_line

if TYPE_CHECKING:
    from datasets import Dataset

SPLIT = "test"
_HUB_ID = re.compile(r"(?P<repo>[\w.-]+/[\w.-]+)(?:@(?P<revision>.+))?")
# As git-check-ref-format has it; and none begins with @, which is a slip in ORG/NAME@REVISION.
_REVISION = re.compile(r"(?!.*(?:\.\.|//|@\{))[^-/.@\s~^:?*\[\\][^\s~^:?*\[\\]*(?<![/.])")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_VIDEO_COLUMNS = ("video", "videos")


@dataclass(frozen=True, slots=True)
class DatasetLocation:
    """A folder made by `egobench build` (an absolute path), or a Hub repository at a revision (see `pin`)."""

    path: str
    revision: str | None = None

    @property
    def is_folder(self) -> bool:
        """Whether the dataset is a folder on this machine."""
        return Path(self.path).is_absolute()

    def __str__(self) -> str:
        return f"{self.path}@{self.revision}" if self.revision else self.path


def locate(benchmark: Benchmark) -> DatasetLocation:
    """Find the dataset: the benchmark's environment variable, a folder of its name here, its Hub id.

    The variable (``EGOGEARS_DATA``, ``EGOTEMPO_DATA``) holds a folder or ``ORG/NAME[@REVISION]``.
    Raises ``InputError`` saying what to run where there is none of the three.
    """
    value = os.environ.get(benchmark.data_variable)
    if value:
        return parse_location(value, where=benchmark.data_variable)
    if Path(benchmark.name).is_dir():
        return _folder(Path(benchmark.name), where=f"./{benchmark.name}")
    if benchmark.hub_id:
        return DatasetLocation(benchmark.hub_id, benchmark.revision)
    raise InputError(
        f"{benchmark.title}'s dataset is not here: there is no folder ./{benchmark.name} and "
        f"{benchmark.data_variable} is not set.\n"
        f"Build it:          egobench build {benchmark.name} … --out {benchmark.name}\n"
        f"or name it:        export {benchmark.data_variable}=FOLDER (or ORG/NAME@REVISION on the Hub)\n"
        f"or try the sample: egobench sample DIR && cd DIR"
    )


def parse_location(value: str, *, where: str) -> DatasetLocation:
    """Read a folder or ``ORG/NAME[@REVISION]``; ``where`` is named in the ``InputError`` of anything else."""
    if Path(value).is_dir():
        return _folder(Path(value), where=where)
    match = _HUB_ID.fullmatch(value)
    if match is None:
        raise InputError(f"{where}: {value!r} is neither a folder nor a Hub id of the form ORG/NAME[@REVISION]")
    if match["revision"] is not None and not is_revision(match["revision"]):
        raise InputError(f"{where}: {value!r}: {no_revision(match['revision'])}")
    return DatasetLocation(match["repo"], match["revision"])


def is_revision(name: str) -> bool:
    """Whether a commit, branch or tag can be called so. Offline the Hub's library takes half a minute to say no."""
    return _REVISION.fullmatch(name) is not None


def no_revision(name: str) -> str:
    """What to say of a name that is no revision's."""
    return f"no branch, tag or commit can be called {name!r}; give one such as main, or leave it out"


def benchmark_of(location: DatasetLocation) -> tuple[Benchmark, tuple[str, ...]]:
    """Return which benchmark a dataset is of, by its configs, and those of the benchmark's that it has.

    Raises ``InputError`` where it is of neither.
    """
    from datasets import get_dataset_config_names

    try:
        configs = get_dataset_config_names(location.path, revision=location.revision)
    except Exception as error:  # datasets raises a dozen types here
        raise InputError(f"{location}: cannot be read as a dataset: {first_line(error)}") from error
    splits = tuple(config for config in EGOGEARS.rows if config in configs)
    if splits:
        return EGOGEARS, splits
    if EGOTEMPO.config in configs:
        return EGOTEMPO, (EGOTEMPO.config,)
    raise InputError(f"{location}: has the configs {configs}, which are neither EgoGears' nor EgoTempo's")


def pin(location: DatasetLocation) -> DatasetLocation:
    """Return a Hub location at the commit that its branch or tag names; a folder as it is.

    Branches and tags can move, and a result must say which data it is of. Without a network this is the commit that
    the revision named when it was last loaded. Raises ``InputError`` where there is no such repository or revision.
    """
    if location.is_folder:
        return location
    from huggingface_hub import hf_hub_download

    try:
        card = hf_hub_download(location.path, "README.md", repo_type="dataset", revision=location.revision)
    except Exception as error:  # huggingface_hub raises half a dozen types here, the OSErrors of a bare socket too
        raise InputError(
            f"{location}: not found on the Hub, nor in its cache here. Check the id and the revision, your access to "
            f"it (`hf auth login`), and the network: {error}"
        ) from error
    return DatasetLocation(location.path, Path(card).parent.name)  # the cache keeps a commit's files in its own folder


def load_rows(location: DatasetLocation, config: str) -> "Dataset":
    """Load one config's test split; Video columns stay references, so that a row costs no decoding.

    Give a Hub location pinned (`pin`). Raises ``InputError`` where the dataset has no such config, cannot be loaded,
    or is a folder some of whose clips lie outside of it.
    """
    from datasets import List, Video, load_dataset

    try:
        rows = load_dataset(
            location.path, config, revision=location.revision, split=SPLIT, cache_dir=_cache_of(Path(location.path))
        )
    except Exception as error:  # datasets raises a dozen types here, from ValueError to HTTP errors
        raise InputError(_why_not_loaded(location, config, error)) from error
    _check_commit(rows, location)
    references = {"video": Video(decode=False), "videos": List(Video(decode=False))}
    for column in _VIDEO_COLUMNS:
        if column in rows.column_names:
            rows = rows.cast_column(column, references[column])
    if location.is_folder:
        _check_inside(rows, Path(location.path))
    return rows


def load_rows_with_clips(location: DatasetLocation, config: str) -> "Dataset":
    """As `load_rows`, of a dataset whose clips are to be shown. Raises ``InputError`` too where it holds none of them.

    `datasets` drops the column of clips of a folder without any.
    """
    rows = load_rows(location, config)
    if "video" not in rows.column_names:
        raise InputError(
            f"{location}: none of the clips of {config!r} is there; copy the dataset whole, with its {config}/videos, "
            "or build it again with `egobench build`"
        )
    return rows


def _why_not_loaded(location: DatasetLocation, config: str, error: Exception) -> str:
    """What to say of a dataset that does not load: the other benchmark's, or one that is broken."""
    wanted = EGOTEMPO if config == EGOTEMPO.config else EGOGEARS
    try:
        found, _ = benchmark_of(location)
    except Exception:  # what it is cannot be told, then, and the first error is what to hear of
        found = wanted
    if found is not wanted:
        return (
            f"{location}: this is {found.title}'s dataset, not {wanted.title}'s; name that with "
            f"{wanted.data_variable}, or ask the tasks of {found.name}"
        )
    return f"{location}: cannot load config {config!r}: {first_line(error)}"


def missing_clips(rows: "Dataset") -> list[str]:
    """Return the paths of clips on this machine that rows name and that are not there, each once, sorted.

    `datasets` looks for none of them before it decodes.
    """
    return sorted(path for path in _clip_paths(rows) if "://" not in path and not Path(path).is_file())


def _clip_paths(rows: "Dataset") -> set[str]:
    # Of columns made for ``datasets.Video``, a list of clips is one cell.
    cells = [cell for column in _VIDEO_COLUMNS if column in rows.column_names for cell in rows[column]]
    clips = itertools.chain.from_iterable(cell if isinstance(cell, list) else [cell] for cell in cells)
    return {clip["path"] for clip in clips if clip is not None and clip["path"] is not None}


def _check_inside(rows: "Dataset", folder: Path) -> None:
    """A dataset comes from anyone, and a link in it could name any file of the user's."""
    inside = folder.resolve()
    if inside.parent.name == "snapshots":  # of the Hub's cache, where a revision's files are links to the repository's
        inside = inside.parent.parent
    for path in sorted(_clip_paths(rows)):
        target = Path(path).resolve()
        if not target.is_relative_to(inside):
            raise InputError(
                f"{path}: leads out of the dataset, to {target}; clips must lie in its folder: copy them there, "
                "or hard-link them"
            )


def _check_commit(rows: "Dataset", location: DatasetLocation) -> None:
    """Without a network datasets 5.2 serves whichever commit it loaded last, and says so in a log line only."""
    if location.is_folder or not _COMMIT.fullmatch(location.revision or ""):
        return
    for file in rows.cache_files:
        commit = Path(file["filename"]).parent.name
        if commit != location.revision:
            raise InputError(
                f"{location}: without a network `datasets` has only the commit it loaded last, {commit}; "
                "name that one, or run with a network"
            )


def _cache_of(folder: Path) -> str | None:
    """A folder of datasets' cache for this very folder and content; None (its usual place) for the Hub.

    datasets 5.2 knows a local folder by its name alone: it would go on serving the questions of an
    earlier build, or those of another folder of that name.
    """
    from datasets import config

    if not folder.is_dir():
        return None
    digest = hashlib.sha256(str(folder.resolve()).encode())
    for path in sorted([*folder.glob("*.md"), *folder.glob("*/metadata.parquet")]):
        digest.update(path.read_bytes())
    return str(Path(config.HF_DATASETS_CACHE) / f"egobench-{digest.hexdigest()[:16]}")


def fingerprint(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return 16 hex digits of everything in the rows but where the clips lie.

    The same data has the same fingerprint in a folder and on the Hub: clips count by their
    ``sha256`` columns.
    """
    digest = hashlib.sha256()
    for row in rows:
        content = {key: value for key, value in row.items() if key not in _VIDEO_COLUMNS}
        digest.update(json.dumps(content, sort_keys=True, ensure_ascii=False, default=str).encode())
        digest.update(b"\0")
    return digest.hexdigest()[:16]


def _folder(folder: Path, *, where: str) -> DatasetLocation:
    if not any(folder.glob("*/metadata.parquet")):
        raise InputError(
            f"{where}: {folder} holds no dataset (no */metadata.parquet); "
            "make one with `egobench build` or `egobench sample`"
        )
    return DatasetLocation(str(folder.resolve()))
