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
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    rate = successes / total
    scale = 1 + z**2 / total
    centre = (rate + z**2 / (2 * total)) / scale
    margin = z / scale * math.sqrt(rate * (1 - rate) / total + z**2 / (4 * total**2))
    return max(0.0, centre - margin), min(1.0, centre + margin)
