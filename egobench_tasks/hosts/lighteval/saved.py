"""A folder given to lighteval's ``--output-dir`` as runs: which details belong together, and which are newer.

Details of one model belong together where everything that shaped their answers is equal: the model's settings and the
wording of all tasks, and the frames of one setting. Else the folder holds several runs, and each says in what it
differs. Of two files of one task in one run the newer counts, by the runs' own numbers (`runs.record`).
"""

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from egobench_tasks.errors import InputError
from egobench_tasks.hosts.lighteval.details import DetailsFile, details_files, read_rows
from egobench_tasks.judge.identity import JudgeIdentity
from egobench_tasks.runs.record import RunRecord, in_order, read_records

# Machines of one run have their own servers and memory.
SHAPING_NOTHING = frozenset(
    {"cache_dir", "batch_size", "device", "model_parallel", "device_map"}
    | {"base_url", "api_key_variable", "concurrency", "requests_per_minute", "timeout_s", "max_retries"}
    | {"price_in", "price_out"}
)
# The printed name of hosts.lighteval.docs.RowPrompt, and of hosts.lighteval.judge.JudgeScore.
_PROMPT_NAME = re.compile(
    r"\w+\((?:probe \w+, )?prompt (?P<prompt>\S+), frames (?P<frames>.+), dataset (?P<dataset>[^,]+)\)"
)
_JUDGE_NAME = re.compile(
    r"verdicts of (?P<name>.+), prompt (?P<wording>[^\s,]+)(?:, identity (?P<digest>[0-9a-f]{12}))?"
)
_NO_JUDGE = "no judge"
MIXED = "mixed"
"""Marks a run that shares its folder with runs of the same model under other settings."""
_ANSWER = ("doc.specific.question_id", "model_response.text")


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


@dataclass(frozen=True, slots=True)
class SavedRun:
    """One model's tasks, answered under one set of settings. ``name`` is the model's in tables, marked where mixed.

    ``differing``: where the folder holds several such sets of the model, this one's values of what they differ in.
    ``superseded``: by task, its older files, which are left aside.
    """

    folder: Path
    model: str
    name: str
    tasks: Mapping[str, SavedTask]
    differing: Mapping[str, str]
    superseded: Mapping[str, Sequence[SavedTask]]

    @property
    def mark(self) -> str:
        """The difference in words, for the run's name; empty for a run that has its folder to itself."""
        return ", ".join(f"{name}={value}" for name, value in self.differing.items())

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know of files that were left aside, a line a task."""
        return tuple(
            f"{self.folder}: {name} of {self.model} has {len(older) + 1} details files; the newest is read "
            f"({self.tasks[name].details.name}){_other_judges(self.tasks[name], older)}"
            for name, older in self.superseded.items()
        )

    @property
    def records(self) -> tuple[RunRecord, ...]:
        """The records of the runs that the tasks come from, the oldest first."""
        found = {task.record.number: task.record for task in self.tasks.values() if task.record is not None}
        return tuple(found[number] for number in sorted(found))


def _other_judges(task: SavedTask, older: Iterable[SavedTask]) -> str:
    names = sorted({one.judge.name for one in older if one.judge is not None and one.judge != task.judge})
    return f"; verdicts of {', '.join(names)} in the others are left aside" if names else ""


def saved_runs(folder: Path, task: re.Pattern[str]) -> list[SavedRun]:
    """Return the runs in a folder of the tasks whose whole name matches, by model.

    Raises ``InputError`` for a results file that cannot be read, and for two files of one task that differ where
    nothing says which is newer.
    """
    records = {record.times.results_date: record for record in read_records(folder)}
    read = cache(_read_results)  # once a file, whatever the number of its tasks
    by_model: dict[str, list[SavedTask]] = {}
    for file in details_files(folder, task):
        results = folder / "results" / file.model / f"results_{file.date}.json"
        saved = read(results) if results.is_file() else None
        by_model.setdefault(file.model, []).append(_saved_task(file, results, saved, records.get(file.date)))
    short = Counter(model.rsplit("/", 1)[-1] for model in by_model)
    found = [run for model, tasks in by_model.items() for run in _runs_of(folder, model, tasks)]
    return [replace(run, name=_name(run, short)) for run in found]


def _name(run: SavedRun, short: Counter[str]) -> str:
    last = run.model.rsplit("/", 1)[-1]
    name = run.model if short[last] > 1 else last
    return f"{name} ({MIXED}: {run.mark})" if run.differing else name


def only_run(folder: Path, task: re.Pattern[str]) -> SavedRun | None:
    """Return the one run in a folder, None where it has none. Raises ``InputError`` naming the several it has."""
    found = saved_runs(folder, task)
    models = list(dict.fromkeys(run.model for run in found))
    if len(models) > 1:
        raise InputError(f"{folder}: holds answers of several models ({', '.join(models)}); give a folder of each")
    if len(found) > 1:
        raise InputError(
            f"{folder}: holds {len(found)} runs of {models[0]} under different settings ("
            + "; ".join(run.mark for run in found)
            + "); move each to a folder of its own"
        )
    return found[0] if found else None


def shaping_settings(config: Mapping[str, Any]) -> dict[str, str]:
    """Return a model's settings but those that shape no answer, flat, as text; those that are not set are left out."""
    flat: dict[str, str] = {}
    for name, value in config.items():
        if isinstance(value, Mapping):
            flat |= shaping_settings(value)
        elif name not in SHAPING_NOTHING and value is not None:
            flat[name] = str(value)
    return flat


