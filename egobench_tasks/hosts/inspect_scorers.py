"""The scores of PROTOCOL 1.3 and 1.4 in Inspect: the functions of the lighteval tasks, in the words of Inspect."""

import math
from dataclasses import asdict
from statistics import fmean

from inspect_ai.model import ModelOutput
from inspect_ai.scorer import (
    Metric,
    SampleScore,
    Score,
    Scorer,
    Target,
    grouped,
    mean,
    metric,
    scorer,
    stderr,
)
from inspect_ai.solver import TaskState

from egobench_tasks import scoring
from egobench_tasks.answers import LENGTH_STOP
from egobench_tasks.hosts.choice import score_text

_TRUNCATED = frozenset({"max_tokens", "model_length"})


@metric
def kappa() -> Metric:
    """Chance-normalised accuracy over exact matches; chance is averaged over the same questions."""

    def compute(scores: list[SampleScore]) -> float:
        if not scores:
            return math.nan
        accuracy = fmean(sample.score.as_float() for sample in scores)
        return scoring.kappa(accuracy, fmean(_chance(sample) for sample in scores))

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
    }
)
def choice_scorer() -> Scorer:
    """Score the set of letters in a model's answer; every failure to answer is a zero, never a skip."""

    async def score(state: TaskState, target: Target) -> Score:
        scored = score_text(state.metadata, state.output.completion, finish_reason(state.output))
        letters = scored.parsed.letters
        return Score(
            value=asdict(scored.score),
            answer=None if letters is None else ",".join(sorted(letters)),
            explanation=scored.parsed.failure and scored.parsed.failure.value,
        )

    return score


def finish_reason(output: ModelOutput) -> str:
    """Inspect's stop reason in the OpenAI API's words, which `answers.parse_answer` reads."""
    if not output.choices:
        return "error"
    return LENGTH_STOP if output.stop_reason in _TRUNCATED else str(output.stop_reason)


def _chance(sample: SampleScore) -> float:
    facts = sample.sample_metadata or {}
    return scoring.chance_exact(len(facts["shown_letters"]), len(facts["answer"]))
