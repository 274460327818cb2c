"""Scores of one question and chance levels (PROTOCOL 1.4). Pure arithmetic."""

import math
from collections.abc import Iterable, Set
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ChoiceScore:
    """Scores of one multiple-choice question, each in [0, 1]; all zero where there is no answer."""

    exact_set: float
    jaccard: float
    overlap: float
    wellformed: float
    answered: float


NO_ANSWER = ChoiceScore(0.0, 0.0, 0.0, 0.0, 0.0)


def score_choice(predicted: Set[str] | None, gold: Set[str]) -> ChoiceScore:
    """Score a predicted set of letters P against the gold set G (PROTOCOL 1.4).

    ``exact_set`` = P == G, ``jaccard`` = |P∩G|/|P∪G|, ``overlap`` = |P∩G|/|G|, ``wellformed`` =
    |P| == |G|, ``answered`` = there is a P. No answer (None or empty) scores 0 in all of them.
    Raises ``ValueError`` where gold is empty.
    """
    if not gold:
        raise ValueError("gold is empty: a question needs at least one right option")
    if not predicted:
        return NO_ANSWER
    shared = len(predicted & gold)
    return ChoiceScore(
        exact_set=float(predicted == gold),
        jaccard=shared / len(predicted | gold),
        overlap=shared / len(gold),
        wellformed=float(len(predicted) == len(gold)),
        answered=1.0,
    )


def chance_exact(n_options: int, n_select: int) -> float:
    """Return the probability that n_select options drawn at random are exactly the right ones."""
    _check_counts(n_options, n_select)
    return 1 / math.comb(n_options, n_select)


def chance_overlap(questions: Iterable[tuple[int, int]]) -> float:
    """Return the expected overlap of a random guess over (n_options, n_select) pairs.

    Averaged over answer slots, as the paper does: sum(n²/options) / sum(n). NaN for no questions.
    """
    expected_hits, slots = 0.0, 0
    for n_options, n_select in questions:
        _check_counts(n_options, n_select)
        expected_hits += n_select**2 / n_options
        slots += n_select
    return expected_hits / slots if slots else math.nan


def kappa(accuracy: float, chance: float) -> float:
    """Return chance-normalised accuracy (accuracy - chance)/(1 - chance): 0 guesses, 1 is perfect.

    Both averaged over the same questions. NaN where chance is 1 (nothing can be told apart).
    """
    return (accuracy - chance) / (1 - chance) if chance < 1 else math.nan


def _check_counts(n_options: int, n_select: int) -> None:
    if not 1 <= n_select <= n_options:
        raise ValueError(f"n_select must lie in [1, {n_options}] (the number of options), got {n_select}")
