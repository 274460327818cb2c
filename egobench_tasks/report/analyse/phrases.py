"""How an estimate is put in words: figures with their intervals, and what they rest on."""

import math
from collections.abc import Callable

from egobench_tasks.report.analyse.estimates import Estimate
from egobench_tasks.report.analyse.tables import Kind, show


def head(estimate: Estimate, rises: str, falls: str, doubt: str) -> str:
    """Return what a sentence begins with: what the interval shows, or that it shows nothing."""
    if not estimate.tells:
        return doubt
    return rises if estimate.low > 0 else falls


def _interval(estimate: Estimate, write: Callable[[float], str]) -> str:
    if math.isnan(estimate.low):
        return "no interval: all questions hang together"
    return f"{write(estimate.low)} to {write(estimate.high)}"


def points(estimate: Estimate) -> str:
    """Return a difference in points with its interval."""
    return f"{show(estimate.value, Kind.POINTS)} points ({_interval(estimate, lambda value: show(value, Kind.POINTS))})"


def percent_of(estimate: Estimate) -> str:
    """Return a share in per cent with its interval."""
    bounds = _interval(estimate, lambda value: show(value, Kind.PERCENT))
    return f"{percent(estimate.value)} ({bounds})"


def percent(value: float) -> str:
    """Return a rate in per cent."""
    return f"{show(float(value), Kind.PERCENT)} %"


def basis(estimate: Estimate) -> str:
    """Return how many questions and clusters an estimate rests on, and what makes it doubtful."""
    error = estimate.error
    rests_on = f" in {error.clusters:,} clusters" if error.warning is None else f", {error.warning}"
    few = ", few events: the interval is rough" if estimate.few_events else ""
    return f"{error.questions:,} questions{rests_on}{few}"
