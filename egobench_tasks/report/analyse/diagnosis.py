"""What probes say of a model: does it see, bind what it sees to the right clip, follow order? (DIAGNOSE.md)

Every statement compares answers to the same questions, allows for questions that hang together, and says "cannot tell"
where its interval does.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from egobench_tasks.report.analyse.consistency import consistency
from egobench_tasks.report.analyse.estimates import (
    Estimate,
    above_chance,
    paired_difference,
    share,
)
from egobench_tasks.report.analyse.power import smallest_seen
from egobench_tasks.report.analyse.statistics import Floats
from egobench_tasks.report.analyse.tables import Kind, show
from egobench_tasks.report.analyse.variants import FULL, Paired, Variants

CANNOT_TELL = "cannot tell"
WIDE = 0.5
"""A share whose interval is wider than this is none to quote."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One finding on one model. ``kind``: points (a difference) or per cent (a share).

    ``sentence`` can be quoted as it stands. ``tells``: whether the interval allows the claim that it makes.
    ``smallest``: the least true difference that this comparison would have found four times in five; NaN of a share.
    """

    key: str
    title: str
    kind: Kind
    estimate: Estimate
    tells: bool
    smallest: float
    sentence: str


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
        *(_indifference(variants, probe) for probe in INDIFFERENT),
        *_steadiness(variants),
    ]
    return [statement for statement in found if statement is not None]


def _contrast(contrast: Contrast, variants: Variants) -> Statement | None:
    found = variants.paired([contrast.more, contrast.less])
    if found is None:
        return None
    more, less = found.exact(0), found.exact(1)
    estimate = paired_difference(less, more, found.clusters)
    head = _head(estimate, contrast.rises, contrast.falls, contrast.doubt)
    rates = f"{_percent(more.mean())} {contrast.more}, {_percent(less.mean())} {contrast.less}"
    return Statement(
        contrast.key,
        contrast.title,
        Kind.POINTS,
        estimate,
        estimate.tells,
        _smallest(estimate, more - less),
        f"{head}: {_points(estimate)}; {rates}, {_basis(estimate)}.",
    )


def _words(variants: Variants) -> Statement | None:
    found = variants.paired(["blind"])
    if found is None:
        return None
    right, chance = found.exact(0), found.ways[0]["chance"].to_numpy(dtype=np.float64)
    estimate = above_chance(right, chance, found.clusters)
    head = _head(
        estimate,
        "Words alone answer some questions",
        "Without frames it does worse than guessing",
        "Cannot tell whether words alone answer more than guessing does",
    )
    rates = f"{_percent(right.mean())} blind, {_percent(chance.mean())} by chance"
    sentence = f"{head}: {_points(estimate)}; {rates}, {_basis(estimate)}."
    return Statement("words", "Words: blind less chance", Kind.POINTS, estimate, estimate.tells, math.nan, sentence)


def _moves(found: Paired, way: int) -> Floats:
    """1 where another set was answered than in the first way; no answer is no other set."""
    sets = zip(found.sets(0), found.sets(way), strict=True)
    return np.array([other not in ("", first) for first, other in sets], dtype=np.float64)


def _right_in_full(variants: Variants) -> Variants:
    full = variants.ways[FULL]
    return variants.only(set(full.index[full["exact_set"] > 0]))


def _binding(variants: Variants) -> Statement | None:
    """Of the questions right on full: how many answers move with exchanged headings, beyond those that move anyway."""
    right = _right_in_full(variants)
    found = right.paired([FULL, "swapped"])
    if found is None:
        return None
    estimate = share(_moves(found, 1), found.clusters)
    words = f"{_share(estimate)} of the answers that were right change when two headings are exchanged"
    beside = right.paired([FULL, "swapped", "reordered"])
    if beside is None:
        head, tells, smallest = _neutral(estimate, "Binding", "Cannot tell how far it binds what it sees to labels")
        more = ""
    else:
        swapped, reordered = _moves(beside, 1), _moves(beside, 2)
        net = paired_difference(reordered, swapped, beside.clusters)
        head = _head(
            net,
            "It binds what it sees to the clips' labels",
            "Its answers follow the clips' order more than their labels",
            "Cannot tell whether it binds what it sees to the clips' labels",
        )
        tells, smallest = net.tells, _smallest(net, swapped - reordered)
        moved = _percent(reordered.mean())
        more = f", {moved} when the clips are only reordered (difference {_points(net)})"
    sentence = f"{head}: {words}{more}; {_basis(estimate)}."
    title = "Binding: moves when headings are exchanged"
    return Statement("binding", title, Kind.PERCENT, estimate, tells, smallest, sentence)


def _implied(variants: Variants) -> Statement | None:
    found = _right_in_full(variants).paired([FULL, "swapped"])
    if found is None:
        return None
    implied = found.ways[1]["implied"]
    known = (implied != "") & (implied != found.ways[0]["predicted"])
    if not known.any():
        return None
    found = Paired(tuple(way[known] for way in found.ways))
    hits = np.array([a == b for a, b in zip(found.sets(1), implied[known], strict=True)], dtype=np.float64)
    estimate = share(hits, found.clusters)
    head, tells, smallest = _neutral(estimate, "Binding, to the letter", "Cannot tell if answers move as they must")
    sentence = (
        f"{head}: {_share(estimate)} of the answers that were right become exactly what exchanged headings imply; "
        f"{_basis(estimate)}."
    )
    title = "Binding to the letter: moves to what the headings imply"
    return Statement("binding_implied", title, Kind.PERCENT, estimate, tells, smallest, sentence)


def _indifference(variants: Variants, probe: str) -> Statement | None:
    changed, title = INDIFFERENT[probe]
    full = variants.ways[FULL]
    found = variants.only(set(full.index[full["predicted"] != ""])).paired([FULL, probe])
    if found is None:
        return None
    same = np.array([a == b for a, b in zip(found.sets(0), found.sets(1), strict=True)], dtype=np.float64)
    estimate = share(same, found.clusters)
    head, tells, smallest = _neutral(estimate, title, f"Cannot tell how far answers stay with {changed}")
    sentence = f"{head}: {_share(estimate)} of its answers stay the same with {changed}; {_basis(estimate)}."
    return Statement(f"same_{probe}", title, Kind.PERCENT, estimate, tells, smallest, sentence)


def _steadiness(variants: Variants) -> list[Statement | None]:
    found = consistency(variants)
    if found is None:
        return []
    orders = f"{found.orders} orders of the options"
    head, tells, smallest = _neutral(found.same, "Consistency", "Cannot tell how steady its answers are")
    text = f"{head}: {_share(found.same)} of its answers stay the same in {orders}, {_share(found.circular)} are right "
    text += f"in all of them; {_basis(found.same)}."
    same = Statement("same_orders", "Consistency over option orders", Kind.PERCENT, found.same, tells, smallest, text)
    return [same, _position(found.position.place, found.position.estimate, orders) if found.position else None]


def _position(place: int, estimate: Estimate, orders: str) -> Statement:
    head = _head(
        estimate,
        f"It prefers place {place} among the options",
        f"It avoids place {place} among the options",
        "Cannot tell whether it prefers a place among the options",
    )
    text = f"{head}: {_points(estimate)} against an even share, place {place}, the strongest of all, in {orders}; "
    text += f"{_basis(estimate)}."
    title = "Position: strongest preference for a place"
    return Statement("position", title, Kind.POINTS, estimate, estimate.tells, math.nan, text)


def _head(estimate: Estimate, rises: str, falls: str, doubt: str) -> str:
    if not estimate.tells:
        return doubt
    return rises if estimate.low > 0 else falls


def _neutral(estimate: Estimate, head: str, doubt: str) -> tuple[str, bool, float]:
    """Of a share there is no test: it is told unless its interval is too wide to quote."""
    tells = estimate.high - estimate.low <= WIDE
    return (head if tells else doubt), tells, math.nan


def _smallest(estimate: Estimate, differences: Floats) -> float:
    return smallest_seen(estimate.error, float((differences != 0).mean()))


def _interval(estimate: Estimate, write: Callable[[float], str]) -> str:
    if math.isnan(estimate.low):
        return "no interval: all questions hang together"
    return f"{write(estimate.low)} to {write(estimate.high)}"


def _points(estimate: Estimate) -> str:
    return f"{show(estimate.value, Kind.POINTS)} points ({_interval(estimate, lambda value: show(value, Kind.POINTS))})"


def _share(estimate: Estimate) -> str:
    bounds = _interval(estimate, lambda value: show(value, Kind.PERCENT))
    return f"{_percent(estimate.value)} ({bounds})"


def _percent(value: float) -> str:
    return f"{show(float(value), Kind.PERCENT)} %"


def _basis(estimate: Estimate) -> str:
    error = estimate.error
    if error.warning:
        return f"{error.questions:,} questions, {error.warning}"
    return f"{error.questions:,} questions in {error.clusters:,} clusters"
