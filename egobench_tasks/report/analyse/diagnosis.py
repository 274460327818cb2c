"""What probes say of a model: does it see, bind what it sees to the right clip, follow order? (DIAGNOSE.md)

Every statement compares answers to the same questions, allows for questions that hang together, and says "cannot tell"
where its interval does.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from egobench_tasks.asking.probes import PROBES, Probe
from egobench_tasks.report.analyse import phrases
from egobench_tasks.report.analyse.consistency import PERMUTATION, consistency
from egobench_tasks.report.analyse.estimates import (
    Estimate,
    above_chance,
    paired_difference,
    share,
)
from egobench_tasks.report.analyse.power import smallest_seen
from egobench_tasks.report.analyse.statistics import Floats
from egobench_tasks.report.analyse.steadiness import asked_again, moved, ratio_values, stayed
from egobench_tasks.report.analyse.tables import Kind
from egobench_tasks.report.analyse.variants import FULL, Paired, Variants

CANNOT_TELL = "cannot tell"
WIDE = 0.5
"""A share whose interval is wider than this is none to quote."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One finding on one model. ``kind``: points (a difference) or per cent (a share).

    ``sentence`` can be quoted as it stands. ``tells``: whether the interval allows the claim that it makes.
    ``smallest``: the least true difference that this comparison would have found four times in five; NaN of a share.
    ``values``: what each question adds, by its id, their mean the finding; None where they add up to none.
    """

    key: str
    title: str
    kind: Kind
    estimate: Estimate
    tells: bool
    smallest: float
    sentence: str
    values: pd.Series | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Contrast:
    """Exact under one way of asking less exact under another; ``rises``, ``falls``, ``doubt`` head its sentence."""

    key: str
    title: str
    more: str
    less: str
    rises: str
    falls: str
    doubt: str


CONTRASTS = (
    Contrast(
        "sight",
        "Sight: full less blind",
        FULL,
        "blind",
        "It uses the frames",
        "The frames mislead it",
        "Cannot tell whether it uses the frames",
    ),
    Contrast(
        "still",
        "Still: center less blind",
        "center",
        "blind",
        "One frame a clip helps it",
        "One frame a clip misleads it",
        "Cannot tell whether one frame a clip helps it",
    ),
    Contrast(
        "order",
        "Order: full less shuffled",
        FULL,
        "shuffled",
        "It uses the order of the frames",
        "It does better with the frames shuffled",
        "Cannot tell whether it uses the order of the frames",
    ),
    Contrast(
        "direction",
        "Direction: full less reversed",
        FULL,
        "reversed",
        "It uses the direction of time",
        "It does better with the frames backwards",
        "Cannot tell whether it uses the direction of time",
    ),
)
INDIFFERENT = {
    "reordered": ("its clips in another order", "Indifference to the clips' order"),
    "renamed": ("its labels renamed", "Indifference to the labels' names"),
}
"""Shorter words than a probe's own, and a title that says what it is indifferent to."""


def statements(variants: Variants) -> list[Statement]:
    """Return what the answers at hand allow to say, in the order in which a page shows it."""
    contrasts = {contrast.key: _contrast(contrast, variants) for contrast in CONTRASTS}
    found = [
        contrasts["sight"],
        _words(variants),
        contrasts["still"],
        contrasts["order"],
        contrasts["direction"],
        _binding(variants),
        _implied(variants),
        *(_indifference(variants, probe) for probe in PROBES.values() if _judged_by_sets(probe)),
        *_steadiness(variants),
    ]
    return [statement for statement in found if statement is not None]


def _contrast(contrast: Contrast, variants: Variants) -> Statement | None:
    found = variants.paired([contrast.more, contrast.less])
    if found is None:
        return None
    more, less = found.exact(0), found.exact(1)
    estimate = paired_difference(less, more, found.clusters)
    head = phrases.head(estimate, contrast.rises, contrast.falls, contrast.doubt)
    rates = f"{phrases.percent(more.mean())} {contrast.more}, {phrases.percent(less.mean())} {contrast.less}"
    return Statement(
        contrast.key,
        contrast.title,
        Kind.POINTS,
        estimate,
        estimate.tells,
        _smallest(estimate, more - less),
        f"{head}: {phrases.points(estimate)}; {rates}, {phrases.basis(estimate)}.",
        found.by_question(more - less),
    )


