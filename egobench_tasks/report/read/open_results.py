"""All of EgoTempo's runs of a report, read and joined with the dataset, and what a reader must know first."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pandas as pd

from egobench_tasks.benchmarks import EGOTEMPO
from egobench_tasks.errors import InputError
from egobench_tasks.hosts.lighteval.saved_task import Inputs
from egobench_tasks.report.read.choice_results import caveat, mark
from egobench_tasks.report.read.open_outcomes import CODES, JUDGED, OpenOutcome, OpenState, open_frame
from egobench_tasks.report.read.open_reader import OpenResult, OpenRow, read_open_run
from egobench_tasks.report.read.open_responses import NOT_JUDGED, OpenRun
from egobench_tasks.report.read.published_data import open_difference
from egobench_tasks.runs.record import RunRecord

_NOT_RECORDED = "not recorded"


@dataclass(frozen=True, slots=True)
class OpenSummary:
    """One setting of one run: how it was asked and judged, and what its figures rest on.

    ``folder``: where the run was found. ``judge_digest``: `JudgeIdentity.digest`, None where nobody judged.
    """

    label: str
    setting: str
    judge: str
    wording: str | None
    inputs: Inputs
    mixed: bool
    categories: int
    questions: int
    judged: int
    unanswered: int
    unjudged: int
    lost: int
    folder: Path
    judge_digest: str | None

    @property
    def mark(self) -> str:
        """What a reader must know of the run wherever its figure stands."""
        return mark(partial=self.lost > 0, mixed=self.mixed)


@dataclass(frozen=True, slots=True)
class OpenResults:
    """``outcomes`` is `open_outcomes.open_frame`'s; ``unpublished`` says how the dataset differs from the published
    one, None where it does not; ``records`` are by label the ``run.json`` of what made a run. ``judged`` holds the
    answers that several judges were asked about, one for each run and setting. ``anchors``: by the label of a run, that
    of the anchor's before the same judge, with which it is compared (`against`)."""

    outcomes: pd.DataFrame
    summaries: tuple[OpenSummary, ...] = ()
    notices: tuple[str, ...] = ()
    differing: str | None = None
    unpublished: str | None = None
    records: Mapping[str, tuple[RunRecord, ...]] = field(default_factory=dict)
    judged: tuple["JudgedSetting", ...] = ()
    anchors: Mapping[str, str] = field(default_factory=dict)

    def against(self, folder: Path) -> "OpenResults":
        """Return the same with the run at ``folder`` as the anchor: each whole run beside it, before the same judge.

        What another judge said compares with nothing: a notice names the runs. Raises ``InputError`` where the folder
        holds no run, or several before one judge.
        """
        theirs = by_judge(self.summaries, folder)
        whole = {one.label for one in self.summaries} - {one.label for one in self.summaries if one.lost}
        anchors, apart = {}, []
        for one in self.summaries:
            if one.folder.resolve() == folder.resolve() or one.label not in whole:
                continue
            label = theirs.get(one.judge_digest or "")
            if label is None:
                apart.append(one.label)
            elif label in whole:
                anchors[one.label] = label
        notices = [
            f"{EGOTEMPO.title}: {label} was not judged by a judge of the anchor "
            f"({', '.join(theirs.values()) or 'nobody judged it'}): no difference is shown; judge both by one "
            "(egobench judge RUN)"
            for label in dict.fromkeys(apart)
        ]
        notices += [
            f"{EGOTEMPO.title}: the anchor {label} lacks questions: no difference from it is shown until it is finished"
            for label in theirs.values()
            if label not in whole
        ]
        return replace(self, anchors=anchors, notices=(*self.notices, *notices))


@dataclass(frozen=True, slots=True)
class JudgedSetting:
    """One setting of one run as its judges see it. ``verdicts``: by judge and question id, None for no verdict;
    ``videos``: each question's. Answers that no judge is asked about (there is none, or it was lost) are left out."""

    run: str
    setting: str
    verdicts: Mapping[str, Mapping[str, bool | None]]
    videos: Mapping[str, str]


def read_open_runs(runs: Sequence[OpenRun], rows: Mapping[str, OpenRow]) -> OpenResults:
    """Read every run against the dataset's questions. Raises ``InputError`` as `open_reader.read_open_run` does."""
    results = [read_open_run(run, rows) for run in runs]
    summaries = [summary for result in results for summary in _summaries(result)]
    differing = _differing(summaries)
    return OpenResults(
        outcomes=open_frame(outcome for result in results for outcome in result.outcomes),
        summaries=tuple(summaries),
        notices=tuple(
            dict.fromkeys(
                [*differing, *map(_lost_notice, (one for one in summaries if one.lost))]
                + [notice for one in summaries for notice in _few_categories(one)]
                + [notice for result in results for notice in result.notices]
            )
        ),
        differing=caveat(differing),
        unpublished=open_difference((row.question_id, row.question, row.answer, row.category) for row in rows.values()),
        records={result.label: result.run.records for result in results},
        judged=tuple(_judged(results)),
    )


