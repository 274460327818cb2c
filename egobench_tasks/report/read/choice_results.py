"""All runs of a report, scored and joined with the dataset, and what a reader must know before the tables."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from egobench_tasks.benchmarks import EGOGEARS, Benchmark
from egobench_tasks.data import DatasetLocation, locate
from egobench_tasks.errors import InputError
from egobench_tasks.report.read.choice_outcomes import Compared, Outcome, outcomes_frame, score_repeats
from egobench_tasks.report.read.choice_questions import Split, clustered_together, load_split
from egobench_tasks.report.read.published_data import choice_difference
from egobench_tasks.report.read.responses import Run, Settings, TaskRun
from egobench_tasks.report.read.sides import Side, n_unfinished
from egobench_tasks.runs.journal import MISSING
from egobench_tasks.runs.record import RunRecord

_UNKNOWN = "what the run kept of its questions does not tell whether"
_SAME = {
    Compared.WORDS: (
        "its questions, options and answers are the same in both, so the two differ elsewhere: in clips, durations or "
        "what questions are grouped by"
    ),
    Compared.OPTIONS: f"its options and answers are the same in both; {_UNKNOWN} their wording is",
    Compared.LETTERS: f"its right letters are the same in both; {_UNKNOWN} the wording of questions and options is",
    Compared.NOTHING: f"{_UNKNOWN} they are the same in both",
}

FindDataset = Callable[[Benchmark], DatasetLocation]

PARTIAL = "(partial)"
_RUN_THE_BENCHMARK = f"run {EGOGEARS.name} into the same folder, too: what a probe shows is the difference from it"
_NOT_RECORDED = "not recorded"
_SETTING_TITLES = {"prompt": "prompt template", "frames": "frames", "dataset": "dataset revision"}


@dataclass(frozen=True, slots=True)
class TaskSummary:
    """One config of one run: where it was read, what shaped it, how much of it is there.

    ``unfinished`` counts questions that another attempt may answer; ``disagreeing`` lists questions
    whose saved scores differ from those computed here. ``compared``: how much of every answered question was found to
    be the dataset's. ``mixed``: see `responses.Run`.
    """

    label: str
    config: str
    source: Path
    settings: Settings
    questions: int
    unfinished: int
    disagreeing: tuple[str, ...]
    compared: Compared
    mixed: bool

    @property
    def mark(self) -> str:
        """What a reader must know of the run wherever its figure stands."""
        return mark(partial=self.unfinished > 0, mixed=self.mixed)


def mark(*, partial: bool, mixed: bool) -> str:
    """Return what a run is in a word or two: ``whole``, ``partial``, ``mixed``, ``partial, mixed``."""
    return ", ".join(name for name, holds in (("partial", partial), ("mixed", mixed)) if holds) or "whole"


@dataclass(frozen=True, slots=True)
class Results:
    """``outcomes`` has a row for every run, config and question: the columns of
    `choice_outcomes.outcomes_frame` and of `choice_questions.attributes_of`. ``labels`` are the runs' names as
    shown, partial ones marked, in the order given; ``whole`` are those of runs that lack nothing, over which alone
    runs are summed up. ``unpublished`` says by config how the dataset differs from the published split, where it does.
    ``records``: by label, the ``run.json`` of what made a run.

    ``probed`` has a row for every run, config, probe, repeat and question that the probe was asked of: the same
    columns, ``probe``, ``repeat`` and ``implied`` (see `choice_outcomes.Outcome`); ``repeated`` for every repeat of a
    run that answered each question several times, with ``repeat`` (0 is the answer in ``outcomes``). Probes and repeats
    that are not whole are left out, and a notice says so. ``folders`` are where runs were found, by label. ``anchor``:
    the label of the run that all others are compared with; empty for none."""

    labels: tuple[str, ...]
    tasks: tuple[TaskSummary, ...]
    splits: Mapping[str, Split]
    outcomes: pd.DataFrame
    notices: tuple[str, ...]
    differing: str | None
    unpublished: Mapping[str, str]
    records: Mapping[str, tuple[RunRecord, ...]]

    def against(self, folder: Path) -> "Results":
        """Return the same with the run at ``folder`` as the anchor. Raises ``InputError`` where that is not one run."""
        labels = [label for label, found in self.folders.items() if found.resolve() == folder.resolve()]
        if len(labels) != 1:
            named = f" ({', '.join(labels)})" if labels else ""
            raise InputError(f"{folder}: holds {len(labels)} scored runs{named}; --against takes a folder of one")
        return replace(self, anchor=labels[0])

    @property
    def whole(self) -> tuple[str, ...]:
        """The labels of the runs in which no question of any config is unfinished."""
        partial = {task.label for task in self.tasks if task.unfinished}
        return tuple(label for label in self.labels if label not in partial)

    probed: pd.DataFrame
    repeated: pd.DataFrame
    folders: Mapping[str, Path]
    anchor: str = ""

    @property
    def configs(self) -> tuple[str, ...]:
        """The configs that any run answered, in the benchmark's order."""
        return tuple(self.splits)

    def of(self, config: str) -> pd.DataFrame:
        """The outcomes on one config."""
        return self.outcomes[self.outcomes["config"] == config]

    def matrix(self, config: str, metric: str) -> pd.DataFrame:
        """One metric as a table of questions (rows) by runs that answered this config (columns)."""
        outcomes = self.of(config)
        wide = outcomes.pivot(index="question_id", columns="run", values=metric)
        wide = wide.reindex(index=list(self.splits[config].questions))
        return wide[[label for label in self.labels if label in wide.columns]]

    def answers(self, config: str) -> dict[str, int]:
        """How many answers to each question of a config count where runs are compared, by label."""
        repeated = self.repeated[self.repeated["config"] == config]
        counts = repeated.groupby("run")["repeat"].nunique()
        return {label: int(counts[label]) if label in counts and label in self.whole else 1 for label in self.labels}

    def means(self, config: str, metric: str) -> pd.DataFrame:
        """As `matrix`, but over all of a question's answers (`answers`), of which the first alone scores."""
        wide = self.matrix(config, metric)
        repeated = self.repeated[self.repeated["config"] == config]
        for label, count in self.answers(config).items():
            if count > 1 and label in wide:
                mine = repeated[repeated["run"] == label]
                wide[label] = mine.groupby("question_id")[metric].mean().loc[wide.index]
        return wide


