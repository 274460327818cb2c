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
    """Shares of simulations: the interval held the truth; t found a difference; the sign flip found one."""

    interval: float
    rejected: float = 0.0
    sign_flip_rejected: float = 0.0


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
    generator, hits = np.random.default_rng(seed), 0
    for _ in range(n):
        found = share(draw_right(clusters, rate, correlated, generator), clusters)
        hits += found.low <= rate <= found.high
    return Coverage(hits / n)


def coverage_of_differences(clusters, gained, lost, correlated, n, seed):
    generator, hits, told, flipped = np.random.default_rng(seed), 0, 0, 0
    for _ in range(n):
        first, second = draw_pair(clusters, gained, lost, correlated, generator)
        found = paired_difference(first, second, clusters)
        hits += found.low <= gained - lost <= found.high
        told += found.p_value < 0.05
        flipped += sign_flip(second - first, clusters) < 0.05
    return Coverage(hits / n, told / n, flipped / n)


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
