"""The tables of the section "Diagnosis": a row a model, sentences to quote, the profile, groups, consistency."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

from egobench_tasks.asking.probes import PROBES
from egobench_tasks.report.analyse.consistency import consistency
from egobench_tasks.report.analyse.diagnosis import CANNOT_TELL, Statement, statements
from egobench_tasks.report.analyse.estimates import paired_difference, share
from egobench_tasks.report.analyse.overall import QUESTIONS, RUN, SPLIT
from egobench_tasks.report.analyse.statistics import holm
from egobench_tasks.report.analyse.tables import Column, Kind, Table, table
from egobench_tasks.report.analyse.variants import FULL, Variants

_CLUSTERS = Column("clusters", "Clusters", Kind.COUNT)
_SMALLEST = Column("smallest", "Would have shown (points)", Kind.PERCENT)
_SMALLEST_NOTE = "Would have shown: the smallest true difference that this comparison finds four times in five (5 %)."
GROUPS = {"unit": "Unit", "question_type": "Question type", "capability": "Capability"}


def summary_table(found: Sequence[tuple[Variants, Sequence[Statement]]]) -> Table:
    """One row of statements a run and split."""
    titles: dict[str, Statement] = {one.key: one for _, told in found for one in told}
    rows = []
    for variants, told in found:
        row: dict[str, Any] = {"run": variants.run, "config": variants.config}
        for one in told:
            row |= {one.key: one.estimate.value, f"{one.key} low": one.estimate.low}
            row |= {f"{one.key} high": one.estimate.high}
        rows.append(row)
    columns = [RUN, SPLIT]
    columns += [Column(key, _short(one), one.kind, low=f"{key} low", high=f"{key} high") for key, one in titles.items()]
    note = (
        "Points are differences of exact between two ways of asking the same questions; shares are of answers that "
        "were right (binding) or given (the others). 95 % intervals that allow for questions that hang together. "
        "What each column means, in sentences: the next table."
    )
    return table("diagnosis", "One row a model", note, columns, rows)


def _short(statement: Statement) -> str:
    unit = "points" if statement.kind is Kind.POINTS else "%"
    return f"{statement.title.partition(':')[0]} ({unit})"


def sentence_table(found: Sequence[tuple[Variants, Sequence[Statement]]]) -> Table:
    """Every statement as a sentence to quote, with its test and what it could have shown."""
    rows = []
    for variants, told in found:
        for one in told:
            estimate = one.estimate
            row: dict[str, Any] = {"run": variants.run, "config": variants.config, "statement": one.title}
            row |= {"tells": "yes" if one.tells else CANNOT_TELL, "sentence": one.sentence}
            row |= {"value": estimate.value, "low": estimate.low, "high": estimate.high}
            row |= {"questions": estimate.error.questions, "clusters": estimate.error.clusters}
            row |= {"design_effect": estimate.error.design_effect, "smallest": one.smallest}
            rows.append(row | {"p_value": estimate.p_value})
    adjust(rows)
    columns = [
        RUN,
        SPLIT,
        Column("statement", "Statement", Kind.TEXT),
        Column("sentence", "In words", Kind.TEXT),
        Column("tells", "Told", Kind.TEXT),
        _SMALLEST,
        Column("p_value", "p", Kind.P_VALUE),
        Column("p_holm", "p, Holm", Kind.P_VALUE),
        QUESTIONS,
        _CLUSTERS,
        Column("design_effect", "Design effect", Kind.RATIO, 2),
    ]
    note = (
        f"Told: whether the interval leaves out 0 (of a share: is narrower than 50 points). {_SMALLEST_NOTE} "
        "p: cluster-robust t, of differences; Holm's correction over all rows."
    )
    return table("statements", "Statements to quote", note, columns, rows)


def profile_table(found: Sequence[Variants]) -> Table:
    """Exact under every way of asking, over the questions that each was asked of."""
    rows = []
    for variants in found:
        for name, way in variants.ways.items():
            paired = variants.paired([name])
            assert paired is not None  # a way of asking has questions
            estimate = share(paired.exact(0), paired.clusters)
            row: dict[str, Any] = {"run": variants.run, "config": variants.config, "way": name}
            row |= {"exact_set": estimate.value, "low": estimate.low, "high": estimate.high}
            row |= {"chance": float(way["chance"].mean()), "questions": len(way)}
            row |= {"not_asked": len(variants.ways[FULL]) - len(way), **_less_full(variants, name)}
            rows.append(row | {"shown": PROBES[name].changes if name in PROBES else "as the benchmark asks"})
    columns = [
        RUN,
        SPLIT,
        Column("way", "Asked", Kind.TEXT),
        Column("shown", "Shown with", Kind.TEXT),
        Column("exact_set", "Exact %", Kind.PERCENT, low="low", high="high"),
        Column("less_full", "Less full (points)", Kind.POINTS, low="less_full_low", high="less_full_high"),
        Column("chance", "Chance %", Kind.PERCENT),
        QUESTIONS,
        Column("not_asked", "Does not apply", Kind.COUNT),
    ]
    note = (
        "Against the dataset's gold, also where a probe moves the right answer. Less full: over the same questions. "
        "Clustered 95 % intervals."
    )
    return table("profile", "Exact under every way of asking", note, columns, rows)


def _less_full(variants: Variants, name: str) -> dict[str, float]:
    """What asking in this way costs, over the questions that it was asked of; nothing for the benchmark's own way."""
    paired = None if name == FULL else variants.paired([FULL, name])
    if paired is None:
        return {}
    found = paired_difference(paired.exact(0), paired.exact(1), paired.clusters)
    return {"less_full": found.value, "less_full_low": found.low, "less_full_high": found.high}


