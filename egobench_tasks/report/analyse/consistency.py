"""Does an answer depend on the order of the options? The same questions, asked in several orders."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from egobench_tasks.report.analyse.clusters import Clusters
from egobench_tasks.report.analyse.estimates import CONFIDENCE, Estimate, mean, share
from egobench_tasks.report.analyse.statistics import Floats
from egobench_tasks.report.analyse.variants import FULL, Paired, Variants

PERMUTATION = "perm"
"""How the probes' names begin that show the options in another order."""


@dataclass(frozen=True, slots=True)
class Position:
    """How much oftener than evenly a position among the options is chosen. ``place``: 1 for the first shown.

    ``estimate``: share of all choices at this place less the share that falls to it evenly, with an interval and a
    p-value that allow for having looked at every place (Bonferroni).
    """

    place: int
    estimate: Estimate


@dataclass(frozen=True, slots=True)
class Consistency:
    """Answers over ``orders`` orders of the options, the benchmark's own among them.

    ``same``: share of questions with the same set throughout. ``circular``: share right in all orders (of
    questions answered several times both are of one answer an order, drawn at random). ``majority``:
    share whose most frequent set is right; sets that are equally frequent count in part. ``plain``: exact in the
    benchmark's order. ``entropy_bits``: of the place of what was chosen; ``even_bits``: where no place is preferred.
    ``position``: the place with the strongest preference, for or against it; None where nothing was chosen.
    ``steady``: by question id, 1 where the set is the same throughout, else 0.
    """

    orders: int
    questions: int
    plain: Estimate
    same: Estimate
    circular: Estimate
    majority: Estimate
    entropy_bits: float
    even_bits: float
    position: Position | None
    steady: pd.Series


def consistency(variants: Variants) -> Consistency | None:
    """Return how steady answers are over option orders; None where the run answered in one order alone."""
    names = [FULL, *(name for name in variants.ways if name.startswith(PERMUTATION))]
    found = variants.paired(names)
    if found is None or len(names) < 2:
        return None
    clusters, orders = found.clusters, range(len(names))
    sets = list(zip(*(found.answers(order) for order in orders), strict=True))
    right = np.column_stack([found.exact(order) for order in orders])
    same = np.array([_same_throughout(answers) for answers in sets], dtype=np.float64)
    rights = zip(*(found.ways[order]["rights"] for order in orders), strict=True)
    majority = np.array([_majority(answers, exact) for answers, exact in zip(sets, rights, strict=True)])
    chosen, even = _places(found)
    return Consistency(
        orders=len(names),
        questions=len(found),
        plain=share(right[:, 0], clusters),
        same=share(same, clusters),
        circular=share(right.prod(axis=1), clusters),
        majority=mean(majority, clusters) if ((majority > 0) & (majority < 1)).any() else share(majority, clusters),
        entropy_bits=entropy_bits(chosen.sum(axis=0)),
        even_bits=entropy_bits(even.sum(axis=0)),
        position=_strongest(chosen, even, clusters),
        steady=found.by_question(same),
    )


def _same_throughout(answers: Sequence[Sequence[str]]) -> float:
    """The chance that one answer of each order, drawn at random, are one set; 1 or 0 of one answer an order."""
    chances = (math.prod(mine.count(one) / len(mine) for mine in answers) for one in set(answers[0]) if one != "")
    return float(sum(chances))


def _majority(answers: Sequence[Sequence[str]], rights: Sequence[Sequence[float]]) -> float:
    """`majority_exact` over all answers in all orders."""
    every = [answer for mine in answers for answer in mine]
    return majority_exact(every, np.array([right for mine in rights for right in mine]))


def entropy_bits(counts: Floats) -> float:
    """Return the entropy in bits of a distribution given by its counts; NaN where there are none."""
    total = float(counts.sum())
    if total <= 0:
        return math.nan
    portions = counts[counts > 0] / total
    return float(-(portions * np.log2(portions)).sum()) + 0.0


def majority_exact(answers: Sequence[str], exact: Floats) -> float:
    """The share of the most frequent sets (one, or several as frequent) that are right; no answer is a set too."""
    counts = Counter(answers)
    most = max(counts.values())
    right = dict(zip(answers, exact, strict=True))
    return float(np.mean([right[answer] for answer, count in counts.items() if count == most]))


def _places(found: Paired) -> tuple[Floats, Floats]:
    """Count the choices of each question (rows) at each place (columns), and what would fall there evenly.

    Orders are drawn: whoever chooses by content chooses every place of a question alike.
    """
    n_places = max(len(letters) for way in found.ways for letters in way["shown_letters"])
    chosen, even = np.zeros((len(found), n_places)), np.zeros((len(found), n_places))
    for way in found.ways:
        for row, (shown, answers) in enumerate(zip(way["shown_letters"], way["places"], strict=True)):
            for picked in answers:
                for letter in picked:
                    chosen[row, shown.index(letter)] += 1
                even[row, : len(shown)] += len(picked) / len(shown)
    return chosen, even


def _strongest(chosen: Floats, even: Floats, clusters: Clusters) -> Position | None:
    total = float(chosen.sum())
    if not total:
        return None
    # Per question, scaled so that the mean over questions is the share of all choices.
    excess = (chosen - even) * len(chosen) / total
    n_places = chosen.shape[1]
    found = [mean(excess[:, place], clusters, 1 - (1 - CONFIDENCE) / n_places) for place in range(n_places)]
    place = max(range(n_places), key=lambda index: abs(_score(found[index])))
    best = found[place]
    corrected = Estimate(best.value, best.low, best.high, best.error, min(1.0, n_places * best.p_value))
    return Position(place + 1, corrected)


def _score(estimate: Estimate) -> float:
    error = estimate.error.standard_error
    return estimate.value / max(error, 1e-12)
