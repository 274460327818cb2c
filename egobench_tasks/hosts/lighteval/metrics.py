"""The scores of PROTOCOL 1.4, and those of open answers that need no judge, as lighteval metrics.

Tasks of one name have the same metrics: lighteval averages over subtasks by the first one's names.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from lighteval.metrics.metrics_sample import SampleLevelComputation
from lighteval.metrics.utils.metric_utils import SampleLevelMetricGrouping
from lighteval.models.model_output import ModelResponse
from lighteval.tasks.requests import Doc, SamplingMethod

from egobench_tasks.runs.journal import UNANSWERED
from egobench_tasks.scoring import scores
from egobench_tasks.scoring.answers import NORMAL_STOP, open_answer
from egobench_tasks.scoring.choice import score_text
from egobench_tasks.scoring.open import offline_scores


class ChoiceScores(SampleLevelComputation):
    """Parse one response and score it; every failure to answer is a zero, never a skip."""

    def compute(self, doc: Doc, model_response: ModelResponse, **kwargs: Any) -> dict[str, Any]:
        """Return each metric's value for one question; ``kappa`` carries what its aggregate needs.

        ``lost`` is 1 where the question has no generation for a reason that is not the model's.
        """
        scored = score_text(
            doc.specific,
            raw_text(model_response),
            finish_reason(model_response),
            reasoning=_first_of(model_response.reasonings),
            thinking=getattr(model_response, "thinking", False),
        )
        return {
            **asdict(scored.score),
            "chance": scored.chance,
            "kappa": (scored.score.exact_set, scored.chance),
            "lost": _lost(model_response),
            "no_trace": float(scored.no_trace),
            "exact_traced": scored.exact_traced,
        }


class OpenScores(SampleLevelComputation):
    """Compare an open answer with the gold one by their words alone; no answer of the model's scores 0."""

    def compute(self, doc: Doc, model_response: ModelResponse, **kwargs: Any) -> dict[str, float]:
        """Return ``exact_match``, ``token_f1``, ``answered`` and ``lost`` of one question.

        A question that was lost has no agreement with the gold answer, of any degree: NaN.
        """
        lost = _lost(model_response)
        answer = open_answer(raw_text(model_response), finish_reason(model_response))
        figures = offline_scores(answer, doc.specific["answer"])
        return {**figures, **(dict.fromkeys(_RATED, math.nan) if lost else {}), "lost": lost}


_RATED = ("exact_match", "token_f1")


def _lost(response: ModelResponse) -> float:
    return float(finish_reason(response) in UNANSWERED)


def finish_reason(response: ModelResponse) -> str:
    """Why generation ended. lighteval's own responses do not say; our hosts' do (`Generation`)."""
    return getattr(response, "finish_reason", NORMAL_STOP)


def mean_kappa(values: Sequence[tuple[float, float]]) -> dict[str, float]:
    """Chance-normalised accuracy over a split from (exact_set, chance) pairs.

    A dict, since lighteval bootstraps other corpus metrics in 1,000 forked draws.
    """
    exact_set, chance = np.mean(values, axis=0)
    return {"kappa": scores.kappa(float(exact_set), float(chance))}


def mean_of_rated(name: str) -> Callable[[Sequence[float]], dict[str, float]]:
    """The mean of an open metric over the questions that were not lost, with its standard error; NaN for none.

    A dict, as of `mean_kappa`.
    """

    def aggregate(values: Sequence[float]) -> dict[str, float]:
        rated = np.array([value for value in values if not math.isnan(value)])
        mean = float(rated.mean()) if len(rated) else math.nan
        error = float(rated.std(ddof=1) / math.sqrt(len(rated))) if len(rated) > 1 else math.nan
        return {name: mean, f"{name}_stderr": error}

    return aggregate


def raw_text(response: ModelResponse) -> str:
    """All that a response says, as a model said it."""
    # `text`, not `final_text`: lighteval strips reasoning there by other rules than PROTOCOL 1.3.
    return _first_of(response.text)


def _first_of(texts: Sequence[str | None]) -> str:
    """The text of a response's one generation; empty where it has none."""
    return (texts[0] or "") if texts else ""


_CHOICE_AGGREGATES: dict[str, Callable[..., Any]] = {
    "exact_set": np.mean,
    "jaccard": np.mean,
    "overlap": np.mean,
    "wellformed": np.mean,
    "answered": np.mean,
    "chance": np.mean,
    "kappa": mean_kappa,
    "lost": np.mean,
    "no_trace": np.mean,  # answers without reasoning although thinking was on
    "exact_traced": np.mean,  # exact_set where those count as wrong
}
_OPEN_AGGREGATES: dict[str, Callable[..., Any]] = {
    **{name: mean_of_rated(name) for name in _RATED},
    "answered": np.mean,
    "lost": np.mean,
}
_LOWER_IS_BETTER = ("chance", "lost", "no_trace")


def _grouping(scores: SampleLevelComputation, aggregates: dict[str, Callable[..., Any]]) -> SampleLevelMetricGrouping:
    return SampleLevelMetricGrouping(
        metric_name=list(aggregates),
        higher_is_better={name: name not in _LOWER_IS_BETTER for name in aggregates},
        category=SamplingMethod.GENERATIVE,
        sample_level_fn=scores,
        corpus_level_fn=dict(aggregates),
    )


CHOICE_METRICS = _grouping(ChoiceScores(), _CHOICE_AGGREGATES)
OPEN_METRICS = _grouping(OpenScores(), _OPEN_AGGREGATES)