def _words(variants: Variants) -> Statement | None:
    found = variants.paired(["blind"])
    if found is None:
        return None
    right, chance = found.exact(0), found.ways[0]["chance"].to_numpy(dtype=np.float64)
    estimate = above_chance(right, chance, found.clusters)
    head = phrases.head(
        estimate,
        "Words alone answer some questions",
        "Without frames it does worse than guessing",
        "Cannot tell whether words alone answer more than guessing does",
    )
    rates = f"{phrases.percent(right.mean())} blind, {phrases.percent(chance.mean())} by chance"
    sentence = f"{head}: {phrases.points(estimate)}; {rates}, {phrases.basis(estimate)}."
    title = "Words: blind less chance"
    values = found.by_question(right - chance)
    return Statement("words", title, Kind.POINTS, estimate, estimate.tells, math.nan, sentence, values)


def _moves(found: Paired, way: int) -> Floats:
    """Of the first way's right answers, how many another set stands for in this way: see `ratio_values`."""
    return ratio_values(_rights(found), found.answers(0), found.answers(way), moved)


def _rights(found: Paired) -> list[list[bool]]:
    return [[one > 0 for one in rights] for rights in found.ways[0]["rights"]]


def _answered(found: Paired) -> list[list[bool]]:
    return [[one != "" for one in answers] for answers in found.answers(0)]


def _again(counts: list[list[bool]], found: Paired, holds: Callable[[str, str], bool], words: str) -> str:
    """Say what asking the same again does; empty where questions were asked once."""
    luck = asked_again(counts, found.answers(0), holds)
    return "" if luck is None else f", {phrases.percent(luck)} {words} when asked again unchanged"


def _right_in_full(variants: Variants) -> Variants:
    full = variants.ways[FULL]
    return variants.only(set(full.index[full["exact_set"] > 0]))


def _binding(variants: Variants) -> Statement | None:
    """Of the questions right on full: how many answers move with exchanged headings, beyond those that move anyway."""
    right = _right_in_full(variants)
    found = right.paired([FULL, "swapped"])
    if found is None:
        return None
    moves = _moves(found, 1)
    estimate = share(moves, found.clusters)
    words = f"{phrases.percent_of(estimate)} of the answers that were right change when two headings are exchanged"
    beside = right.paired([FULL, "swapped", "reordered"])
    if beside is None:
        head, tells, smallest = _neutral(estimate, "Binding", "Cannot tell how far it binds what it sees to labels")
        more = _again(_rights(found), found, moved, "do so")
    else:
        swapped, reordered = _moves(beside, 1), _moves(beside, 2)
        net = paired_difference(reordered, swapped, beside.clusters)
        head = phrases.head(
            net,
            "It binds what it sees to the clips' labels",
            "Its answers follow the clips' order more than their labels",
            "Cannot tell whether it binds what it sees to the clips' labels",
        )
        tells, smallest = net.tells, _smallest(net, swapped - reordered)
        more = f", {phrases.percent(reordered.mean())} when the clips are only reordered"
        more += f" (difference {phrases.points(net)})"
    sentence = f"{head}: {words}{more}; {phrases.basis(estimate)}."
    title = "Binding: moves when headings are exchanged"
    return Statement("binding", title, Kind.PERCENT, estimate, tells, smallest, sentence, found.by_question(moves))


