"""Every statement of the diagnosis beside one run's: the difference on the questions of which both can be told."""

from collections.abc import Iterator, Sequence
from typing import Any

from egobench_tasks.report.analyse import phrases
from egobench_tasks.report.analyse.clusters import clusters
from egobench_tasks.report.analyse.diagnosis import CANNOT_TELL, CONTRASTS, Statement
from egobench_tasks.report.analyse.diagnosis_tables import adjust
from egobench_tasks.report.analyse.estimates import Estimate, mean, paired_difference
from egobench_tasks.report.analyse.overall import QUESTIONS, RUN, SPLIT
from egobench_tasks.report.analyse.tables import Column, Kind, Table, table
from egobench_tasks.report.analyse.variants import FULL, Variants

_DIFFERENCES = {contrast.key for contrast in CONTRASTS}
"""The statements that are differences already: a question adds -1, 0 or 1 to them, so two runs differ by up to 2."""


def statements_against_table(found: Sequence[tuple[Variants, Sequence[Statement]]], anchor: str) -> Table:
    """A row a run, split and statement that the anchor has too; none without an anchor."""
    rows = [row for one in found if one[0].run != anchor for row in _rows(one, found, anchor)]
    adjust(rows)
    columns = [
        RUN,
        SPLIT,
        Column("statement", "Statement", Kind.TEXT),
        Column("sentence", "In words", Kind.TEXT),
        Column("difference", f"Less {anchor} (points)", Kind.POINTS, clustered_low="low", clustered_high="high"),
        Column("tells", "Told", Kind.TEXT),
        Column("p_value", "p", Kind.P_VALUE),
        Column("p_holm", "p, Holm", Kind.P_VALUE),
        QUESTIONS,
        Column("clusters", "Clusters", Kind.COUNT),
    ]
    note = (
        f"What each run's statement has more than {anchor}'s, paired by question over those that count in both (for "
        "binding: right in both when asked as the benchmark asks). Intervals allow for questions that hang together; "
        "told: whether the interval leaves out 0. p: cluster-robust t; Holm's correction over all rows."
    )
    return table("statements_against", f"Statements beside those of {anchor}", note, columns, rows)


def _rows(
    one: tuple[Variants, Sequence[Statement]], found: Sequence[tuple[Variants, Sequence[Statement]]], anchor: str
) -> Iterator[dict[str, Any]]:
    variants, told = one
    of_anchor = {
        statement.key: statement
        for other, statements in found
        if (other.run, other.config) == (anchor, variants.config)
        for statement in statements
    }
    for statement in told:
        beside = of_anchor.get(statement.key)
        estimate = None if beside is None else difference(variants, statement, beside)
        if estimate is None:
            continue
        row: dict[str, Any] = {"run": variants.run, "config": variants.config, "statement": statement.title}
        row |= {"difference": estimate.value, "low": estimate.low, "high": estimate.high}
        row |= {"tells": "yes" if estimate.tells else CANNOT_TELL, "p_value": estimate.p_value}
        row |= {"questions": estimate.error.questions, "clusters": estimate.error.clusters}
        yield row | {"sentence": _sentence(statement, estimate, anchor)}


def difference(variants: Variants, mine: Statement, anchors: Statement) -> Estimate | None:
    """Return how much more a statement finds than another run's of the same kind, paired by question.

    None where they add up to no finding a question, or share no question.
    """
    if mine.values is None or anchors.values is None:
        return None
    shared = mine.values.index[mine.values.index.isin(anchors.values.index)]
    if not len(shared):
        return None
    first, second = (one.loc[shared].to_numpy(dtype=float) for one in (anchors.values, mine.values))
    hanging_together = clusters(variants.ways[FULL]["cluster"].loc[shared])
    if mine.key in _DIFFERENCES:
        return mean(second - first, hanging_together)
    return paired_difference(first, second, hanging_together)


def _sentence(statement: Statement, estimate: Estimate, anchor: str) -> str:
    name = statement.title.partition(":")[0]
    head = phrases.head(
        estimate,
        f"{name}: more than {anchor}",
        f"{name}: less than {anchor}",
        f"{name}: cannot tell it from {anchor}",
    )
    return f"{head}, {phrases.points(estimate)}; {phrases.basis(estimate)}."