def score_choice_runs(runs: Sequence[Run], find_dataset: FindDataset = locate) -> Results:
    """Score runs of EgoGears against the dataset. Raises ``InputError`` for runs of another dataset."""
    location = find_dataset(EGOGEARS)
    return score_runs(runs, lambda config: load_split(location, config))


def score_runs(runs: Sequence[Run], load: Callable[[str], Split]) -> Results:
    """Score every run against the dataset; ``load`` gives a config's split and is called once for each.

    Runs of probes alone have no score: they are left out, and a notice says so. Raises ``InputError`` as
    `choice_outcomes.score_task` does, and where no run has a score.
    """
    unscored = [run for run in runs if not run.tasks]
    runs = [run for run in runs if run.tasks]
    if not runs:
        raise InputError(f"{unscored[0].folder}: holds probes alone; {_RUN_THE_BENCHMARK}")
    configs = sorted({task.config for run in runs for task in run.tasks}, reverse=True)  # single, then multi
    splits = clustered_together({config: load(config) for config in configs})
    tasks: list[TaskSummary] = []
    frames: list[pd.DataFrame] = []
    labels: list[str] = []
    sides = [Side("probe"), Side("repeat")]
    probed, repeated = sides
    for run in runs:
        in_order = sorted(run.tasks, key=lambda task: configs.index(task.config))
        scored = [(task, score_repeats(task, splits[task.config])) for task in in_order]
        partial = any(n_unfinished(outcomes[0]) for _, outcomes in scored)
        labels.append(f"{run.name} {PARTIAL}" if partial else run.name)
        for task, (outcomes, *others) in scored:
            tasks.append(_summary(labels[-1], task, outcomes, run.mixed))
            frames.append(outcomes_frame(labels[-1], task.config, outcomes))
            if others:
                repeated.add(labels[-1], task.config, list(enumerate([outcomes, *others])))
        for task in run.probes:
            if task.config in splits:
                probed.add_probe(labels[-1], task.config, task.probe, score_repeats(task, splits[task.config]))
    attributes = pd.concat([split.attributes for split in splits.values()], ignore_index=True)
    outcomes = pd.concat(frames, ignore_index=True).merge(attributes, on=["config", "question_id"], validate="m:1")
    differing = [notice for config in configs for notice in _differing(config, tasks)]
    sizes = {config: choice_difference(config, len(split.questions)) for config, split in splits.items()}
    return Results(
        labels=tuple(labels),
        tasks=tuple(tasks),
        splits=splits,
        outcomes=outcomes,
        notices=(
            *differing,
            *(notice for task in tasks for notice in _task_notices(task, splits[task.config])),
            *(notice for side in sides for notice in side.notices),
            *(note for run in runs for note in run.notes),
            *(f"{run.name} ({run.folder}): left out, it holds probes alone; {_RUN_THE_BENCHMARK}" for run in unscored),
        ),
        differing=caveat(differing),
        unpublished={config: difference for config, difference in sizes.items() if difference is not None},
        records={label: run.records for label, run in zip(labels, runs, strict=True)},
        probed=probed.frame(attributes),
        repeated=repeated.frame(attributes),
        folders=dict(zip(labels, (run.folder for run in runs), strict=True)),
    )


