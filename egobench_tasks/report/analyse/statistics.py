"""How sure a difference is: bootstrap over questions or clusters, McNemar, Holm, rank correlation. Pure arithmetic.

Everything random takes an explicit seed, so a report of the same runs is the same report.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest, rankdata

from egobench_tasks.report.analyse.clusters import Clusters

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

SEED = 20250913
N_DRAWS = 2000
_CHUNK = 500


def bootstrap_means(
    values: Floats, n_draws: int = N_DRAWS, seed: int = SEED, clusters: Clusters | None = None
) -> Floats:
    """Return the means of resampled questions, shape (n_draws, n_columns).

    ``values`` has shape (n_questions, n_columns). A draw takes the same questions in every column,
    so the difference of two columns of the result is a paired bootstrap. With ``clusters`` whole clusters
    are drawn, and a mean is over as many questions as they hold. NaNs for no questions.
    """
    n_questions, n_columns = values.shape
    if not n_questions:
        return np.full((n_draws, n_columns), np.nan)
    sums, sizes = (values, None) if clusters is None else (clusters.sums(values), clusters.sizes)
    n_units = len(sums)
    generator = np.random.default_rng(seed)
    means = np.empty((n_draws, n_columns))
    for start in range(0, n_draws, _CHUNK):
        size = min(_CHUNK, n_draws - start)
        # How often each question or cluster is drawn: one matrix product then serves every column.
        counts = generator.multinomial(n_units, np.full(n_units, 1 / n_units), size=size)
        drawn = n_questions if sizes is None else (counts @ sizes)[:, None]
        means[start : start + size] = counts @ sums / drawn
    return means


def cluster_draws(n_clusters: int, n_draws: int = N_DRAWS, seed: int = SEED) -> Counts:
    """Return how often a bootstrap draws each cluster, shape (n_draws, n_clusters): for figures over several splits,
    whose sums and numbers of questions the same draw must give."""
    return np.random.default_rng(seed).multinomial(n_clusters, np.full(n_clusters, 1 / n_clusters), size=n_draws)


def percentile_interval(draws: Floats, confidence: float = 0.95) -> tuple[float, float]:
    """Return the central interval of bootstrap draws of one figure, as (low, high)."""
    tail = (1 - confidence) / 2
    low, high = np.quantile(draws, [tail, 1 - tail])
    return float(low), float(high)


@dataclass(frozen=True, slots=True)
class PairedOutcomes:
    """How two runs did on the same questions, right or wrong.

    Seen from the first run to the second: ``rescued`` questions became right, ``destabilised`` ones wrong.
    """

    both_right: int
    rescued: int
    destabilised: int
    both_wrong: int

    @property
    def total(self) -> int:
        """The number of questions."""
        return self.both_right + self.rescued + self.destabilised + self.both_wrong

    @property
    def gain(self) -> float:
        """Accuracy of the second run less the first's, in [-1, 1]; NaN for no questions."""
        return (self.rescued - self.destabilised) / self.total if self.total else math.nan

    @property
    def discordance(self) -> float:
        """The share of questions on which one was right and the other wrong, in [0, 1]; NaN for no questions."""
        return (self.rescued + self.destabilised) / self.total if self.total else math.nan

    @property
    def p_value(self) -> float:
        """McNemar's exact test, see `mcnemar_exact`."""
        return mcnemar_exact(self.rescued, self.destabilised)


def paired_outcomes(first: Floats, second: Floats) -> PairedOutcomes:
    """Count agreement of two runs' ``exact_set`` over the same questions, in the same order.

    0 or 1 a question, or the mean over its answers: right where more than half of them are.
    """
    one, two = first > 0.5, second > 0.5
    return PairedOutcomes(
        both_right=int((one & two).sum()),
        rescued=int((~one & two).sum()),
        destabilised=int((one & ~two).sum()),
        both_wrong=int((~one & ~two).sum()),
    )


def mcnemar_exact(rescued: int, destabilised: int) -> float:
    """Return the two-sided exact p-value that changes go either way alike; 1 where nothing changed."""
    changed = rescued + destabilised
    return float(binomtest(rescued, changed, 0.5).pvalue) if changed else 1.0


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted for their number by Holm's step-down method, in the order given."""
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    adjusted = [math.nan] * len(p_values)
    floor = 0.0
    for rank, index in enumerate(order):
        floor = max(floor, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = floor
    return adjusted


def spearman(first: Sequence[float], second: Sequence[float]) -> float:
    """Return Spearman's rank correlation, ties sharing their mean rank.

    NaN for fewer than three pairs, or where one side is all ties.
    """
    one, two = rankdata(first), rankdata(second)
    if len(one) < 3 or np.ptp(one) == 0 or np.ptp(two) == 0:
        return math.nan
    return float(np.corrcoef(one, two)[0, 1])
