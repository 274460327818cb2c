"""The scores of PROTOCOL 1.4 as lighteval metrics: the same names in every multiple-choice task."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from lighteval.metrics.metrics_sample import SampleLevelComputation
from lighteval.metrics.utils.metric_utils import SampleLevelMetricGrouping
from lighteval.models.model_output import ModelResponse
from lighteval.tasks.requests import Doc, SamplingMethod

from egobench_tasks import scoring
from egobench_tasks.answers import NORMAL_STOP
from egobench_tasks.hosts.choice import score_text


class ChoiceScores(SampleLevelComputation):
    """Parse one response and score it; every failure to answer is a zero, never a skip."""

    def compute(self, doc: Doc, model_response: ModelResponse, **kwargs: Any) -> dict[str, Any]:
        """Return each metric's value for one question; ``kappa`` carries what its aggregate needs."""
        scored = score_text(doc.specific, _raw_text(model_response), finish_reason(model_response))
        return {**asdict(scored.score), "chance": scored.chance, "kappa": (scored.score.exact_set, scored.chance)}


def finish_reason(response: ModelResponse) -> str:
    """Why generation ended. lighteval's own responses do not say; our hosts' do (`Generation`)."""
    return getattr(response, "finish_reason", NORMAL_STOP)


def mean_kappa(values: Sequence[tuple[float, float]]) -> dict[str, float]:
    """Chance-normalised accuracy over a split from (exact_set, chance) pairs.

    A dict, since lighteval bootstraps other corpus metrics in 1,000 forked draws.
    """
    exact_set, chance = np.mean(values, axis=0)
    return {"kappa": scoring.kappa(float(exact_set), float(chance))}


def _raw_text(response: ModelResponse) -> str:
    # `text`, not `final_text`: lighteval strips reasoning there by other rules than PROTOCOL 1.3.
    return response.text[0] if response.text else ""


_AGGREGATES = {
    "exact_set": np.mean,
    "jaccard": np.mean,
    "overlap": np.mean,
    "wellformed": np.mean,
    "answered": np.mean,
    "chance": np.mean,
    "kappa": mean_kappa,
}

CHOICE_METRICS = SampleLevelMetricGrouping(
    metric_name=list(_AGGREGATES),
    higher_is_better={name: name != "chance" for name in _AGGREGATES},
    category=SamplingMethod.GENERATIVE,
    sample_level_fn=ChoiceScores(),
    corpus_level_fn=dict(_AGGREGATES),
)
