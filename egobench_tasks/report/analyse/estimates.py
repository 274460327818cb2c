"""A share or a paired difference with its error, allowing for questions that hang together. Pure arithmetic.

The standard error is the cluster-robust one with Bell and McCaffrey's correction (CR2); its degrees of freedom are
Satterthwaite's, few where a few clusters hold most questions. From it follows the design effect (the variance over that
of as many independent questions), and an effective number of questions. Shares then have Wilson's interval, differences
of right and wrong Tango's, both score intervals, at that number: they hold near 0 and 1, where ``value ± t · error``
covers too little. `tests/bench/coverage.py` measures what each of them covers.
Sources: Miller 2024 (arXiv 2411.00640); Bell and McCaffrey 2002; Imbens and Kolesár 2016 (degrees of freedom under the
estimated correlation); Dean and Pagano 2015 (Wilson at the effective number); Tango 1998 (score interval of a
paired difference).
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy import optimize, stats

from egobench_tasks.report.analyse.clusters import Clusters, warning
from egobench_tasks.report.analyse.statistics import Floats
from egobench_tasks.scoring.intervals import score_interval

CONFIDENCE = 0.95
FEW_EVENTS = 10
"""Fewer independent right or wrong answers (of a difference: changed ones) leave an interval rough: in simulations up
to 100 of 100 hold the truth (`tests/bench/coverage.py`)."""
_DF_OF_A_RARE_CLUSTER = 2
"""A share's degrees of freedom are at most as many for each cluster that holds an answer of the rarer kind, less one.