def _summary(label: str, task: TaskRun, outcomes: Sequence[Outcome], mixed: bool) -> TaskSummary:
    return TaskSummary(
        label=label,
        config=task.config,
        source=task.source,
        settings=task.settings,
        questions=len(outcomes),
        unfinished=n_unfinished(outcomes),
        disagreeing=tuple(outcome.question_id for outcome in outcomes if not outcome.agrees),
        compared=min((one.compared for one in outcomes if one.state != MISSING), default=Compared.NOTHING),
        mixed=mixed,
    )


def _differing(config: str, tasks: Sequence[TaskSummary]) -> list[str]:
    """Name the settings in which runs of one config differ, and who has which."""
    notices = []
    for name, title in _SETTING_TITLES.items():
        by_value: dict[str, list[str]] = {}
        for task in tasks:
            if task.config == config:
                by_value.setdefault(getattr(task.settings, name) or _NOT_RECORDED, []).append(task.label)
        if len(by_value) > 1:
            groups = "; ".join(f"{value}: {', '.join(labels)}" for value, labels in by_value.items())
            notices.append(f"{config}: the runs differ in {title}. {groups}")
    return notices


def caveat(differing: Sequence[str]) -> str | None:
    """Return what every table of several runs must say where they differ in how they were asked; else None."""
    if not differing:
        return None
    return "The runs differ in their settings (see the remarks at the top): their figures may not compare."


def _task_notices(task: TaskSummary, split: Split) -> list[str]:
    notices = []
    if task.unfinished:
        notices.append(
            f"{task.label}, {task.config}: {task.unfinished} of {task.questions} questions are missing or failed for "
            "reasons that are not the model's; they count as wrong until the run is finished"
        )
    if task.settings.dataset and task.settings.dataset != split.fingerprint:
        notices.append(
            f"{task.label}, {task.config}: ran on dataset revision {task.settings.dataset}, read here with "
            f"{split.fingerprint} ({split.location}); {_SAME[task.compared]}"
        )
    if task.disagreeing:
        shown = ", ".join(task.disagreeing[:5]) + (", …" if len(task.disagreeing) > 5 else "")
        notices.append(
            f"{task.label}, {task.config}: the scores saved with {len(task.disagreeing)} answers differ from those "
            f"computed here from their text ({shown}); the figures below are computed here"
        )
    return notices
