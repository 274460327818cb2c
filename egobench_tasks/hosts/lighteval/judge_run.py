"""Judging a finished run again: to complete missing verdicts, or by another judge (`egobench judge RUN`)."""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from egobench_tasks.asking.open import judge_item
from egobench_tasks.errors import InputError
from egobench_tasks.files import write_atomically
from egobench_tasks.hosts.lighteval.details import OPEN_TASK, latest_details, read_rows
from egobench_tasks.judge.client import judge
from egobench_tasks.judge.prompt import JudgeItem, prompt_fingerprint
from egobench_tasks.judge.settings import JudgeSettings
from egobench_tasks.judge.store import VerdictStore
from egobench_tasks.judge.summary import UNANSWERED, Agreement, JudgeSummary, agreement, mean_accuracy, summarise
from egobench_tasks.judge.verdict import Judgement, Verdict
from egobench_tasks.scoring.answers import NORMAL_STOP, open_answer

VERDICTS_FOLDER = "verdicts"
_REQUIRED = (
    *(f"doc.specific.{name}" for name in ("question_id", "question", "answer", "category")),
    "model_response.text",
    *(f"metric.{name}" for name in ("judged", "judge_accuracy", "judge_score")),
)
_OPTIONAL = ("model_response.finish_reason",)


@dataclass(frozen=True, slots=True)
class SavedAnswer:
    """An open answer in a run's details. ``item`` is None where the model did not answer.

    ``saved`` is the verdict that the run ended with, None where it had none.
    """

    task: str
    question_id: str
    item: JudgeItem | None
    saved: Verdict | None


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """A run's answers with one judge's judgements of them, in the same order."""

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
        return {name: mean_accuracy(summaries) for name, summaries in grouped.items()}

    def agreement_with_saved(self) -> Agreement:
        """How far this judge agrees with the verdicts that the run ended with."""
        pairs = [
            (answer.item, Judgement(answer.saved, None, ""), judgement)
            for answer, judgement in zip(self.answers, self.judgements, strict=True)
            if answer.item is not None and answer.saved is not None
        ]
        items, saved, given = ([pair[index] for pair in pairs] for index in range(3))
        return agreement(items, saved, given)  # type: ignore[arg-type]  # columns of a list of triples


def read_open_answers(run: Path) -> list[SavedAnswer]:
    """Read the open answers from the details that lighteval saved under ``run``; a task's newest details count.

    Raises ``InputError`` where there are none, where they are of several models, or a file cannot be read.
    """
    by_model = latest_details(run, OPEN_TASK)
    if len(by_model) > 1:
        raise InputError(f"{run}: holds answers of several models ({', '.join(by_model)}); judge each run on its own")
    answers = [
        answer
        for tasks in by_model.values()
        for task, paths in sorted(tasks.items())
        for answer in _answers(task.partition("|")[0], paths[-1])
    ]
    if not answers:
        raise InputError(
            f"{run}: no open answers of EgoTempo here; run its tasks with --save-details --output-dir {run}"
        )
    return answers


def judge_run(run: Path, settings: JudgeSettings, store: VerdictStore) -> JudgedRun:
    """Judge a run's open answers, asking only for verdicts the store lacks, and write them under the run.

    They go to ``run/verdicts/<judge>.json``. Raises what `read_open_answers` raises.
    """
    answers = read_open_answers(run)
    given = iter(judge([answer.item for answer in answers if answer.item is not None], settings, store))
    judged = JudgedRun(answers, [UNANSWERED if answer.item is None else next(given) for answer in answers])
    _write_verdicts(run, settings.model, judged)
    return judged


def verdicts_file(run: Path, model: str) -> Path:
    """Return where one judge's verdicts on a run are kept."""
    return run / VERDICTS_FOLDER / f"{re.sub(r'[^A-Za-z0-9._-]+', '-', model).strip('-')}.json"


def _answers(task: str, path: Path) -> Iterator[SavedAnswer]:
    for row in read_rows(path, _REQUIRED, _OPTIONAL):
        facts = row["doc"]["specific"]
        yield SavedAnswer(task, facts["question_id"], _item(facts, row["model_response"]), _saved(row["metric"]))


def _item(facts: Mapping[str, Any], response: Mapping[str, Any]) -> JudgeItem | None:
    text = response["text"][0] if response["text"] else ""
    return judge_item(facts, open_answer(text, response.get("finish_reason") or NORMAL_STOP))


def _saved(metric: Mapping[str, Any]) -> Verdict | None:
    if not metric.get("judged"):
        return None
    score = metric["judge_score"]
    return Verdict(metric["judge_accuracy"] == 1, None if score is None or math.isnan(score) else score)


def _write_verdicts(run: Path, model: str, judged: JudgedRun) -> None:
    path = verdicts_file(run, model)
    path.parent.mkdir(exist_ok=True)
    content = {
        "judge": model,
        "prompt": prompt_fingerprint(),
        "verdicts": [
            {
                "task": answer.task,
                "question_id": answer.question_id,
                "verdict": judgement.verdict and asdict(judgement.verdict),
                "failure": judgement.failure,
                "raw": judgement.raw,
            }
            for answer, judgement in zip(judged.answers, judged.judgements, strict=True)
        ],
    }
    with write_atomically(path) as file:
        file.write((json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode())
