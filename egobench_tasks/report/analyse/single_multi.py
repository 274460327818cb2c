"""The single split against the multi split, the same runs on other questions (PROTOCOL 1.4)."""

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from egobench_tasks.report.analyse import published
from egobench_tasks.report.analyse.clusters import Clusters, clusters
from egobench_tasks.report.analyse.overall import RUN, SPLIT, not_comparable
from egobench_tasks.report.analyse.statistics import Counts, Floats, cluster_draws, percentile_interval
from egobench_tasks.report.analyse.tables import Column, Kind, Table, table
from egobench_tasks.report.read.choice_results import Results
from egobench_tasks.scoring.scores import kappa

_SPLITS = ("single", "multi")
_FOUR_WAYS = (
    ("all", "exact, all questions", published.FINDINGS.mean_drop),
    ("one_answer", "exact, questions with one answer", published.FINDINGS.mean_drop_one_answer),
    ("jaccard", "Jaccard", published.FINDINGS.mean_drop_partial_credit),
    ("kappa", "kappa", None),
)


def single_multi_table(results: Results) -> Table:
    """Each run on single against multi, four ways. Empty unless a run answered both configs."""
    rows: list[dict[str, Any]] = []
    if set(results.configs) >= set(_SPLITS):
        drawn = _draw_measures(results)
        for run in results.labels:
            if all(run in drawn[config] for config in _SPLITS):
                about = {"run": run, "whole": run in results.whole}
                rows += [about | row for row in _four_rows(*(drawn[config][run] for config in _SPLITS))]
    columns = [
        RUN,
        Column("measure", "Measure", Kind.TEXT),
        Column("single", "Single %", Kind.PERCENT),
        Column("multi", "Multi %", Kind.PERCENT),
        Column("difference", "Multi less single (points)", Kind.POINTS, low="low", high="high"),
    ]
    note = (
        "Bootstrap 95 % interval that draws whole clusters, those of both splits together: a recording that both show "
        "is drawn for both."
    )
    return table("single_multi", "Single against multi, four ways", note, columns, rows)


Measures = dict[str, tuple[float, Floats]]
"""A measure's value and its bootstrap draws, by the keys of `_FOUR_WAYS`."""


def _draw_measures(results: Results) -> dict[str, dict[str, Measures]]:
    """Return every run's measures by split, drawn over the clusters of both at once."""
    exact = {config: results.matrix(config, "exact_set") for config in _SPLITS}
    about = {
        config: results.splits[config].attributes.set_index("question_id").loc[exact[config].index]
        for config in _SPLITS
    }
    together = clusters(pd.concat([about[config]["cluster"] for config in _SPLITS]))
    draws = cluster_draws(together.count)
    found: dict[str, dict[str, Measures]] = {}
    start = 0
    for config in _SPLITS:
        here = slice(start, start := start + len(exact[config]))
        jaccard = results.matrix(config, "jaccard")
        draw = partial(_drawn, draws, together, here)
        found[config] = {
            run: _measures(exact[config][run], jaccard[run], about[config], draw) for run in exact[config].columns
        }
    return found


def _measures(
    exact: pd.Series, jaccard: pd.Series, about: pd.DataFrame, draw: Callable[[Floats, Floats], Floats]
) -> Measures:
    right, credit, chance = (one.to_numpy(dtype=np.float64) for one in (exact, jaccard, about["chance"]))
    every, one_answer = np.ones(len(right)), (about["n_select"] == 1).to_numpy(dtype=np.float64)
    accuracies, chances = draw(right, every), draw(chance, every)
    n_one = float(one_answer.sum())
    return {
        "all": (float(right.mean()), accuracies),
        "one_answer": (float((right * one_answer).sum() / n_one) if n_one else math.nan, draw(right, one_answer)),
        "jaccard": (float(credit.mean()), draw(credit, every)),
        "kappa": (kappa(float(right.mean()), float(chance.mean())), (accuracies - chances) / (1 - chances)),
    }


