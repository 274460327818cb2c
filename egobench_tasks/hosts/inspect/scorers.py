"""The scores of PROTOCOL 1.3, 1.4 and 2 in Inspect: the functions of the lighteval tasks, in the words of Inspect."""

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict
from statistics import fmean
from typing import cast

from inspect_ai.scorer import (
    Metric,
    SampleScore,
    Score,
    Scorer,
    Target,
    Value,
    grouped,
    mean,
    metric,
    scorer,
    stderr,
)
from inspect_ai.solver import TaskState

from egobench_tasks.asking.open import HOW_TO_CONFIGURE_A_JUDGE, to_judge
from egobench_tasks.benchmarks import EGOTEMPO
from egobench_tasks.hosts.inspect.attempts import counted_attempt
from egobench_tasks.hosts.inspect.judge import SampleJudge
from egobench_tasks.judge.prompt import JudgeItem
from egobench_tasks.judge.settings import load_settings
from egobench_tasks.judge.store import VerdictStore, default_store_path
from egobench_tasks.judge.summary import LOST, UNANSWERED
from egobench_tasks.judge.verdict import Judgement, NoVerdict
from egobench_tasks.runs.journal import UNANSWERED as NO_GENERATION
from egobench_tasks.scoring import scores as arithmetic
from egobench_tasks.scoring.answers import open_answer
from egobench_tasks.scoring.choice import score_text
from egobench_tasks.scoring.open import offline_scores

_AVERAGE = "average"


@metric
def kappa() -> Metric:
    """Chance-normalised accuracy over exact matches; chance is averaged over the same questions."""

    def compute(scores: list[SampleScore]) -> float:
        if not scores:
            return math.nan
        accuracy = fmean(sample.score.as_float() for sample in scores)
        return arithmetic.kappa(accuracy, fmean(_chance(sample) for sample in scores))

    return compute


@metric
def by_unit() -> Metric:
    """The mean over the questions of each unit. A metric of its own: Inspect keeps one ``grouped`` a score."""
    return grouped(mean(), "unit", all=False)


@metric
def by_question_type() -> Metric:
    """The mean over the questions of each type."""
    return grouped(mean(), "question_type", all=False)


@scorer(
    metrics={
        "exact_set": [mean(), stderr(), kappa(), by_unit(), by_question_type()],
        "jaccard": [mean(), stderr()],
        "overlap": [mean(), stderr()],
        "wellformed": [mean()],
        "answered": [mean()],
        "lost": [mean()],
    }
)
def choice_scorer() -> Scorer:
    """Score the set of letters in a model's answer; every failure to answer is a zero, never a skip."""

    async def score(state: TaskState, target: Target) -> Score:
        said = counted_attempt(state.metadata, state.output)
        scored = score_text(
            state.metadata, said.text, said.finish_reason, reasoning=said.reasoning, thinking=said.thinking
        )
        letters = scored.parsed.letters
        return Score(
            value={**asdict(scored.score), "lost": float(said.finish_reason in NO_GENERATION)},
            answer=None if letters is None else ",".join(sorted(letters)),
            explanation=scored.parsed.failure and scored.parsed.failure.value,
            metadata={"no_trace": scored.no_trace},
        )

    return score


@metric
def by_category() -> Metric:
    """The mean of each category, and of the categories, over scored answers.

    The mean of the categories is EgoTempo's figure, and named ``average``, only where all ten have a scored answer;
    over fewer its name says so, as lighteval's does (`hosts.lighteval.averages`). Questions without a score are told
    by the metric `lost`: a metric of Inspect's sees none of them.
    """
    by_name = cast(
        Callable[[list[SampleScore]], Mapping[str, float]],
        grouped(mean(), "category", all="groups", all_label=_AVERAGE),
    )

    def compute(scores: list[SampleScore]) -> Value:
        means = by_name(scores)
        categories = {str((sample.sample_metadata or {})["category"]) for sample in scores}
        return {name + (caveat(categories) if name == _AVERAGE else ""): of for name, of in means.items()}

    return compute


def caveat(categories: Collection[str]) -> str:
    """Return what a mean over these categories lacks: `` (9 of 10 categories)``; empty for nothing."""
    few = EGOTEMPO.part_of_categories(len(categories))
    return f" ({few})" if few else ""


@scorer(
    metrics={
        "judge_accuracy": [mean(), stderr(), by_category()],
        "judge_score": [mean(), by_category()],
        "judged": [mean(), by_category()],
        "exact_match": [mean(), stderr(), by_category()],
        "token_f1": [mean(), stderr(), by_category()],
        "answered": [mean()],
        "lost": [mean()],
    }
)
def open_scorer(judge: str | None = None) -> Scorer:
    """Score an open answer by its words, and by a judge's verdict where a judge is configured.

    ``judge`` is the judge's model, in place of ``EGOBENCH_JUDGE_MODEL``. An answer without a verdict
    is neither right nor wrong: Inspect counts it as unscored, and ``judged`` is the share that has one.
    Raises ``InputError`` for a wrong setting.
    """
    settings = load_settings(overrides={"model": judge})
    asked = None if settings is None else SampleJudge(settings, VerdictStore(default_store_path()))

    async def score(state: TaskState, target: Target) -> Score:
        said = counted_attempt(state.metadata, state.output)
        answer = open_answer(said.text, said.finish_reason)
        judgement = await _judgement(asked, to_judge(state.metadata, said.text, said.finish_reason))
        return _open_score(answer, target.text, judgement)

    return score


async def _judgement(judge: SampleJudge | None, item: JudgeItem | Judgement) -> Judgement:
    if judge is None:
        return LOST if item == LOST else Judgement(None, NoVerdict.NOT_ASKED, "")
    return await judge.judgement(item) if isinstance(item, JudgeItem) else item


def _open_score(answer: str | None, gold: str, judgement: Judgement) -> Score:
    verdict = judgement.verdict
    judged = {
        "judge_accuracy": math.nan if verdict is None else float(verdict.correct),
        "judge_score": math.nan if verdict is None or verdict.score is None else verdict.score,
        "judged": float(verdict is not None and judgement != UNANSWERED),
    }
    lost = judgement.failure is NoVerdict.LOST
    offline = offline_scores(answer, gold) | (dict.fromkeys(("exact_match", "token_f1"), math.nan) if lost else {})
    return Score(
        value={**judged, **offline, "lost": float(lost)},
        answer=answer,
        reason=_reason(judgement),
        explanation=_why_no_verdict(judgement) if verdict is None else verdict.reason,
        metadata={"judge_reply": judgement.raw},
    )


def _reason(judgement: Judgement) -> str | None:
    """Why there is no verdict, in Inspect's own words."""
    if judgement.failure is None:
        return None
    return "scoring_failed" if judgement.failure in (NoVerdict.NOT_ASKED, NoVerdict.LOST) else "grader_failed"


def _why_no_verdict(judgement: Judgement) -> str:
    if judgement.failure is NoVerdict.NOT_ASKED:
        return f"no verdict: no judge was asked; {HOW_TO_CONFIGURE_A_JUDGE}"
    if judgement.failure is NoVerdict.LOST:
        return "no answer, and not the model's failure: its clip could not be read"
    return f"no verdict: {judgement.failure}"


def _chance(sample: SampleScore) -> float:
    facts = sample.sample_metadata or {}
    return arithmetic.chance_exact(len(facts["shown_letters"]), len(facts["answer"]))
