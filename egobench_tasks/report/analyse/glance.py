"""The first thing on a page: a row a run, its headline figure on each split, and what a reader must know of it."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from egobench_tasks.report.analyse.open_tables import category_average, open_accuracy
from egobench_tasks.report.analyse.overall import MARK, RUN, not_comparable, summarise
from egobench_tasks.report.analyse.tables import Column, Kind, Table, table
from egobench_tasks.report.read.choice_results import Results, mark
from egobench_tasks.report.read.open_results import OpenResults
from egobench_tasks.report.read.states import ANSWERED

_INTERVAL = "95 % intervals allow for questions that share a clip or a recording"


def glance_table(results: Results) -> Table:
    """A row a run of EgoGears, the best on the last split first: exact on each split (PROTOCOL 1.4)."""
    rows: dict[str, dict[str, Any]] = {
        label: {"run": label, "mark": _mark(results, label), "unanswered": 0} for label in results.labels
    }
    guessing: list[str] = []
    for config in results.configs:
        for label, outcomes in results.of(config).groupby("run", sort=False):
            found = summarise(outcomes)
            row = rows[str(label)]
            row |= {config: found["exact_set"]}
            row |= {f"{config} low": found["clustered_low"], f"{config} high": found["clustered_high"]}
            row["unanswered"] += int((outcomes["state"] != ANSWERED).sum())
        chance = results.splits[config].attributes["chance"].mean()
        guessing.append(f"{100 * chance:.1f} % on {config}")
    columns = [
        RUN,
        *(_rate(config, f"{config.capitalize()} %") for config in results.configs),
        Column("unanswered", "No answer", Kind.COUNT),
        MARK,
    ]
    note = (
        f"Share of questions whose answer is exactly the right set; guessing scores {' and '.join(guessing)}. "
        f"{_INTERVAL}.{not_comparable(results.unpublished, *results.configs)}"
    )
    return table("glance", "The runs", note, columns, _best_first(rows, results.configs[::-1]))


def open_glance_table(results: OpenResults) -> Table:
    """A row a run and setting of EgoTempo, the best average first: the paper's figure, and what it rests on."""
    marks = {(one.label, one.setting): one.mark for one in results.summaries}
    rows = {}
    for (label, setting), outcomes in results.outcomes.groupby(["run", "setting"], sort=False):
        row = {"run": label, "setting": setting, **open_accuracy(outcomes), "average": category_average(outcomes)}
        row |= {"accuracy low": row["clustered_low"], "accuracy high": row["clustered_high"]}
        rows[f"{label}\n{setting}"] = row | {"mark": marks.get((str(label), str(setting)))}
    columns = [
        RUN,
        Column("setting", "Setting", Kind.TEXT),
        Column("average", "Average %", Kind.PERCENT),
        _rate("accuracy", "Accuracy %"),
        Column("undecided", "Without verdict", Kind.COUNT),
        MARK,
    ]
    note = (
        "Average: mean over the ten categories, the paper's figure; accuracy: over all questions with a verdict. "
        f"Without verdict: not judged, or lost. {_INTERVAL.replace('a clip or a recording', 'a video')}."
    )
    return table("open_glance", "The runs", note, columns, _best_first(rows, ("average", "accuracy")))


def _rate(name: str, title: str) -> Column:
    return Column(name, title, Kind.PERCENT, low=f"{name} low", high=f"{name} high")


def _mark(results: Results, label: str) -> str:
    tasks = [task for task in results.tasks if task.label == label]
    return mark(partial=any(task.unfinished for task in tasks), mixed=any(task.mixed for task in tasks))


def _best_first(rows: Mapping[str, dict[str, Any]], by: Sequence[str]) -> list[dict[str, Any]]:
    """Highest first by the first column; runs without a figure there by the next, after all that have one."""

    def place(row: Mapping[str, Any]) -> list[tuple[bool, float]]:
        values = [row.get(name, math.nan) for name in by]
        return [(True, 0.0) if math.isnan(value) else (False, -value) for value in values]

    return sorted(rows.values(), key=place)
