"""How sure a share is: the Wilson score interval (PROTOCOL 1.4)."""

import math
from statistics import NormalDist


def wilson_interval(successes: float, total: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the Wilson score interval of a proportion, as (low, high); NaNs for no questions.

    Raises ``ValueError`` where successes lie outside [0, total].
    """
    if not 0 <= successes <= total:
        raise ValueError(f"successes must lie in [0, {total}], got {successes}")
    if total == 0:
        return math.nan, math.nan
    return score_interval(successes / total, total, NormalDist().inv_cdf((1 + confidence) / 2))


def score_interval(rate: float, n: float, factor: float) -> tuple[float, float]:
    """Return Wilson's interval of a rate among ``n`` independent answers; ``factor``: standard errors to either side,
    NaN for no interval."""
    if math.isnan(factor):
        return math.nan, math.nan
    scale = 1 + factor**2 / n
    centre = (rate + factor**2 / (2 * n)) / scale
    margin = factor / scale * math.sqrt(rate * (1 - rate) / n + factor**2 / (4 * n**2))
    return max(0.0, centre - margin), min(1.0, centre + margin)
