"""Runs against each other on the same questions: differences, and direct against reasoning (PROTOCOL 1.4)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import lcm
from statistics import median
from typing import Any

from egobench_tasks.report.analyse.clusters import clusters, singletons
from egobench_tasks.report.analyse.estimates import paired_difference, sign_flip
from egobench_tasks.report.analyse.overall import SPLIT
from egobench_tasks.report.analyse.power import smallest_seen
from egobench_tasks.report.analyse.statistics import (
    bootstrap_means,
    holm,
    paired_outcomes,
    percentile_interval,
)
from egobench_tasks.report.analyse.tables import Column, Kind, Table, table
from egobench_tasks.report.read.choice_results import PARTIAL, Results

_GAIN = Column("gain", "Gain (points)", Kind.POINTS, 1, "low", "high", "clustered_low", "clustered_high")
_SMALLEST = Column("smallest", "Would have shown (points)", Kind.PERCENT)
_COUNTS = (
    Column("both_right", "Both right", Kind.COUNT),
    Column("rescued", "Rescued", Kind.COUNT),
    Column("destabilised", "Destabilised", Kind.COUNT),
    Column("both_wrong", "Both wrong", Kind.COUNT),
)
_P_VALUES = (
    Column("p_value", "McNemar p", Kind.P_VALUE),
    Column("p_holm", "p, Holm", Kind.P_VALUE),
    Column("p_clustered", "Sign flip p", Kind.P_VALUE),
    Column("p_clustered_holm", "Sign flip p, Holm", Kind.P_VALUE),
)
_TESTS_NOTE = (
    "Gain: exact, second less first, with a paired bootstrap 95 % interval over questions, and the one that allows for "
    "clusters of questions. McNemar's exact test, and the exact test of flipped signs over clusters; Holm's correction "
    "over all rows of the table. Would have shown: the smallest true difference that this comparison finds four times "
    "in five (5 %, clusters allowed for)."
)
_REPEATS_NOTE = (
    " Of runs that answered each question several times all answers count: the gain is of the share that is right, a "
    "question counts as right where more than half are, and in McNemar's place stands the sign flip over questions."
)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two runs to compare, by label."""

    first: str
    second: str


def compare_pairs(results: Results, pairs: Sequence[Pair]) -> list[dict[str, Any]]:
    """Return one record for each pair and config that both answered, p-values adjusted over all of them."""
    rows: list[dict[str, Any]] = []
    for config in results.configs:
        matrix, answers = results.means(config, "exact_set"), results.answers(config)
        here = [pair for pair in pairs if pair.first in matrix and pair.second in matrix]
        if not here:
            continue
        draws = bootstrap_means(matrix.to_numpy())
        of_question = results.splits[config].attributes.set_index("question_id")["cluster"]
        found = clusters(of_question.loc[matrix.index])
        place = {label: index for index, label in enumerate(matrix.columns)}
        for pair in here:
            first, second = (matrix[label].to_numpy(dtype=float) for label in (pair.first, pair.second))
            outcomes = paired_outcomes(first, second)
            change, parts = second - first, lcm(answers[pair.first], answers[pair.second])
            alone = singletons(len(change))
            clustered = paired_difference(first, second, found)
            low, high = percentile_interval(draws[:, place[pair.second]] - draws[:, place[pair.first]])
            rows.append(
                {
                    "config": config,
                    "first": pair.first,
                    "second": pair.second,
                    "questions": outcomes.total,
                    "both_right": outcomes.both_right,
                    "rescued": outcomes.rescued,
                    "destabilised": outcomes.destabilised,
                    "both_wrong": outcomes.both_wrong,
                    "gain": clustered.value,
                    "low": low,
                    "high": high,
                    "clustered_low": clustered.low,
                    "clustered_high": clustered.high,
                    "design_effect": clustered.error.design_effect,
                    "clusters": clustered.error.clusters,
                    "doubt": clustered.doubt,
                    "smallest": smallest_seen(clustered.error, float((change**2).mean())),
                    "p_value": outcomes.p_value if parts == 1 else sign_flip(change, alone, parts),
                    "p_clustered": sign_flip(change, found, parts),
                    "answers": max(answers[pair.first], answers[pair.second]),
                }
            )
    for name, corrected in (("p_value", "p_holm"), ("p_clustered", "p_clustered_holm")):
        for row, adjusted in zip(rows, holm([float(row[name]) for row in rows]), strict=True):
            row[corrected] = adjusted
    return rows


def differences_table(results: Results) -> Table:
    """Every two runs on the same questions."""
    rows = compare_pairs(results, [Pair(*pair) for pair in combinations(results.labels, 2)])
    columns = [
        SPLIT,
        Column("first", "First", Kind.RUN),
        Column("second", "Second", Kind.RUN),
        _GAIN,
        _SMALLEST,
        *_COUNTS,
        *_P_VALUES,
        *_doubt(rows),
    ]
    return table("differences", "Differences between runs", _TESTS_NOTE + _repeats_note(rows), columns, rows)


def _repeats_note(rows: Sequence[dict[str, Any]]) -> str:
    return _REPEATS_NOTE if any(row["answers"] > 1 for row in rows) else ""


def _doubt(rows: Sequence[dict[str, Any]]) -> list[Column]:
    return [Column("doubt", "Doubt", Kind.TEXT)] if any(row["doubt"] for row in rows) else []


_REASONING_WORDS = frozenset({"thinking", "reasoning", "think", "reason"})
_DIRECT_WORDS = frozenset({"instruct", "direct", "nothink", "nothinking", "chat", "it"})


def reasoning_pairs(labels: Sequence[str]) -> list[Pair]:
    """Pair each reasoning run with its direct one, by name: ``X-Thinking`` with ``X-Instruct``, ``X-direct`` or ``X``.

    A name with one of the reasoning words is a reasoning run; names are equal without the words of
    both kinds. Two candidates for a partner: no pair, rather than a guess.
    """
    direct: dict[tuple[str, ...], list[str]] = {}
    reasoning: dict[tuple[str, ...], list[str]] = {}
    for label in labels:
        words = tuple(word for word in re.split(r"[^\w.]+|_", label.removesuffix(PARTIAL).strip().casefold()) if word)
        stem = tuple(word for word in words if word not in _REASONING_WORDS | _DIRECT_WORDS)
        side = reasoning if _REASONING_WORDS & set(words) else direct
        side.setdefault(stem, []).append(label)
    return [
        Pair(direct[stem][0], members[0])
        for stem, members in reasoning.items()
        if len(members) == 1 and len(direct.get(stem, ())) == 1
    ]


def reasoning_table(results: Results) -> Table:
    """Direct against reasoning runs of the same model."""
    rows = compare_pairs(results, reasoning_pairs(results.labels))
    gains = [float(row["gain"]) for row in rows if {row["first"], row["second"]} <= set(results.whole)]
    note = (
        "From the direct run to the reasoning one, paired by name (X-Instruct, X-direct or X with X-Thinking). "
        f"Rescued: wrong, then right. Destabilised: right, then wrong. {_TESTS_NOTE}{_repeats_note(rows)}"
    )
    if gains:
        note += f" Median gain of whole runs: {100 * median(gains):+.1f} points.".replace("-", "−")
    columns = [
        SPLIT,
        Column("first", "Direct", Kind.RUN),
        Column("second", "Reasoning", Kind.RUN),
        *_COUNTS,
        _GAIN,
        _SMALLEST,
        *_P_VALUES,
        *_doubt(rows),
    ]
    return table("reasoning", "Direct against reasoning", note, columns, rows)
