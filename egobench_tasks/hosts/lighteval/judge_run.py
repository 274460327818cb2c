"""Judging a finished run again: to complete missing verdicts, or by another judge (`egobench judge RUN`)."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from egobench_tasks.asking.open import to_judge
from egobench_tasks.errors import InputError
from egobench_tasks.files import check_output_folder
from egobench_tasks.hosts.lighteval.details import OPEN_TASK, read_rows
from egobench_tasks.hosts.lighteval.saved import only_run
from egobench_tasks.hosts.lighteval.saved_task import SavedJudge
from egobench_tasks.judge.client import judge
from egobench_tasks.judge.identity import JudgeIdentity, served_identity
from egobench_tasks.judge.prompt import JudgeItem
from egobench_tasks.judge.settings import JudgeSettings
from egobench_tasks.judge.store import VerdictStore
from egobench_tasks.judge.summary import Agreement, JudgeSummary, agreement, mean_accuracy, summarise
from egobench_tasks.judge.verdict import Judgement, Verdict
from egobench_tasks.judge.verdict_files import verdicts_folder, write_verdicts
from egobench_tasks.scoring.answers import NORMAL_STOP

_REQUIRED = (
    *(f"doc.specific.{name}" for name in ("question_id", "question", "answer", "category")),
    "model_response.text",
    *(f"metric.{name}" for name in ("judged", "judge_accuracy", "judge_score")),
)
_OPTIONAL = ("model_response.finish_reason",)


@dataclass(frozen=True, slots=True)
class SavedAnswer:
    """An open question in a run's details. ``item`` is what a judge is asked, or what is settled without one
    (`asking.open.to_judge`). ``saved`` is the verdict that the run ended with, None where it had none; ``judge``
    gave it.
    """

    task: str
    item: JudgeItem | Judgement
    saved: Verdict | None
    judge: SavedJudge | None = None


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """A run's answers with one judge's judgements of them, in the same order."""

    judge: JudgeIdentity
    answers: Sequence[SavedAnswer]
    judgements: Sequence[Judgement]

    @property
    def overall(self) -> JudgeSummary:
        """All answers together."""
        return summarise(self.judgements)

    def by_task(self) -> dict[str, JudgeSummary]:
        """Each task's summary, by name."""
        grouped: dict[str, list[Judgement]] = {}
        for answer, judgement in zip(self.answers, self.judgements, strict=True):
            grouped.setdefault(answer.task, []).append(judgement)
        return {task: summarise(judgements) for task, judgements in grouped.items()}

    def averages(self) -> dict[str, float]:
        """The mean of the categories' accuracies for each setting, the benchmark's figure (PROTOCOL 2)."""
        grouped: dict[str, list[JudgeSummary]] = {}
        for task, summary in self.by_task().items():
            grouped.setdefault(task.partition(":")[0], []).append(summary)
        return {name: mean_accuracy(summaries) for name, summaries in grouped.items()}  # a task is a category

    def agreement_with_saved(self) -> Agreement:
        """How far this judge agrees with the verdicts that the run ended with."""
        pairs = [
            (answer.item, Judgement(answer.saved, None, ""), judgement)
            for answer, judgement in zip(self.answers, self.judgements, strict=True)
            if isinstance(answer.item, JudgeItem) and answer.saved is not None
        ]
        items, saved, given = ([pair[index] for pair in pairs] for index in range(3))
        return agreement(items, saved, given)  # type: ignore[arg-type]  # columns of a list of triples

    @property
    def saved_judges(self) -> tuple[str, ...]:
        """The names of the judges whose verdicts the run ended with."""
        return tuple(sorted({answer.judge.name for answer in self.answers if answer.judge is not None}))


def read_open_answers(run: Path) -> list[SavedAnswer]:
    """Read the open answers from the details that lighteval saved under ``run``; a task's newest details count.

    Raises ``InputError`` where there are none, where they are of several models or settings, or a file cannot be read.
    """
    saved = only_run(run, OPEN_TASK)
    if saved is None:
        raise InputError(
            f"{run}: no open answers of EgoTempo here; run its tasks with --save-details --output-dir {run}"
        )
    return [
        answer
        for name, task in sorted(saved.tasks.items())
        for answer in _answers(name.partition("|")[0], task.details, task.judge)
    ]


def judge_run(run: Path, settings: JudgeSettings, store: VerdictStore, *, fresh: bool = False) -> JudgedRun:
    """Judge a run's open answers, asking only for verdicts the store lacks, and write them under the run.

    They go to a file of this judge's own (`judge.verdict_files`). ``fresh``: kept ones are not taken, now or later.
    Raises what `read_open_answers` raises, and `Stopped` where SIGTERM came before all were asked for.
    """
    return judge_answers(run, read_open_answers(run), settings, store, fresh=fresh)


def judge_answers(
    run: Path, answers: Sequence[SavedAnswer], settings: JudgeSettings, store: VerdictStore, *, fresh: bool = False
) -> JudgedRun:
    """Judge answers that were read from ``run``, a folder or a log; else as `judge_run`."""
    check_output_folder(verdicts_folder(run).parent)
    items = [answer.item for answer in answers if isinstance(answer.item, JudgeItem)]
    given = judge(items, settings, store, fresh=fresh)
    identity = served_identity(settings)
    tasks = [answer.task for answer in answers if isinstance(answer.item, JudgeItem)]
    if any(judgement.verdict is not None for judgement in given):  # a judge that said nothing has no file
        write_verdicts(run, identity, zip(tasks, items, given, strict=True))
    each = iter(given)
    judgements = [next(each) if isinstance(answer.item, JudgeItem) else answer.item for answer in answers]
    return JudgedRun(identity, answers, judgements)


def _answers(task: str, path: Path, judge: SavedJudge | None) -> Iterator[SavedAnswer]:
    for row in read_rows(path, _REQUIRED, _OPTIONAL):
        item = item_of(row["doc"]["specific"], row["model_response"])
        yield SavedAnswer(task, item, saved_verdict(row["metric"]), judge)


def item_of(facts: Mapping[str, Any], response: Mapping[str, Any]) -> JudgeItem | Judgement:
    """Return what a judge is asked of a saved response, or what is settled without one (`asking.open.to_judge`)."""
    text = response["text"][0] if response["text"] else ""
    return to_judge(facts, text, response.get("finish_reason") or NORMAL_STOP)


def saved_verdict(metric: Mapping[str, Any]) -> Verdict | None:
    """Return the verdict that was saved with an answer, None where there was none."""
    if not metric.get("judged"):
        return None
    score = metric.get("judge_score", 0.0)
    return Verdict(metric["judge_accuracy"] == 1, None if score is None or math.isnan(score) else score)
