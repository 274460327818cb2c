"""How small a difference a comparison could have shown, before and after a run. Pure arithmetic.

The test is the one the reports print: `estimates.paired_difference`, two-sided at 5 %. Its power follows from how often
two runs differ on a question (discordance), the number of questions, the repeats of each, and the clusters.
Source: Miller 2024 (arXiv 2411.00640), sections on paired differences, repeats and power.
"""

import functools
import math
from dataclasses import dataclass

import numpy as np
from scipy import optimize, special, stats

from egobench_tasks.report.analyse.estimates import Error
from egobench_tasks.report.analyse.statistics import Floats

LEVEL, POWER = 0.05, 0.80
_N_SCALES = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """A comparison of two runs on the same questions.

    ``discordance``: the share of questions on which single answers of the two are one right and one wrong, in (0, 1].
    ``within``: the variance of that difference that comes from answering anew, the sum of both runs' variance within
    questions: what repeats take away. ``design_effect``: see `estimates.Error`. ``df``: degrees of freedom, the
    number of clusters less one unless sizes say otherwise. Raises ``ValueError`` for what lies outside these bounds.
    """

    questions: float
    df: float
    discordance: float
    design_effect: float = 1.0
    repeats: int = 1
    within: float = 0.0

    def __post_init__(self) -> None:
        if not (self.questions > 0 and self.df > 0 and 0 < self.discordance <= 1 and self.design_effect > 0):
            raise ValueError(f"not a design that can be run: {self}")
        if self.repeats < 1 or not 0 <= self.within <= self.discordance:
            raise ValueError(f"repeats must be 1 or more, within in [0, discordance]: {self}")

    @property
    def effective_questions(self) -> float:
        """How many independent questions say as much."""
        return self.questions / self.design_effect

    @property
    def spread(self) -> float:
        """The mean square of a question's difference, over its repeats: `discordance` where there is one answer."""
        return self.discordance - self.within * (1 - 1 / self.repeats)


def design_effect(questions: int, clusters: int, correlation: float) -> float:
    """Return the design effect of ``clusters`` of equal size: 1 + (size - 1) · correlation (Kish)."""
    return 1 + (questions / clusters - 1) * correlation


def power(design: Design, difference: float) -> float:
    """Return the chance that the test finds a true difference (of shares, in [0, 1]), in [0, 1]."""
    n = design.effective_questions
    spread = max(design.spread, abs(difference))
    error = math.sqrt(max(spread - difference**2, 1e-12) / n)
    # The test divides by the error that there would be without a difference (McNemar's, Tango's at 0).
    threshold = float(stats.t.ppf(1 - LEVEL / 2, design.df)) * math.sqrt(spread / n) / error
    shift, scales = difference / error, _scales(design.df)
    found = special.ndtr(shift - threshold * scales) + special.ndtr(-shift - threshold * scales)
    return float(found.mean())


@functools.lru_cache(maxsize=4096)
def _scales(df: float) -> Floats:
    """Equally likely ratios of estimated to true error: Student's t is a normal over one of them.

    scipy's own noncentral t is NaN for some shifts.
    """
    return np.sqrt(stats.chi2.ppf((np.arange(_N_SCALES) + 0.5) / _N_SCALES, df) / df)


def seen_design(error: Error, discordance: float) -> Design | None:
    """Return the design of a comparison that was made, from its error; None where that cannot be told.

    ``discordance`` is the share of questions on which the two differed; where none did, what one question would be.
    """
    if not error.df > 0:
        return None
    n = error.effective_questions
    return Design(
        questions=error.questions,
        df=error.df,
        discordance=min(1.0, max(discordance, 1 / n)),
        design_effect=error.questions / n,
    )


def smallest_seen(error: Error, discordance: float) -> float:
    """Return `smallest_difference` of a comparison that was made (see `seen_design`); NaN where it cannot be told."""
    design = seen_design(error, discordance)
    return smallest_difference(design) if design else math.nan


def smallest_difference(design: Design) -> float:
    """Return the true difference that the test finds four times in five; NaN where not even the largest is."""
    if power(design, 1.0) < POWER:
        return math.nan
    return float(optimize.brentq(lambda difference: power(design, difference) - POWER, 1e-6, 1.0))