def by_judge(summaries: Iterable[OpenSummary], folder: Path) -> dict[str, str]:
    """Return the label of a folder's run by the digest of each judge that judged it; empty where nobody did.

    Raises ``InputError`` where the folder holds no run of EgoTempo, or several before one judge.
    """
    here = [one for one in summaries if one.folder.resolve() == folder.resolve()]
    if not here:
        raise InputError(f"{folder}: holds no run of {EGOTEMPO.title}")
    labels: dict[str, str] = {}
    for one in here:
        if one.judge_digest is None:
            continue
        first = labels.setdefault(one.judge_digest, one.label)
        if first != one.label:
            raise InputError(f"{folder}: holds several runs ({first}; {one.label}); move each to a folder of its own")
    return labels


_SAID = {OpenState.CORRECT: True, OpenState.INCORRECT: False, OpenState.NO_VERDICT: None}


def _judged(results: Sequence[OpenResult]) -> Iterator[JudgedSetting]:
    """Put the runs together that are the same answers before different judges, those with two judges at least."""
    verdicts: dict[tuple[Path, str, str], dict[str, dict[str, bool | None]]] = {}
    videos: dict[str, str] = {}
    for result in results:
        if result.run.judge is None:
            continue
        for outcome in result.outcomes:
            if outcome.state in _SAID:
                by_judge = verdicts.setdefault((result.run.folder, result.run.model, outcome.setting), {})
                by_judge.setdefault(result.run.judge.name, {})[outcome.question_id] = _SAID[outcome.state]
                videos[outcome.question_id] = outcome.video or outcome.question_id
    for (_, name, setting), by_judge in verdicts.items():
        if len(by_judge) > 1:
            yield JudgedSetting(name, setting, by_judge, videos)


def _summaries(result: OpenResult) -> list[OpenSummary]:
    by_setting: dict[str, list[OpenOutcome]] = {}
    for outcome in result.outcomes:
        by_setting.setdefault(outcome.setting, []).append(outcome)
    return [_summary(result, setting, outcomes) for setting, outcomes in by_setting.items()]


def _summary(result: OpenResult, setting: str, outcomes: Sequence[OpenOutcome]) -> OpenSummary:
    run = result.run
    states = [outcome.state for outcome in outcomes]
    tasks = [task for task in run.tasks if task.setting == setting]
    return OpenSummary(
        label=outcomes[0].run,
        setting=setting,
        judge=NOT_JUDGED if run.judge is None else run.judge.name,
        wording=None if run.judge is None else run.judge.wording,
        inputs=tasks[0].inputs,
        mixed=run.mixed,
        categories=len({outcome.category_code for outcome in outcomes}),
        questions=len(outcomes),
        judged=sum(state in JUDGED for state in states),
        unanswered=states.count(OpenState.UNANSWERED),
        unjudged=states.count(OpenState.NO_VERDICT),
        lost=states.count(OpenState.LOST),
        folder=run.folder,
        judge_digest=None if run.judge is None else run.judge.digest,
    )


def _lost_notice(one: OpenSummary) -> str:
    return (
        f"{one.label}, {one.setting}: {one.lost} of {one.questions} questions of {EGOTEMPO.title} are missing or were "
        "lost for reasons that are not the model's; they are neither right nor wrong, and the run is partial until "
        "they are answered"
    )


def _few_categories(one: OpenSummary) -> list[str]:
    if one.categories == len(CODES):
        return []
    return [f"{one.label}, {one.setting}: {one.categories} of {len(CODES)} categories were asked; there is no average"]


def _differing(summaries: Sequence[OpenSummary]) -> list[str]:
    """Name what runs differ in that should be alike: wording of questions, frames of a setting, the judge."""
    notices = []
    judges = _groups((one.label, f"{one.judge}, wording {one.wording}") for one in summaries)
    prompts = _groups((one.label, one.inputs.prompt) for one in summaries)
    for title, groups in (("judge", judges), ("prompt template", prompts)):
        if len(groups) > 1:
            notices.append(f"{EGOTEMPO.title}: the runs differ in {title}. {_named(groups)}")
    for setting in dict.fromkeys(one.setting for one in summaries):
        groups = _groups((one.label, one.inputs.frames) for one in summaries if one.setting == setting)
        if len(groups) > 1:
            notices.append(f"{EGOTEMPO.title}, {setting}: the runs differ in frames. {_named(groups)}")
    return notices


def _groups(pairs: Iterable[tuple[str, str | None]]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for label, value in pairs:
        members = groups.setdefault(value or _NOT_RECORDED, [])
        if label not in members:
            members.append(label)
    return groups


def _named(groups: Mapping[str, Sequence[str]]) -> str:
    return "; ".join(f"{value}: {', '.join(labels)}" for value, labels in groups.items())
