"""A language model's verdicts on open answers, as lighteval metrics.

An answer without a verdict is neither right nor wrong: it is counted, and left out of the rates (PROTOCOL 2).
"""

import logging
import math
from collections.abc import Callable, Sequence

import numpy as np
from lighteval.metrics.metrics_sample import SampleLevelComputation
from lighteval.metrics.utils.metric_utils import SampleLevelMetric
from lighteval.models.model_output import ModelResponse
from lighteval.tasks.requests import Doc, SamplingMethod

from egobench_tasks.asking.open import HOW_TO_CONFIGURE_A_JUDGE, to_judge
from egobench_tasks.errors import EgobenchError
from egobench_tasks.hosts.lighteval.metrics import finish_reason, raw_text
from egobench_tasks.judge.client import judge
from egobench_tasks.judge.identity import judge_identity
from egobench_tasks.judge.prompt import JudgeItem, prompt_fingerprint
from egobench_tasks.judge.settings import JudgeSettings, load_settings
from egobench_tasks.judge.store import VerdictStore, default_store_path
from egobench_tasks.judge.summary import LOST, MAX_UNJUDGED_RATE, UNANSWERED, JudgeSummary, describe, summarise
from egobench_tasks.judge.verdict import Judgement, NoVerdict, Verdict
from egobench_tasks.stopping import Stopped

logger = logging.getLogger(__name__)

_judged_tasks: dict[str, JudgeSummary] = {}
"""What this process has judged, by task; the command line asks once all is saved. See `check_verdicts`."""


def check_verdicts() -> None:
    """Raise ``EgobenchError`` where a judge left more answers without a verdict than a quoted score may rest on.

    The share is of the answers that there were to judge: questions that were lost thin nothing out.
    """
    answers = sum(summary.answers for summary in _judged_tasks.values())
    unjudged = answers - sum(summary.judged for summary in _judged_tasks.values())
    if load_settings() is not None and answers and unjudged / answers > MAX_UNJUDGED_RATE:
        raise EgobenchError(
            f"{unjudged} of {answers} answers have no verdict, more than {MAX_UNJUDGED_RATE:.0%}. All answers are "
            "saved; complete the verdicts with: egobench judge OUTPUT_DIR"
        )


class TaskJudge:
    """Judges the answers of a task once, for all metrics that rest on the verdicts."""

    def __init__(self) -> None:
        self._items: list[JudgeItem | Judgement] | None = None
        self._judgements: list[Judgement] = []

    def judgements(self, docs: Sequence[Doc], responses: Sequence[ModelResponse]) -> list[Judgement]:
        """Return one judgement a document; answers are judged on the first call for them."""
        items = [
            to_judge(doc.specific, raw_text(response), finish_reason(response))
            for doc, response in zip(docs, responses, strict=True)
        ]
        if items != self._items:
            self._items, self._judgements = items, judge_answers(items, load_settings())
            _judged_tasks[docs[0].task_name] = summary = summarise(self._judgements)
            log = logger.warning if summary.unjudged or summary.lost else logger.info
            log(f"{docs[0].task_name}: {describe(summary)}" + _how_to_complete(bool(summary.unjudged)))
        return self._judgements


def judge_answers(items: Sequence[JudgeItem | Judgement], settings: JudgeSettings | None) -> list[Judgement]:
    """Judge what was answered (`asking.open.to_judge`); without a judge nothing is decided, and there is no rate.

    A judge that cannot be seen to be the one whose verdicts are kept gives none: a night's answers are still to save.
    """
    asked = [item for item in items if isinstance(item, JudgeItem)]
    try:
        given = judge(asked, settings, VerdictStore(default_store_path())) if settings else None
    except Stopped:
        raise  # the same command judges them, and saves answers and verdicts together
    except EgobenchError as error:
        logger.error(str(error))
        given = None
    if given is None:
        return [item if item == LOST else Judgement(None, NoVerdict.NOT_ASKED, "") for item in items]
    verdicts = iter(given)
    return [next(verdicts) if isinstance(item, JudgeItem) else item for item in items]


class JudgeScore(SampleLevelComputation):
    """One figure of every verdict; NaN where there is none."""

    def __init__(self, task_judge: TaskJudge, value: Callable[[Verdict], float]) -> None:
        self.task_judge = task_judge
        self.value = value

    def __str__(self) -> str:
        """Whose verdicts these are: lighteval saves this with the task's config, `details.saved_judge` reads it."""
        settings = load_settings()
        if settings is None:
            return f"verdicts of no judge, prompt {prompt_fingerprint()}"
        judge = judge_identity(settings)
        return f"verdicts of {judge.name}, prompt {judge.wording}, identity {judge.digest}"

    def compute(self, docs: list[Doc], responses: list[ModelResponse], **kwargs: object) -> list[float]:
        """Return the figure for each document."""
        judgements = self.task_judge.judgements(docs, responses)
        return [math.nan if judgement.verdict is None else self.value(judgement.verdict) for judgement in judgements]


class Judged(JudgeScore):
    """Whether a judge saw the answer and gave a verdict: 1 or 0."""

    def compute(self, docs: list[Doc], responses: list[ModelResponse], **kwargs: object) -> list[float]:
        """Return 1.0 for each document that a judge has decided, else 0.0."""
        judgements = self.task_judge.judgements(docs, responses)
        return [float(one.verdict is not None and one != UNANSWERED) for one in judgements]


def judge_metrics() -> list[SampleLevelMetric]:
    """Return ``judge_accuracy`` [0, 1], ``judge_score`` [0, 5] and ``judged``.

    The first two are over the decided questions (`judge.summary.JudgeSummary`); ``judged`` is the share of all
    questions whose answer a judge gave a verdict on. A fresh set a task: they share the verdicts.
    """
    task_judge = TaskJudge()
    return [
        _metric("judge_accuracy", JudgeScore(task_judge, lambda verdict: float(verdict.correct)), _mean_of_judged),
        _metric("judge_score", JudgeScore(task_judge, _score), _mean_of_judged),
        _metric("judged", Judged(task_judge, lambda verdict: 1.0), np.mean),
    ]


def _score(verdict: Verdict) -> float:
    return math.nan if verdict.score is None else verdict.score


def _metric(name: str, scores: JudgeScore, aggregate: Callable[[Sequence[float]], float]) -> SampleLevelMetric:
    return SampleLevelMetric(
        metric_name=name,
        higher_is_better=True,
        category=SamplingMethod.GENERATIVE,
        sample_level_fn=scores,
        corpus_level_fn=aggregate,
        batched_compute=True,
    )


def _mean_of_judged(values: Sequence[float]) -> float:
    """The mean over answers with a verdict; NaN where none has one."""
    judged = [value for value in values if not math.isnan(value)]
    return math.fsum(judged) / len(judged) if judged else math.nan


def _how_to_complete(incomplete: bool) -> str:
    return f"; complete it with: egobench judge OUTPUT_DIR ({HOW_TO_CONFIGURE_A_JUDGE})" if incomplete else ""
