"""One file of details of lighteval's, and what the results file beside it says shaped its answers."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from egobench_tasks.documents import parse_json
from egobench_tasks.errors import InputError
from egobench_tasks.hosts.lighteval.details import DetailsFile, details_files
from egobench_tasks.judge.identity import JudgeIdentity
from egobench_tasks.runs.record import RunRecord, read_records
from egobench_tasks.servers.settings import SHAPING_NOTHING

# Machines of one run have their own servers and memory; what files and servers are behind a name stands in the record.
_SHAPING_NOTHING = SHAPING_NOTHING | {
    *("cache_dir", "batch_size", "device", "model_parallel", "device_map", "identity", "served")
}
# The printed name of hosts.lighteval.docs.RowPrompt, and of hosts.lighteval.judge.JudgeScore.
_PROMPT_NAME = re.compile(
    r"\w+\((?:probe \w+, )?prompt (?P<prompt>\S+), frames (?P<frames>.+), dataset (?P<dataset>[^,]+)\)"
)
_JUDGE_NAME = re.compile(
    r"verdicts of (?P<name>.+), prompt (?P<wording>[^\s,]+)(?:, identity (?P<digest>[0-9a-f]{12}))?"
)
_NO_JUDGE = "no judge"


@dataclass(frozen=True, slots=True)
class Inputs:
    """What a task showed, as its saved config says; None where it does not say."""

    prompt: str | None = None
    frames: str | None = None
    dataset: str | None = None


@dataclass(frozen=True, slots=True)
class SavedJudge:
    """The judge whose verdicts were saved with the answers. ``digest`` is its `JudgeIdentity.digest`."""

    name: str
    wording: str
    digest: str


UNRECORDED = SavedJudge("a judge that is not recorded", "not recorded", "")


@dataclass(frozen=True, slots=True)
class SavedTask:
    """A task's details, and what its results file says of them. ``name`` is whole: ``egogears:multi|0``.

    ``settings`` are the model's that shape answers; ``record`` is the run's own, None where there was none yet.
    """

    name: str
    details: Path
    date: str
    settings: Mapping[str, str] = field(default_factory=dict)
    inputs: Inputs = Inputs()
    judge: SavedJudge | None = None
    record: RunRecord | None = None

    @property
    def family(self) -> str:
        """The task's name without its part: ``egogears``, ``egotempo_f16``."""
        return self.name.partition(":")[0]


def saved_tasks(folder: Path, task: re.Pattern[str]) -> Iterator[tuple[str, SavedTask]]:
    """Yield the details in a folder of the tasks whose whole name matches, each with its model's name, by path.

    Raises ``InputError`` for a results file or a record that cannot be read.
    """
    records = {record.times.results_date: record for record in read_records(folder)}
    read = cache(_read_results)  # once a file, whatever the number of its tasks
    for file in details_files(folder, task):
        results = folder / "results" / file.model / f"results_{file.date}.json"
        saved = read(results) if results.is_file() else None
        yield file.model, _saved_task(file, results, saved, records.get(file.date))


def flat_settings(config: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """Settings but those that shape no answer, by dotted name, as text; those that are not set are left out."""
    flat: dict[str, str] = {}
    for name, value in config.items():
        if name in _SHAPING_NOTHING or value is None:
            continue
        dotted = f"{prefix}{name}"
        flat |= flat_settings(value, f"{dotted}.") if isinstance(value, Mapping) else {dotted: str(value)}
    return flat


def _saved_task(file: DetailsFile, results: Path, saved: Any, record: RunRecord | None) -> SavedTask:
    if saved is None:
        return SavedTask(file.task, file.path, file.date, judge=UNRECORDED, record=record)
    try:
        config = saved["config_tasks"][file.task]
        printed = _PROMPT_NAME.fullmatch(str(config["prompt_function"]))
        settings = flat_settings(saved.get("config_general", {}).get("model_config") or {})
        judge = _judge(config.get("metrics", ()))
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{results}: cannot be read as lighteval's results of {file.task} ({type(error).__name__}: {error})"
        ) from error
    inputs = Inputs(**printed.groupdict()) if printed else Inputs()
    return SavedTask(file.task, file.path, file.date, settings, inputs, judge, record)


def _read_results(path: Path) -> Any:
    try:
        return parse_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read as lighteval's results ({type(error).__name__}: {error})") from error


def _judge(metrics: Iterable[Mapping[str, Any]]) -> SavedJudge | None:
    printed = (str(metric.get("sample_level_fn")) for metric in metrics if isinstance(metric, Mapping))
    match = next(filter(None, map(_JUDGE_NAME.fullmatch, printed)), None)
    if match is None:
        return UNRECORDED
    if match["name"] == _NO_JUDGE:
        return None
    digest = match["digest"] or JudgeIdentity(match["name"], match["wording"]).digest
    return SavedJudge(match["name"], match["wording"], digest)
