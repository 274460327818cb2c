"""Scores by what a question is about: one table a dimension, groups down, runs across (PROTOCOL 1.4)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from egobench_tasks.benchmarks import EGOGEARS
from egobench_tasks.report.analyse import against, published
from egobench_tasks.report.analyse.overall import QUESTIONS, SPLIT, summarise
from egobench_tasks.report.analyse.tables import Column, Kind, Table, table
from egobench_tasks.report.read.choice_questions import crossed_routes
from egobench_tasks.report.read.choice_results import Results

_SPEEDS = ("slow_walk", "walk", "fast_walk", "run")


@dataclass(frozen=True, slots=True)
class Dimension:
    """A column of `questions.attributes_of` to group by. ``order`` lists its groups where names do not sort."""

    key: str
    title: str
    column: str
    note: str = ""
    order: tuple[str, ...] = ()
    only: Callable[[pd.DataFrame], pd.Series] | None = None


_CROSSED_NOTE = "Only routes recorded in all three speeds and both lightings, so that neither stands for a place."
DIMENSIONS = (
    Dimension("unit", "Unit", "unit", order=(EGOGEARS.single_unit, *EGOGEARS.multi_units)),
    Dimension(
        "recordings",
        "One recording or several",
        "recordings",
        note=(
            f"Published chance on the {sum(EGOGEARS.cross_recording_unit_counts.values())} questions over independent "
            f"recordings: {100 * published.CHANCE_INDEPENDENT_RECORDINGS:.2f} %."
        ),
    ),
    Dimension("question_type", "Question type", "question_type"),
    Dimension("capability", "Capability", "capability"),
    Dimension("category", "Category", "category"),
    Dimension("answer_format", "Answer format", "answer_format"),
    Dimension("options_by_answers", "Options by right answers", "options_by_answers"),
    Dimension("n_clips", "Number of clips", "n_clips"),
    Dimension("duration", "Duration of all clips", "duration"),
    Dimension("speed", "Speed", "speed", order=_SPEEDS),
    Dimension("lighting", "Lighting", "lighting"),
    Dimension("speed_by_lighting", "Speed by lighting", "speed_by_lighting"),
    Dimension("crossed_speed", "Speed, fully crossed routes", "speed", _CROSSED_NOTE, _SPEEDS, crossed_routes),
    Dimension("crossed_lighting", "Lighting, fully crossed routes", "lighting", _CROSSED_NOTE, (), crossed_routes),
    Dimension(
        "crossed_speed_by_lighting",
        "Speed by lighting, fully crossed routes",
        "speed_by_lighting",
        _CROSSED_NOTE,
        (),
        crossed_routes,
    ),
)


def breakdown(results: Results, dimension: Dimension) -> pd.DataFrame:
    """Return scores a group and run, in long form: dimension, group, config, run and `overall.summarise`'s figures.

    Empty where the dataset says nothing of the dimension.
    """
    outcomes = results.outcomes
    known = outcomes[outcomes[dimension.column].notna()]
    if dimension.only is not None:
        known = known[dimension.only(known)]
    rows = [
        {"dimension": dimension.key, "group": str(group), "config": config, "run": run, **summarise(members)}
        | against.difference(results, config, run, members)
        for (config, group, run), members in known.groupby(["config", dimension.column, "run"], sort=False)
    ]
    ranks = _ranks(known[dimension.column], dimension.order)
    rows.sort(
        key=lambda row: (
            results.configs.index(row["config"]),
            ranks[row["group"]],
            results.labels.index(row["run"]),
        )
    )
    return pd.DataFrame(rows)


def _ranks(values: pd.Series, order: Sequence[str]) -> dict[str, int]:
    """The groups' places: the given order first, then by number or name."""
    groups = sorted(values.unique(), key=lambda group: (group not in order, _natural(group)))
    groups = [*(group for group in order if group in set(groups)), *(group for group in groups if group not in order)]
    return {str(group): rank for rank, group in enumerate(groups)}


def _natural(group: Any) -> tuple[float, str]:
    """Sort 10 after 9, and ``20-40 s`` before ``120-300 s``."""
    digits = str(group).split("-")[0].split(" ")[0]
    return (float(digits), str(group)) if digits.isdecimal() else (float("inf"), str(group))


def breakdown_table(results: Results, dimension: Dimension, scores: pd.DataFrame) -> Table:
    """Lay `breakdown`'s long form out: a row a group, exact accuracy and its interval for each run."""
    rows = []
    for (config, group), members in scores.groupby(["config", "group"], sort=False):
        row: dict[str, Any] = {"config": config, "group": group}
        row |= {"questions": members["questions"].iloc[0], "chance": members["chance"].iloc[0]}
        for member in members.to_dict("records"):
            run = member["run"]
            row |= {run: member["exact_set"], f"{run} low": member["low"], f"{run} high": member["high"]}
            row |= {f"{run} clustered {end}": member[f"clustered_{end}"] for end in ("low", "high")}
            row |= {f"{run} {name}": member.get(name) for name in against.NAMES}
        rows.append(row)
    runs = [label for label in results.labels if label in set(scores["run"])]
    columns = [
        Column("group", dimension.title, Kind.TERM),
        SPLIT,
        *(column for run in runs for column in (_scores(run), *against.columns(results.anchor, run))),
        Column("chance", "Chance %", Kind.PERCENT),
        QUESTIONS,
    ]
    first = "Exact %, with Wilson 95 % interval and the one that allows for clusters of questions."
    note = " ".join([first, dimension.note, _unknown(results, dimension)]).strip()
    return table(f"by_{dimension.key}", dimension.title, note, columns, rows)


def _scores(run: str) -> Column:
    bounds = (f"{run} low", f"{run} high", f"{run} clustered low", f"{run} clustered high")
    return Column(run, run, Kind.PERCENT, 1, *bounds)


def _unknown(results: Results, dimension: Dimension) -> str:
    """How many questions are in no group, where the dataset does not say."""
    if dimension.only is not None:
        return ""
    parts = []
    for config, split in results.splits.items():
        n_unknown = int(split.attributes[dimension.column].isna().sum())
        if n_unknown:
            parts.append(f"{n_unknown:,} of {len(split.attributes):,} {config} questions")
    return f"Not known of {' and of '.join(parts)}." if parts else ""
