"""A folder given to lighteval's ``--output-dir`` as runs: which details belong together, and which are newer.

Details of one model belong together where everything that shaped their answers is equal: the model's settings and the
wording of all tasks, and the frames of one setting. Else the folder holds several runs, and each says in what it
differs. Of two files of one task in one run the newer counts, by the runs' own numbers (`runs.record`).
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from egobench_tasks.errors import InputError
from egobench_tasks.hosts.lighteval.details import read_rows
from egobench_tasks.hosts.lighteval.saved_task import SavedTask, flat_settings, saved_tasks
from egobench_tasks.runs.differences import comparable
from egobench_tasks.runs.record import RunRecord, in_order

_SAID_BY_SERVERS = ("root", "parent")
_MAX_NAMED, _MAX_VALUE_CHARS = 3, 24
MIXED = "mixed"
"""Marks a run that shares its folder with runs of the same model under other settings."""
_ANSWER = ("doc.specific.question_id", "model_response.text")


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
        """The difference in words; empty for a run that has its folder to itself."""
        return ", ".join(f"{name}={value}" for name, value in self.differing.items())

    @property
    def short_mark(self) -> str:
        """`mark`, for a name: its first settings, their values cut."""
        named = list(self.differing.items())
        words = [f"{name}={_cut(value)}" for name, value in named[:_MAX_NAMED]]
        return ", ".join(words + ([f"{len(named) - _MAX_NAMED} more"] if len(named) > _MAX_NAMED else []))

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know: that the folder holds other runs of the model, and which files were left aside."""
        mixed = [f"{self.folder}: holds several runs of {self.model}, read apart; one of them has {self.mark}"]
        aside = [
            f"{self.folder}: {name} of {self.model} has {len(older) + 1} details files; the newest is read "
            f"({self.tasks[name].details.name}){_other_judges(self.tasks[name], older)}"
            for name, older in self.superseded.items()
        ]
        return (*(mixed if self.differing else ()), *aside)

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
    by_model: dict[str, list[SavedTask]] = {}
    for model, saved in saved_tasks(folder, task):
        by_model.setdefault(model, []).append(saved)
    found = [run for model, tasks in by_model.items() for run in _runs_of(folder, model, tasks)]
    return [replace(run, name=name) for run, name in zip(found, _names(found), strict=True)]


def _names(runs: Sequence[SavedRun]) -> list[str]:
    """The runs' names: a model's own where no other has it, its differing settings in short where those tell."""
    models = dict.fromkeys(run.model for run in runs)
    last = Counter(model.rsplit("/", 1)[-1] for model in models)
    own = {model: model if last[model.rsplit("/", 1)[-1]] > 1 else model.rsplit("/", 1)[-1] for model in models}
    shorts = Counter((run.model, run.short_mark) for run in runs)
    marks = [run.short_mark if shorts[run.model, run.short_mark] == 1 else run.mark for run in runs]
    return [
        f"{own[run.model]} ({MIXED}: {mark})" if run.differing else own[run.model]
        for run, mark in zip(runs, marks, strict=True)
    ]


def _cut(value: str) -> str:
    return value if len(value) <= _MAX_VALUE_CHARS else f"{value[: _MAX_VALUE_CHARS - 1]}…"


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


def _identified(tasks: Sequence[SavedTask]) -> list[SavedTask]:
    """The tasks with all that shaped their answers as their settings, where every run of the model recorded it.

    What a server says of its model counts where every one of them says it.
    """
    records = [task.record for task in tasks if task.record is not None]
    if len(records) < len(tasks):
        return list(tasks)
    servers = [record.model.server or {} for record in records]
    said = [name for name in _SAID_BY_SERVERS if all(server.get(name) is not None for server in servers)]
    identified = []
    for task, record, server in zip(tasks, records, servers, strict=True):
        by_server = {f"server.{name}": str(server[name]) for name in said}
        identified.append(replace(task, settings=flat_settings(comparable(record.model.identity)) | by_server))
    return identified


def _runs_of(folder: Path, model: str, files: Sequence[SavedTask]) -> list[SavedRun]:
    tasks = _identified(files)
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
        newest = {name: _newest(folder, same) for name, same in by_name.items()}
        names = {name for other in facts for name in own.keys() | other.keys() if other.get(name) != own.get(name)}
        runs.append(
            SavedRun(
                folder=folder,
                model=model,
                name=model,
                tasks=newest,
                differing={name: own.get(name, "not set") for name in sorted(names)},
                superseded={
                    name: [one for one in same if one is not newest[name]]
                    for name, same in by_name.items()
                    if len(same) > 1
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