def group_table(found: Sequence[Variants]) -> Table:
    """Every statement by unit, question type and capability, where these divide the questions."""
    rows = [row for variants in found for row in _group_rows(variants)]
    adjust(rows)
    columns = [
        RUN,
        SPLIT,
        Column("dimension", "By", Kind.TEXT),
        Column("group", "Group", Kind.TERM),
        Column("statement", "Statement", Kind.TEXT),
        Column("points", "Points", Kind.POINTS, low="points_low", high="points_high"),
        Column("percent", "Share %", Kind.PERCENT, low="percent_low", high="percent_high"),
        Column("tells", "Told", Kind.TEXT),
        _SMALLEST,
        Column("p_holm", "p, Holm", Kind.P_VALUE),
        QUESTIONS,
        _CLUSTERS,
    ]
    note = f"Holm's correction over all rows. {_SMALLEST_NOTE}"
    return table("diagnosis_groups", "By unit, question type and capability", note, columns, rows)


def _group_rows(variants: Variants) -> Iterable[dict[str, Any]]:
    full = variants.ways[FULL]
    for column, title in GROUPS.items():
        groups = full[column].dropna()
        if groups.nunique() < 2:
            continue
        for group in dict.fromkeys(groups):
            for one in statements(variants.only(set(groups.index[groups == group]))):
                estimate = one.estimate
                kind = "points" if one.kind is Kind.POINTS else "percent"
                row: dict[str, Any] = {"run": variants.run, "config": variants.config, "dimension": title}
                row |= {"group": str(group), "statement": one.title, kind: estimate.value}
                row |= {f"{kind}_low": estimate.low, f"{kind}_high": estimate.high}
                row |= {"tells": "yes" if one.tells else CANNOT_TELL, "smallest": one.smallest}
                row |= {"questions": estimate.error.questions, "clusters": estimate.error.clusters}
                yield row | {"p_value": estimate.p_value}


def consistency_table(found: Sequence[Variants]) -> Table:
    """How steady answers are over the orders of the options."""
    rows = []
    for variants in found:
        one = consistency(variants)
        if one is None:
            continue
        row: dict[str, Any] = {"run": variants.run, "config": variants.config, "orders": one.orders}
        for name in ("plain", "same", "circular", "majority"):
            estimate = getattr(one, name)
            row |= {name: estimate.value, f"{name}_low": estimate.low, f"{name}_high": estimate.high}
        row |= {"entropy_bits": one.entropy_bits, "even_bits": one.even_bits, "questions": one.questions}
        if one.position is not None:
            row |= {"place": one.position.place, "excess": one.position.estimate.value}
            row |= {"excess_low": one.position.estimate.low, "excess_high": one.position.estimate.high}
            row |= {"p_value": one.position.estimate.p_value}
        rows.append(row)
    columns = [
        RUN,
        SPLIT,
        Column("orders", "Orders", Kind.COUNT),
        Column("same", "Same set throughout %", Kind.PERCENT, low="same_low", high="same_high"),
        Column("plain", "Exact, one order %", Kind.PERCENT, low="plain_low", high="plain_high"),
        Column("circular", "Exact in all orders %", Kind.PERCENT, low="circular_low", high="circular_high"),
        Column("majority", "Exact of the majority %", Kind.PERCENT, low="majority_low", high="majority_high"),
        Column("entropy_bits", "Entropy of the place chosen (bits)", Kind.RATIO, 2),
        Column("even_bits", "Without preference (bits)", Kind.RATIO, 2),
        Column("place", "Strongest preference: place", Kind.COUNT),
        Column("excess", "Its excess (points)", Kind.POINTS, low="excess_low", high="excess_high"),
        Column("p_value", "p, all places", Kind.P_VALUE),
        QUESTIONS,
    ]
    note = (
        "The same questions with their options in several drawn orders. Entropy is of the place among the options "
        "shown at which the chosen ones stood: whoever looks at the options' content alone chooses every place alike. "
        "Excess: of all choices, the share at that place less an even share; interval and p allow for all places."
    )
    return table("consistency", "Consistency over the options' order", note, columns, rows)


def adjust(rows: Sequence[dict[str, Any]]) -> None:
    """Give each row that has a p-value its correction for all of them."""
    tested = [row for row in rows if not math.isnan(row["p_value"])]
    for row, adjusted in zip(tested, holm([row["p_value"] for row in tested]), strict=True):
        row["p_holm"] = adjusted


def told(found: Sequence[Variants]) -> list[tuple[Variants, Sequence[Statement]]]:
    """Return every run's statements beside its answers, those that have any."""
    pairs = [(variants, statements(variants)) for variants in found]
    return [(variants, one) for variants, one in pairs if one]


PROFILE = (FULL, "blind", "center", "shuffled", "reversed", "swapped")
"""The ways of asking in the profile's figure, in its order."""
