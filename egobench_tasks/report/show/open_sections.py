"""EgoTempo's part of a report."""

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd

from egobench_tasks.asking.open_settings import DEFAULT_SETTING
from egobench_tasks.report.analyse.glance import open_glance_table
from egobench_tasks.report.analyse.judges import accuracy_table, differing_table, pairs_table
from egobench_tasks.report.analyse.open_tables import (
    category_table,
    duration_table,
    input_rows,
    input_table,
    open_runs_table,
    sampling_table,
    video_gain_table,
)
from egobench_tasks.report.analyse.tables import ORIGIN, PUBLISHED, Table
from egobench_tasks.report.read.open_outcomes import Order
from egobench_tasks.report.read.open_results import OpenResults
from egobench_tasks.report.show import plots
from egobench_tasks.report.show.section import Section

_COMPLETE = "How much of each run is there, and judged. What has no verdict is neither right nor wrong."


def egotempo_sections(results: OpenResults) -> tuple[Section, ...]:
    """Lay out EgoTempo's tables and figures: at a glance, what is there, categories, inputs, judges."""
    outcomes = results.outcomes
    beside_published = results.unpublished is None
    curves = [
        *_against_input(outcomes, "frames", "frames", beside_published),
        *_against_input(outcomes, "rate", "frames a second", beside_published),
        *_against_duration(outcomes),
    ]
    inputs = (
        input_table(outcomes, results.unpublished, results.anchors),
        video_gain_table(outcomes),
        sampling_table(outcomes),
        duration_table(outcomes, results.anchors),
    )
    judges = (accuracy_table(results.judged), pairs_table(results.judged), differing_table(results.judged))
    runs = open_runs_table(results.summaries, results.records)
    categories = category_table(outcomes, results.unpublished, results.anchors)
    sections = (
        _glance(results),
        Section("egotempo", "EgoTempo: completeness", _COMPLETE, (runs,), ()),
        Section("egotempo_categories", "EgoTempo: categories", "", (categories,), ()),
        Section("egotempo_inputs", "EgoTempo: what is shown", "", _filled(inputs), tuple(curves)),
        Section("egotempo_judges", "EgoTempo: judges", "", _filled(judges), ()),
    )
    return tuple(section for section in sections if _filled(section.tables) or section.plots)


def _filled(tables: Sequence[Table]) -> tuple[Table, ...]:
    return tuple(table for table in tables if not table.rows.empty)


def _glance(results: OpenResults) -> Section:
    table = open_glance_table(results)
    shown = table.rows.assign(config="EgoTempo", exact_set=table.rows["accuracy"], chance=math.nan)
    shown["run"] = [f"{run}, {setting}" for run, setting in zip(shown["run"], shown["setting"], strict=True)]
    shown = shown[shown["accuracy"].notna()]
    title = "EgoTempo at a glance"
    if shown.empty:
        return Section("open_glance", title, "", (table,), (), leads=True)
    alt = "Accuracy of every run and setting with its interval; the same figures as the table beside it."
    figure = plots.leaderboard(shown, "accuracy, Wilson")
    return Section(
        "open_glance", title, "", (table,), (plots.to_plot("open_leaderboard", title, alt, figure),), leads=True
    )


def _against_input(outcomes: pd.DataFrame, column: str, label: str, beside_published: bool) -> list[plots.Plot]:
    """Accuracy against the number of frames or the rate, uniform sampling, published curves among them where the
    dataset is the published one."""
    by_run: dict[str, list[dict[str, Any]]] = {}
    published: set[str] = set()
    for row in input_rows(outcomes):
        if row[ORIGIN] == PUBLISHED and not beside_published:
            continue
        if row[column] is None or row["order"] != Order.UNIFORM or row["setting"] == "center":
            continue
        name = row["run"]
        if row[ORIGIN] == PUBLISHED:
            name = f"{name} (published)"
            published.add(name)
        by_run.setdefault(name, []).append({"x": row[column], "accuracy": row["average"], **_bounds(row)})
    series = {run: pd.DataFrame(points) for run, points in by_run.items() if len(points) > 1}
    if series.keys() <= published:
        return []
    series = dict(list(series.items())[: plots.MAX_SERIES])
    title = f"EgoTempo: accuracy against {label}"
    alt = f"{title}, uniform sampling; the same figures as the table by frames and by rate."
    return [plots.to_plot(f"open_{column}", title, alt, plots.lines(series, label, log_x=True, dashed=published))]


def _against_duration(outcomes: pd.DataFrame) -> list[plots.Plot]:
    """Accuracy by duration under the default setting, or under all where no run has it."""
    rows = duration_table(outcomes).rows
    if (rows["setting"] == DEFAULT_SETTING).any():
        rows = rows[rows["setting"] == DEFAULT_SETTING]
    if rows["duration"].nunique() < 2:
        return []
    series = {
        f"{run}, {setting}": part.rename(columns={"duration": "x"})
        for (run, setting), part in list(rows.groupby(["run", "setting"], sort=False))[: plots.MAX_SERIES]
    }
    title = "EgoTempo: accuracy by clip duration"
    alt = f"{title}; the same figures as the table by clip duration."
    return [plots.to_plot("open_durations", title, alt, plots.lines(series, "duration"))]


def _bounds(row: dict[str, Any]) -> dict[str, Any]:
    return {"low": row.get("low"), "high": row.get("high")}
