"""Do answers stay or move between two ways of asking? Of questions answered several times every two answers count.

A share "of the answers that were right" is a ratio of two means over questions: how many pairs of answers moved and
began right, over how many began right. Its error is that of the ratio's linearisation (the delta method), one value a
question, whose mean is the ratio; with one answer a question the values are 1 and 0.
"""

from collections.abc import Callable, Sequence

import numpy as np

from egobench_tasks.report.analyse.statistics import Floats

Answers = Sequence[tuple[str, ...]]
"""Each question's answers, as sets of letters; empty for none."""


def moved(first: str, second: str) -> bool:
    """Whether another set was answered; no answer is no other set."""
    return second not in ("", first)


def stayed(first: str, second: str) -> bool:
    """Whether the same set was answered."""
    return first == second


def ratio_values(
    counts: Sequence[Sequence[bool]], first: Answers, second: Answers, holds: Callable[[str, str], bool]
) -> Floats:
    """Return one value a question, their mean the share of pairs that hold among those whose first answer counts.

    ``counts``: for each question and first answer whether it counts, one at least in all.
    """
    weights = np.array([np.mean(row) for row in counts], dtype=np.float64)
    held = np.array(
        [
            np.mean([counted and holds(a, b) for counted, a in zip(row, ones, strict=True) for b in others])
            for row, ones, others in zip(counts, first, second, strict=True)
        ],
        dtype=np.float64,
    )
    ratio = held.sum() / weights.sum()
    return np.asarray(ratio + (held - ratio * weights) / weights.mean(), dtype=np.float64)


def asked_again(counts: Sequence[Sequence[bool]], answers: Answers, holds: Callable[[str, str], bool]) -> float | None:
    """Return how often a pair of a question's own answers holds, the first counting: what luck alone does.

    None where questions were asked once.
    """
    pairs = [
        holds(a, b)
        for row, mine in zip(counts, answers, strict=True)
        for i, (counted, a) in enumerate(zip(row, mine, strict=True))
        for j, b in enumerate(mine)
        if counted and i != j
    ]
    return float(np.mean(pairs)) if pairs else None