def _saved_task(file: DetailsFile, results: Path, saved: Any, record: RunRecord | None) -> SavedTask:
    if saved is None:
        return SavedTask(file.task, file.path, file.date, judge=UNRECORDED, record=record)
    try:
        config = saved["config_tasks"][file.task]
        printed = _PROMPT_NAME.fullmatch(str(config["prompt_function"]))
        settings = shaping_settings(saved.get("config_general", {}).get("model_config") or {})
        judge = _judge(config.get("metrics", ()))
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{results}: cannot be read as lighteval's results of {file.task} ({type(error).__name__}: {error})"
        ) from error
    if record is not None:
        settings = shaping_settings(record.model.identity)
    inputs = Inputs(**printed.groupdict()) if printed else Inputs()
    return SavedTask(file.task, file.path, file.date, settings, inputs, judge, record)


def _read_results(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
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


def _runs_of(folder: Path, model: str, tasks: Sequence[SavedTask]) -> list[SavedRun]:
    torn = _torn_families(tasks)
    groups: dict[tuple[Any, ...], list[SavedTask]] = {}
    for task in tasks:
        frames = (task.family, task.inputs.frames) if task.family in torn else None
        key = (tuple(sorted(task.settings.items())), task.inputs.prompt, frames)
        groups.setdefault(key, []).append(task)
    facts = [_facts(members[0], torn) for members in groups.values()]
    runs = []
    for members, own in zip(groups.values(), facts, strict=True):
        by_name: dict[str, list[SavedTask]] = {}
        for task in members:
            by_name.setdefault(task.name, []).append(task)
        newest = {name: _newest(folder, files) for name, files in by_name.items()}
        names = {name for other in facts for name in own.keys() | other.keys() if other.get(name) != own.get(name)}
        runs.append(
            SavedRun(
                folder=folder,
                model=model,
                name=model,
                tasks=newest,
                differing={name: own.get(name, "not set") for name in sorted(names)},
                superseded={
                    name: [file for file in files if file is not newest[name]]
                    for name, files in by_name.items()
                    if len(files) > 1
                },
            )
        )
    return runs


def _torn_families(tasks: Sequence[SavedTask]) -> set[str]:
    """The families whose tasks did not all show frames by one rule."""
    rules: dict[str, set[str | None]] = {}
    for task in tasks:
        rules.setdefault(task.family, set()).add(task.inputs.frames)
    return {family for family, found in rules.items() if len(found) > 1}


def _facts(task: SavedTask, torn: Collection[str]) -> dict[str, str]:
    facts = {**task.settings, "prompt": task.inputs.prompt or "not recorded"}
    if torn:
        facts["frames"] = f"{task.family} {task.inputs.frames}" if task.family in torn else "as named"
    return facts


def _newest(folder: Path, files: Sequence[SavedTask]) -> SavedTask:
    """Return the newest file of a task. Files that say the same need no order."""
    by_date = {file.date: file for file in files}
    try:
        return by_date[in_order(folder, by_date)[-1]]
    except InputError:
        if not _say_the_same(files):
            raise
    return files[0]


def _say_the_same(files: Sequence[SavedTask]) -> bool:
    first = files[0]
    said = _said(first.details)
    return all(file.judge == first.judge and _said(file.details) == said for file in files[1:])


def _said(details: Path) -> dict[str, tuple[str, str]]:
    """What a details file answers, by question id."""
    return {
        row["doc"]["specific"]["question_id"]: (
            "".join(row["model_response"]["text"] or ()),
            str(row["model_response"].get("finish_reason")),
        )
        for row in read_rows(details, _ANSWER, ("model_response.finish_reason",))
    }