Found by simulation, not derived: at a rate of 5 % and a correlation of 0.3 fewer (1.5 or 1 each) cover 94 to 99 %, no
bound at all 89 to 93 % (`tests/bench/coverage.py`).
"""


@dataclass(frozen=True, slots=True)
class Error:
    """How sure a mean over questions is. ``largest_share``: of the questions, in the largest cluster.

    ``standard_error``: CR2, with ``df`` degrees of freedom. ``design_effect``: its square over the variance of as many
    independent questions; NaN where all values are equal or all questions one cluster, so that it cannot be told.
    ``rare``: how many clusters hold a value other than the commonest; all that is known of how questions hang together
    comes from these.
    """

    questions: int
    clusters: int
    standard_error: float
    df: float
    design_effect: float
    largest_share: float
    rare: int

    @property
    def warning(self) -> str | None:
        """See `clusters.warning`."""
        return warning(self.clusters, self.largest_share)

    @property
    def effective_questions(self) -> float:
        """How many independent questions say as much; where that cannot be told one a cluster, the least it can be."""
        return float(self.clusters) if math.isnan(self.design_effect) else self.questions / self.design_effect

    def quantile(self, confidence: float = CONFIDENCE) -> float:
        """Return Student's factor of a two-sided interval; NaN with fewer than two clusters."""
        return float(stats.t.ppf((1 + confidence) / 2, self.df)) if self.df > 0 else math.nan

    def p_value(self, t: float) -> float:
        """Return the two-sided p-value of Student's t; NaN with fewer than two clusters."""
        return float(2 * stats.t.sf(abs(t), self.df)) if self.df > 0 else math.nan


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over questions, its interval, and the p-value of "it is 0" (of a share: NaN). NaNs where there is none.

    ``events``: of a share, the rarer of right and wrong answers, of a difference of shares those that changed: as many
    independent questions would have; NaN of any other mean.
    """

    value: float
    low: float
    high: float
    error: Error
    p_value: float = math.nan
    events: float = math.nan

    @property
    def few_events(self) -> bool:
        """Whether the interval rests on too few answers that differ to cover as it should."""
        return self.events < FEW_EVENTS

    @property
    def doubt(self) -> str | None:
        """What makes the interval rough, in words; None where nothing does."""
        few = "few events: the interval is rough" if self.few_events else None
        return "; ".join(filter(None, (self.error.warning, few))) or None

    @property
    def tells(self) -> bool:
        """Whether the interval leaves out 0."""
        return self.low > 0 or self.high < 0


def share(right: Floats, clusters: Clusters, confidence: float = CONFIDENCE) -> Estimate:
    """Return the share of ones among ``right`` (0 or 1 a question, or a mean over its answers), in [0, 1].

    Where few clusters hold an answer of the rarer kind little is known of how questions hang together; the interval is
    never wider than that of clusters of one answer each, which is the most that they can.
    """
    if not len(right):
        return Estimate(math.nan, math.nan, math.nan, clustered_error(right, clusters))
    error = _with_few_events(clustered_error(right, clusters))
    rate = float(right.mean())
    n = _independent_answers(right, rate * (1 - rate), error)
    low, high = score_interval(rate, n, error.quantile(confidence))
    if 1 < clusters.count < len(right):
        sizes = clusters.sizes.astype(float)
        widest = replace(error, df=degrees_of_freedom(sizes, 1.0))
        at_most = score_interval(rate, sizes.sum() ** 2 / float((sizes**2).sum()), widest.quantile(confidence))
        low, high = min(((low, high), at_most), key=lambda ends: ends[1] - ends[0])
    return Estimate(rate, low, high, error, events=n * min(rate, 1 - rate))


def above_chance(right: Floats, chance: Floats, clusters: Clusters) -> Estimate:
    """Return how far a share lies above what guessing gives (``chance``, known for each question)."""
    found = share(right, clusters)
    if not len(right):
        return found
    expected = float(chance.mean())
    n = _independent_answers(right, found.value * (1 - found.value), found.error)
    spread = math.sqrt(float((chance * (1 - chance)).mean()) / n)
    value = found.value - expected
    p_value = found.error.p_value(value / spread) if spread > 0 else math.nan
    return Estimate(value, found.low - expected, found.high - expected, found.error, p_value, found.events)


def paired_difference(first: Floats, second: Floats, clusters: Clusters) -> Estimate:
    """Return second less first over the same questions, each 0 or 1, or a mean over its answers: in [-1, 1]."""
    difference = second - first
    error = clustered_error(difference, clusters)
    if not len(difference):
        return Estimate(math.nan, math.nan, math.nan, error)
    gained, lost = _changes(first, second)
    n = _independent_answers(difference, gained + lost - (gained - lost) ** 2, error)
    low, high = _tango_interval(gained, lost, n, error.quantile())
    p_value = error.p_value(_tango_score(gained, lost, n, 0.0))
    return Estimate(float(difference.mean()), low, high, error, p_value, events=n * (gained + lost))


def _with_few_events(error: Error) -> Error:
    """Return a share's error with no more degrees of freedom than its clusters with an answer of the rarer kind give.

    A single question's variance follows from the rate, whatever was seen: alone, questions need no such bound.
    """
    if error.clusters in (error.questions, 1):
        return error
    return replace(error, df=min(error.df, max(1.0, _DF_OF_A_RARE_CLUSTER * error.rare - 1)))


def _changes(first: Floats, second: Floats) -> tuple[float, float]:
    """Return the shares gained and lost from an answer of the first to one of the second, their difference the mean's.

    Of questions answered several times, as two answers drawn at random would have it.
    """
    difference = second - first
    if np.array_equal(difference, np.rint(difference)):
        return float((difference > 0).mean()), float((difference < 0).mean())
    one, two, seen = first.clip(0, 1), second.clip(0, 1), float(difference.mean())
    changed = max(abs(seen), float((one * (1 - two) + two * (1 - one)).mean()))
    return (changed + seen) / 2, (changed - seen) / 2


def _independent_answers(values: Floats, spread: float, error: Error) -> float:
    """Return how many single answers to independent questions say as much; ``spread``: the variance of one.

    Where questions were answered once these are `Error.effective_questions`; means over several answers vary less than
    one answer does, so that more single ones say as much (Korn and Graubard 1998: the variance of one over the mean's).
    """
    if np.array_equal(values, np.rint(values)) or math.isnan(error.design_effect) or spread <= 0:
        return error.effective_questions
    return spread / error.standard_error**2


def _tango_interval(gained: float, lost: float, n: float, t: float) -> tuple[float, float]:
    """Return the true differences that the score test does not reject; NaNs with fewer than two clusters."""
    seen = gained - lost
    if math.isnan(t):
        return math.nan, math.nan

    def bound(end: float) -> float:
        def excess(true: float) -> float:
            return abs(_tango_score(gained, lost, n, true)) - t

        return end if excess(end) <= 0 or seen == end else float(optimize.brentq(excess, seen, end))

    return bound(-1.0), bound(1.0)


def _tango_score(gained: float, lost: float, n: float, true: float) -> float:
    """Return how many standard errors the difference seen lies from a ``true`` one, the error being the true one's.

    ``gained``, ``lost``: shares of ``n`` questions. At a true difference of 0 this is McNemar's statistic. The share
    lost that is likeliest under ``true`` solves ``2 x² + b x + c = 0`` (Tango 1998).
    """
    b = -gained - lost + (2 - gained + lost) * true
    c = -lost * true * (1 - true)
    likeliest_lost = (math.sqrt(max(b * b - 8 * c, 0.0)) - b) / 4
    variance = max(2 * likeliest_lost + true * (1 - true), 0.0) / n
    away = gained - lost - true
    return away / math.sqrt(variance) if variance > 0 else math.copysign(math.inf, away) if away else 0.0


def mean(values: Floats, clusters: Clusters, confidence: float = CONFIDENCE) -> Estimate:
    """Return the mean of any values, one a question: ``value ± t · error``. For shares there is `share`.

    Where all values are equal the p-value is that of the clusters' signs, all that is left to count, and there is an
    interval only where that is small enough.
    """
    error = clustered_error(values, clusters)
    value = float(values.mean()) if len(values) else math.nan
    margin = error.quantile(confidence) * error.standard_error
    if error.standard_error > 1e-12:
        p_value = error.p_value(value / error.standard_error)
    else:
        p_value = 2.0 ** (1 - error.clusters) if value else 1.0
        margin = margin if p_value <= 1 - confidence else math.nan
    return Estimate(value, value - margin, value + margin, error, p_value)


def clustered_error(values: Floats, clusters: Clusters) -> Error:
    """Return the error of the mean of ``values``, one a question."""
    n = len(values)
    if clusters.count < 2:
        return Error(n, clusters.count, math.nan, 0.0, math.nan, clusters.largest_share, clusters.count)
    sizes = clusters.sizes.astype(float)
    # A mean's CR2 in closed form: a cluster's residuals, summed, over the root of one less its leverage.
    scaled = clusters.sums(values - values.mean()) / np.sqrt(1 - sizes / n) / n
    variance = float((scaled**2).sum())
    independent = float(values.var(ddof=1)) / n
    # Rounding leaves a little variance where all values are equal.
    differ = independent > 1e-12 and variance > 1e-12 * independent
    df = degrees_of_freedom(sizes, correlation(values, clusters))
    effect = variance / independent if differ else math.nan
    return Error(n, clusters.count, math.sqrt(variance), df, effect, clusters.largest_share, _rare(values, clusters))


def _rare(values: Floats, clusters: Clusters) -> int:
    """Return how many clusters hold a value other than the commonest one."""
    kinds, counts = np.unique(values, return_counts=True)
    return len(np.unique(clusters.of[values != kinds[counts.argmax()]]))


def degrees_of_freedom(sizes: Floats, correlation: float) -> float:
    """Return Satterthwaite's degrees of freedom of CR2's variance, tr(G)² / tr(G²), under one correlation in clusters.

    ``sizes``: the clusters' numbers of questions, two clusters at least.
    """
    portion = sizes / sizes.sum()
    sums = sizes * (1 - correlation) + sizes**2 * correlation  # variances of the clusters' sums
    total = float(sums.sum())
    weight = 1 / (1 - portion)
    diagonal = weight * (sums - 2 * portion * sums + total * portion**2)
    # Covariances between clusters, w_g·w_h·(S·p_g·p_h - p_g·s_h - s_g·p_h), squared and added up without the matrix.
    pp, ps, ss = (float((weight * a * b).sum()) for a, b in ((portion, portion), (portion, sums), (sums, sums)))
    whole = 2 * pp * ss + (total * pp) ** 2 + 2 * ps**2 - 4 * total * pp * ps
    own = weight**2 * (total * portion**2 - 2 * portion * sums) ** 2
    return float(diagonal.sum() ** 2 / (whole - own.sum() + (diagonal**2).sum()))


def correlation(values: Floats, clusters: Clusters) -> float:
    """Return the correlation within clusters by analysis of variance, held in [0, 1]; 0 where it cannot be told."""
    n, count, sizes = len(values), clusters.count, clusters.sizes.astype(float)
    if count < 2 or n == count:
        return 0.0
    means = clusters.sums(values) / sizes
    between = float((sizes * (means - values.mean()) ** 2).sum()) / (count - 1)
    within = float(((values - means[clusters.of]) ** 2).sum()) / (n - count)
    typical_size = (n - float((sizes**2).sum()) / n) / (count - 1)
    spread = between + (typical_size - 1) * within
    return min(1.0, max(0.0, (between - within) / spread)) if spread > 0 else 0.0


def sign_flip(differences: Floats, clusters: Clusters, parts: int = 1) -> float:
    """Return the exact two-sided p-value that each cluster's sum of differences is as likely of either sign.

    ``differences`` are multiples of 1 / ``parts``: -1, 0, 1 of two runs, right and wrong, and then with every question
    a cluster this is McNemar's exact test; of means over several answers fractions. The distribution of the total is
    built up cluster by cluster, so nothing is drawn. Raises ``ValueError`` for other differences.
    """
    whole = np.rint(differences * parts)
    if not np.allclose(whole, differences * parts, rtol=0, atol=1e-6):
        raise ValueError(f"sign_flip takes whole multiples of 1/{parts}")
    sums = clusters.sums(whole) if len(whole) else np.zeros(0)
    steps = np.abs(sums).astype(int)
    reach = int(steps.sum())
    chances = np.ones(1)  # of totals -reach_so_far, -reach_so_far + 2, …
    for step in steps[steps > 0]:
        wider = np.zeros(len(chances) + int(step))
        wider[: len(chances)] += chances / 2
        wider[int(step) :] += chances / 2
        chances = wider
    totals = np.arange(-reach, reach + 1, 2)
    return min(1.0, float(chances[np.abs(totals) >= abs(round(float(sums.sum())))].sum()))
