"""What a run was: its ``run.json``, written before the first question and completed after the last result.

A folder given to lighteval's ``--output-dir`` may hold several runs. Each has a number of our own, one more
than the largest there, and its record lies in ``runs/NUMBER/run.json``. lighteval names its files by a local
time, which a daylight-saving hour or another time zone turns back; which of two is newer, the numbers say
(`in_order`).
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from egobench_tasks.documents import parse_json
from egobench_tasks.errors import InputError
from egobench_tasks.files import write_atomically
from egobench_tasks.runs.values import from_json

RECORD_NAME = "run.json"
RECORDS_FOLDER = "runs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """This package. ``commit`` is that of its checkout or of what pip installed from, None where neither says;
    ``modified``: whether the checkout had changes that are in no commit."""

    version: str
    commit: str | None
    modified: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """Where a run ran. ``gpus`` by their names, as torch calls them; ``n_processes`` shared the questions out."""

    host: str
    system: str
    python: str
    n_cpus: int
    gpus: tuple[str, ...] = ()
    n_processes: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Answerer:
    """What answered. ``name`` is lighteval's (its folders'); ``identity`` is everything that shapes an answer, the
    question aside, and ``key`` its digest, under which answers are kept (see `journal`).

    ``server``: what a served model's server said of it; None for a model of this process.
    ``generation``: how often ``--fresh`` had begun anew before.
    """

    name: str
    key: str
    identity: Mapping[str, Any]
    server: Mapping[str, Any] | None = None
    generation: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedTask:
    """One task: its full name (``egogears:multi|0``), how it asked, and of which rows.

    ``inputs``: wording and frames in words (see `hosts.lighteval.docs.RowPrompt`). ``dataset`` is a folder or a Hub id,
    ``revision`` the commit of the latter, ``fingerprint`` that of `data.fingerprint`. ``n_questions`` were asked of
    ``n_rows`` that the dataset has; ``n_published`` has the published split; ``whole``: whether all three are equal.
    """

    name: str
    inputs: str
    dataset: str
    revision: str | None
    fingerprint: str
    n_questions: int
    n_rows: int
    n_published: int
    whole: bool
    max_new_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Questions and tokens of a run. ``asked`` now, ``reused`` from the journal, ``failed`` without an answer.

    ``asked_again``: kept questions put to a server again, to see whether it is still the one that answered them.
    Tokens are those of the answers that count; None where the host counts none.
    """

    total: int = 0
    asked: int = 0
    reused: int = 0
    failed: int = 0
    asked_again: int = 0
    prompt_tokens: int | None = None
    new_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a host has done so far: its counts, and the seconds that asking took in all."""

    counts: Counts
    seconds: float

    @property
    def seconds_a_question(self) -> float | None:
        """Over the questions asked now; None where none was."""
        return round(self.seconds / self.counts.asked, 3) if self.counts.asked else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """All that two identical runs differ in. UTC, ISO 8601; ``ended_utc`` is None until the results are saved.

    ``results_date`` is lighteval's local time in ``results_DATE.json`` and ``details_TASK_DATE.parquet``, None until
    these are written. ``seconds_a_question``: over the questions asked now.
    """

    started_utc: str
    ended_utc: str | None = None
    results_date: str | None = None
    seconds_a_question: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """One run's ``run.json``.

    ``number`` orders the runs of a folder. ``command`` was called in ``folder``, with ``environment`` (egobench's own
    variables, no key). ``decoding``: the versions that made the frames. ``judge``: model, address and wording of
    open answers' judge. ``shard``: ``2/4``, None for all questions. ``merged``: the records of the runs that
    `egobench merge` made this one of. ``elsewhere``: by which export, and from which files, a run was answered that
    another program asked (`egobench score`). ``canary``: a GUID a benchmark.
    """

    number: int
    times: Times
    command: tuple[str, ...]
    folder: str
    environment: Mapping[str, str]
    package: Package
    libraries: Mapping[str, str]
    machine: Machine
    model: Answerer
    tasks: tuple[AskedTask, ...]
    decoding: Mapping[str, str]
    seeds: Mapping[str, int]
    judge: Mapping[str, str] | None = None
    shard: str | None = None
    merged: tuple[Mapping[str, Any], ...] = ()
    elsewhere: Mapping[str, Any] | None = None
    canary: Mapping[str, str] = field(default_factory=dict)
    counts: Counts = field(default_factory=Counts)

    @property
    def complete(self) -> bool:
        """Whether the run came to its end; a killed one has a record that says it did not."""
        return self.times.ended_utc is not None


def read_records(folder: Path) -> list[RunRecord]:
    """Return the records of the runs in an ``--output-dir``, the oldest first; none where it has none.

    Raises ``InputError`` for a record that cannot be read.
    """
    paths = sorted((folder / RECORDS_FOLDER).glob(f"*/{RECORD_NAME}"))
    return sorted((read_record(path) for path in paths), key=lambda record: record.number)


def record_of(folder: Path, results_date: str) -> RunRecord | None:
    """Return the record of the run that wrote ``results_DATE.json`` in an ``--output-dir``, None where it has none."""
    return next((record for record in read_records(folder) if record.times.results_date == results_date), None)


def in_order(folder: Path, results_dates: Iterable[str]) -> list[str]:
    """Return lighteval's dates in an ``--output-dir``, each once, the oldest run's first, by the runs' numbers.

    One date alone needs no record. Raises ``InputError`` where there are several and a record is missing, so that
    nothing says which is newer: files of before there were records, or copied together from two folders.
    """
    dates = sorted(set(results_dates))
    if len(dates) < 2:
        return dates
    numbers = {record.times.results_date: record.number for record in read_records(folder)}
    if unknown := [date for date in dates if date not in numbers]:
        raise InputError(
            f"{folder}: holds results of {len(dates)} runs ({', '.join(dates)}), and no {RECORD_NAME} says when "
            f"{', '.join(unknown)} was made: file names carry local times, which do not tell. Keep one run's files in "
            "this folder, and move the others to folders of their own"
        )
    return sorted(dates, key=lambda date: numbers[date])


def begin(folder: Path, record: RunRecord) -> RunRecord:
    """Write a new run's record under the next number of ``folder``, and return it with that number.

    The number is taken by making its folder, which only one process can: runs that start at once get two.
    """
    parent = folder / RECORDS_FOLDER
    parent.mkdir(parents=True, exist_ok=True)
    number = 1 + max((int(path.name) for path in parent.iterdir() if path.name.isdecimal()), default=0)
    while True:
        try:
            (parent / f"{number:04d}").mkdir()
        except FileExistsError:
            number += 1
            continue
        numbered = replace(record, number=number)
        write(folder, numbered)
        return numbered


def write(folder: Path, record: RunRecord) -> Path:
    """Write a record over the one of its number, whole or not at all; return where."""
    path = folder / RECORDS_FOLDER / f"{record.number:04d}" / RECORD_NAME
    with write_atomically(path) as file:
        file.write((json.dumps(asdict(record), indent=1, ensure_ascii=False) + "\n").encode())
    return path


def utc_now() -> str:
    """The time in UTC, to the second: ``2026-11-30T22:18:14Z``."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def without_times(record: RunRecord) -> RunRecord:
    """Return the record with its times taken out: two identical runs have equal ones."""
    return replace(record, times=Times(started_utc=""))


def read_record(path: Path) -> RunRecord:
    """Return the record in one ``run.json``. Raises ``InputError`` where it cannot be read as one."""
    try:
        record = from_json(RunRecord, parse_json(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{path}: cannot be read as a run's record ({type(error).__name__}: {error}); move it away, or read it "
            "with the version of egobench that wrote it"
        ) from error
    assert isinstance(record, RunRecord)
    return record