def _implied(variants: Variants) -> Statement | None:
    found = _right_in_full(variants).paired([FULL, "swapped"])
    if found is None:
        return None
    implied = found.ways[1]["implied"]
    gold = pd.Series(_right_sets(found), index=implied.index)
    known = (implied != "") & (implied != gold)
    if not known.any():
        return None
    found = Paired(tuple(way[known] for way in found.ways))
    due = dict(zip(found.ways[0].index, implied[known], strict=True))
    hits = ratio_values(
        _rights(found),
        [(due[question_id],) * len(rights) for question_id, rights in found.ways[0]["rights"].items()],
        found.answers(1),
        stayed,
    )
    estimate = share(hits, found.clusters)
    head, tells, smallest = _neutral(estimate, "Binding, to the letter", "Cannot tell if answers move as they must")
    sentence = (
        f"{head}: {phrases.percent_of(estimate)} of the answers that were right become exactly what exchanged headings "
        f"imply; {phrases.basis(estimate)}."
    )
    title = "Binding to the letter: moves to what the headings imply"
    values = found.by_question(hits)
    return Statement("binding_implied", title, Kind.PERCENT, estimate, tells, smallest, sentence, values)


def _right_sets(found: Paired) -> list[str]:
    """The right set of each question, which one of its answers at least is."""
    pairs = zip(found.answers(0), _rights(found), strict=True)
    return [next(answer for answer, right in zip(*pair, strict=True) if right) for pair in pairs]


def _judged_by_sets(probe: Probe) -> bool:
    """Whether the same set is due under it; of the options' orders `consistency` tells all together."""
    return probe.same_answer and not probe.name.startswith(PERMUTATION)


def _indifference(variants: Variants, probe: Probe) -> Statement | None:
    changed, title = INDIFFERENT.get(probe.name, (probe.changes, f"Indifference to {probe.name}"))
    full = variants.ways[FULL]
    found = variants.only(set(full.index[[any(answers) for answers in full["answers"]]])).paired([FULL, probe.name])
    if found is None:
        return None
    same = ratio_values(_answered(found), found.answers(0), found.answers(1), stayed)
    estimate = share(same, found.clusters)
    head, tells, smallest = _neutral(estimate, title, f"Cannot tell how far answers stay with {changed}")
    sentence = f"{head}: {phrases.percent_of(estimate)} of its answers stay the same with {changed}"
    sentence += f"{_again(_answered(found), found, stayed, 'do')}; {phrases.basis(estimate)}."
    values = found.by_question(same)
    return Statement(f"same_{probe.name}", title, Kind.PERCENT, estimate, tells, smallest, sentence, values)


def _steadiness(variants: Variants) -> list[Statement | None]:
    found = consistency(variants)
    if found is None:
        return []
    orders = f"{found.orders} orders of the options"
    head, tells, smallest = _neutral(found.same, "Consistency", "Cannot tell how steady its answers are")
    text = f"{head}: {phrases.percent_of(found.same)} of its answers stay the same in {orders}, "
    text += f"{phrases.percent_of(found.circular)} are right "
    text += f"in all of them; {phrases.basis(found.same)}."
    title = "Consistency over option orders"
    same = Statement("same_orders", title, Kind.PERCENT, found.same, tells, smallest, text, found.steady)
    return [same, _position(found.position.place, found.position.estimate, orders) if found.position else None]


def _position(place: int, estimate: Estimate, orders: str) -> Statement:
    head = phrases.head(
        estimate,
        f"It prefers place {place} among the options",
        f"It avoids place {place} among the options",
        "Cannot tell whether it prefers a place among the options",
    )
    text = (
        f"{head}: {phrases.points(estimate)} against an even share, place {place}, the strongest of all, in {orders}; "
    )
    text += f"{phrases.basis(estimate)}."
    title = "Position: strongest preference for a place"
    return Statement("position", title, Kind.POINTS, estimate, estimate.tells, math.nan, text)


def _neutral(estimate: Estimate, head: str, doubt: str) -> tuple[str, bool, float]:
    """Of a share there is no test: it is told unless its interval is too wide to quote."""
    tells = estimate.high - estimate.low <= WIDE
    return (head if tells else doubt), tells, math.nan


def _smallest(estimate: Estimate, differences: Floats) -> float:
    return smallest_seen(estimate.error, float((differences**2).mean()))