def _drawn(draws: Counts, together: Clusters, here: slice, values: Floats, counted: Floats) -> Floats:
    """Return each draw's mean of one split's values over its questions that are counted (1 or 0).

    ``here``: where the split's questions stand among those of ``together``. NaN for a draw without any of them.
    """
    sums = np.zeros((len(together.of), 2))
    sums[here] = np.column_stack([values * counted, counted])
    total, number = (draws @ together.sums(sums)).T
    return np.divide(total, number, out=np.full(len(total), np.nan), where=number > 0)


def _four_rows(single: Measures, multi: Measures) -> list[dict[str, Any]]:
    rows = []
    for key, title, _ in _FOUR_WAYS:
        differences = multi[key][1] - single[key][1]
        known = differences[np.isfinite(differences)]
        low, high = percentile_interval(known) if len(known) else (math.nan, math.nan)
        rows.append(
            {
                "measure": title,
                "single": single[key][0],
                "multi": multi[key][0],
                "difference": multi[key][0] - single[key][0],
                "low": low,
                "high": high,
            }
        )
    return rows


def drop_summary_table(single_multi: Table, unpublished: Mapping[str, str] | None = None) -> Table:
    """The drops over all configurations that are whole, paired by configuration, beside the published ones.

    ``unpublished`` says by config how the dataset differs from the published one, see `overall.not_comparable`.
    """
    rows = []
    whole = single_multi.rows[single_multi.rows["whole"].astype(bool)] if len(single_multi.rows) else single_multi.rows
    for _, title, reference in _FOUR_WAYS:
        drops = whole.loc[whole["measure"] == title, "difference"]
        if drops.empty:
            continue
        rows.append(
            {
                "measure": title,
                "configurations": len(drops),
                "dropping": int((drops < 0).sum()),
                "mean": float(drops.mean()),
                "highest": float(drops.max()),
                "lowest": float(drops.min()),
                "published": reference,
            }
        )
    columns = [
        Column("measure", "Measure", Kind.TEXT),
        Column("configurations", "Configurations", Kind.COUNT),
        Column("dropping", "Drop on multi", Kind.COUNT),
        Column("mean", "Mean difference (points)", Kind.POINTS),
        Column("highest", "Highest difference", Kind.POINTS),
        Column("lowest", "Lowest difference", Kind.POINTS),
        Column("published", "Published mean", Kind.POINTS),
    ]
    findings = published.FINDINGS
    note = (
        f"Multi less single, each configuration paired with itself. Published: {findings.configurations_that_drop} of "
        f"{findings.configurations} configurations drop. Source: {published.EGOGEARS_FINDINGS_SOURCE}."
        f"{_left_out(single_multi.rows)}{not_comparable(unpublished or {}, 'single', 'multi')}"
    )
    return table("drops", "From single to multi, over configurations", note, columns, rows)


def _left_out(rows: pd.DataFrame) -> str:
    partial = sorted(set(rows.loc[~rows["whole"].astype(bool), "run"])) if len(rows) else []
    return f" Whole runs only; left out: {', '.join(map(str, partial))}." if partial else ""


def partial_credit_table(results: Results) -> Table:
    """What partial credit (Jaccard) adds to exact, in the median over the runs that are whole."""
    findings = published.FINDINGS
    reference = {
        "single": findings.median_partial_credit_gain_single,
        "multi": findings.median_partial_credit_gain_multi,
    }
    rows = []
    for config in results.configs:
        gains = results.matrix(config, "jaccard").mean() - results.matrix(config, "exact_set").mean()
        gains = gains[[label for label in gains.index if label in results.whole]]
        if gains.empty:
            continue
        rows.append(
            {
                "config": config,
                "runs": len(gains),
                "gain": float(gains.median()),
                "published": reference.get(config),
            }
        )
    columns = [
        SPLIT,
        Column("runs", "Runs", Kind.COUNT),
        Column("gain", "Median gain (points)", Kind.POINTS),
        Column("published", "Published median", Kind.POINTS),
    ]
    note = (
        f"Jaccard less exact, median over whole runs. Published: {published.EGOGEARS_FINDINGS_SOURCE}."
        f"{not_comparable(results.unpublished, *results.configs)}"
    )
    return table("partial_credit", "What partial credit adds", note, columns, rows)
