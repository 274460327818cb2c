"""Runs drawn with known truth: how often intervals hold it, how often tests find it. `tests/bench/coverage.py` too."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from egobench_tasks.report.analyse.clusters import Clusters
from egobench_tasks.report.analyse.estimates import paired_difference, share, sign_flip

LAYOUTS: dict[str, Callable] = {
    "single": lambda count, generator: np.ones(count, dtype=int),
    "equal": lambda count, generator: np.full(count, 8),
    "uneven": lambda count, generator: np.ceil(generator.lognormal(1.5, 0.9, count)).astype(int),
}
"""Sizes of clusters: every question alone, eight together, or many small and a few large ones."""


@dataclass(frozen=True)
class Coverage:
    """Shares of simulations: the interval held the truth; t found a difference; the sign flip found one.

    ``under``, ``over``: the whole interval lay under the truth, or over it. ``rough``: the estimate said that its
    events are few. ``alike``: all answers (differences) were alike, so that their number alone makes the interval.
    """

    interval: float
    rejected: float = 0.0
    sign_flip_rejected: float = 0.0
    under: float = 0.0
    over: float = 0.0
    rough: float = 0.0
    alike: float = 0.0

    @property
    def missed(self) -> str:
        """On which side the truth was missed, and what was known of it."""
        parts = {"under it": self.under, "over it": self.over, "all alike": self.alike, "said to be rough": self.rough}
        return ", ".join(f"{name} {100 * part:.1f} %" for name, part in parts.items())


def layout(sizes, count, generator) -> Clusters:
    return Clusters(np.repeat(np.arange(count), sizes(count, generator)))


def draw_right(clusters, rate, correlated, generator):
    """Right or wrong, each cluster with a rate of its own (beta) where answers in one are correlated."""
    own = np.full(clusters.count, rate)
    if correlated:
        scale = (1 - correlated) / correlated
        own = generator.beta(rate * scale, (1 - rate) * scale, clusters.count)
    return (generator.random(len(clusters.of)) < own[clusters.of]).astype(float)


def draw_pair(clusters, gained, lost, correlated, generator):
    """Two runs that differ: ``gained`` of the questions right in the second alone, ``lost`` in the first alone."""
    shares = np.array([gained, lost, 1 - gained - lost]) + 1e-12
    own = np.tile(shares, (clusters.count, 1))
    if correlated:
        own = generator.dirichlet(shares * (1 - correlated) / correlated, clusters.count)
    luck, mine = generator.random(len(clusters.of)), own[clusters.of]
    second = luck < mine[:, 0]
    first = ~second & (luck < mine[:, 0] + mine[:, 1])
    return first.astype(float), second.astype(float)


def coverage_of_shares(clusters, rate, correlated, n, seed):
    generator, told = np.random.default_rng(seed), np.zeros(4)
    for _ in range(n):
        right = draw_right(clusters, rate, correlated, generator)
        found = share(right, clusters)
        told += (found.high < rate, found.low > rate, found.few_events, np.ptp(right) == 0)
    under, over, rough, alike = told / n
    return Coverage(1 - under - over, under=under, over=over, rough=rough, alike=alike)


def coverage_of_differences(clusters, gained, lost, correlated, n, seed):
    generator, told, true = np.random.default_rng(seed), np.zeros(6), gained - lost
    for _ in range(n):
        first, second = draw_pair(clusters, gained, lost, correlated, generator)
        found = paired_difference(first, second, clusters)
        tests = found.p_value < 0.05, sign_flip(second - first, clusters) < 0.05
        told += (*tests, found.high < true, found.low > true, found.few_events, np.ptp(second - first) == 0)
    rejected, flipped, under, over, rough, alike = told / n
    return Coverage(1 - under - over, rejected, flipped, under, over, rough, alike)


@dataclass(frozen=True)
class RepeatedCoverage:
    """As `Coverage`, over means of several answers a question: a share's, a difference's, and the level of its test."""

    share: float
    difference: float
    rejected: float


def coverage_of_repeats(clusters, rate, correlated, n_repeats, n, seed):
    """Questions differ in their rates (beta, about half of the variance), clusters too where they are correlated."""
    generator, hits, held, told = np.random.default_rng(seed), 0, 0, 0
    for _ in range(n):
        rates = _rates(clusters, rate, correlated, generator)
        first, second = (generator.binomial(n_repeats, rates) / n_repeats for _ in range(2))
        one, pair = share(first, clusters), paired_difference(first, second, clusters)
        hits += one.low <= rate <= one.high
        held += pair.low <= 0 <= pair.high
        told += pair.p_value < 0.05
    return RepeatedCoverage(hits / n, held / n, told / n)


def _rates(clusters, rate, correlated, generator):
    own = np.full(clusters.count, rate)
    if correlated:
        scale = (1 - correlated) / correlated
        own = generator.beta(rate * scale, (1 - rate) * scale, clusters.count)
    own = own.clip(1e-9, 1 - 1e-9)[clusters.of]
    return generator.beta(own, 1 - own)
