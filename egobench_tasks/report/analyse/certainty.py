"""How sure each score is, and what that rests on: three intervals, clusters, design effect."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from egobench_tasks.report.analyse.clusters import Clusters, clusters, warning
from egobench_tasks.report.analyse.estimates import FEW_EVENTS, share
from egobench_tasks.report.analyse.overall import QUESTIONS, RUN, SPLIT
from egobench_tasks.report.analyse.statistics import bootstrap_means, percentile_interval
from egobench_tasks.report.analyse.tables import Column, Kind, Table, table
from egobench_tasks.report.read.choice_results import Results
from egobench_tasks.report.read.clusters import UNKNOWN_RECORDING
from egobench_tasks.scoring.intervals import wilson_interval

BUNDLE = "bundle"
"""The dataset's column of the coarsest groups there are: the release's ten bundles."""


def certainty_table(results: Results) -> Table:
    """A row a run and split: Wilson's interval, the clustered one, the cluster bootstrap, and the bound by bundles."""
    rows: list[dict[str, Any]] = []
    for config in results.configs:
        attributes = results.splits[config].attributes.set_index("question_id")
        exact = results.matrix(config, "exact_set")
        found = clusters(attributes["cluster"].loc[exact.index])
        draws = bootstrap_means(exact.to_numpy(dtype=float), clusters=found)
        coarse = _bundles(attributes.loc[exact.index])
        for place, run in enumerate(exact.columns):
            right = exact[run].to_numpy(dtype=float)
            estimate = share(right, found)
            row: dict[str, Any] = {"run": run, "config": config, "questions": len(right), "exact_set": estimate.value}
            row |= _interval("wilson", wilson_interval(float(right.sum()), len(right)))
            row |= _interval("clustered", (estimate.low, estimate.high))
            row |= _interval("bootstrap", percentile_interval(draws[:, place]))
            if coarse is not None:
                bound = share(right, coarse)
                row |= _interval("bundle", (bound.low, bound.high))
            row |= {"standard_error": estimate.error.standard_error, "clusters": found.count}
            row |= {"design_effect": estimate.error.design_effect, "effective": estimate.error.effective_questions}
            row |= {"events": "few: rough" if estimate.few_events else "enough"}
            rows.append(row | {"largest": found.largest_share})
    shown = ["wilson", "clustered", "bootstrap", *(["bundle"] if any("bundle" in row for row in rows) else [])]
    titles = {"wilson": "Wilson", "clustered": "Clustered", "bootstrap": "Cluster bootstrap", "bundle": "By bundle"}
    columns = [
        RUN,
        SPLIT,
        Column("exact_set", "Exact %", Kind.PERCENT, 2),
        *(Column(name, f"{titles[name]}, 95 %", Kind.TEXT) for name in shown),
        Column("standard_error", "Standard error (points)", Kind.PERCENT, 2),
        QUESTIONS,
        Column("clusters", "Clusters", Kind.COUNT),
        Column("largest", "Largest cluster %", Kind.PERCENT),
        Column("design_effect", "Design effect", Kind.RATIO, 2),
        Column("effective", "Independent questions that say as much", Kind.COUNT),
        Column("events", "Events", Kind.TEXT),
    ]
    note = (
        "Clusters: questions that share a clip or a recording, directly or through others. Clustered: Wilson's "
        "interval at the number of independent questions that say as much, by the cluster-robust error (CR2); the "
        "bootstrap draws whole clusters. By bundle: were each bundle of the release one "
        "cluster, a coarse bound. Events: the rarer of right and "
        f"wrong answers; below {FEW_EVENTS} independent ones the intervals are rough. " + " ".join(_caveats(results))
    ).strip()
    return table("certainty", "How sure the scores are", note, columns, rows)


def _interval(name: str, bounds: tuple[float, float]) -> dict[str, Any]:
    low, high = bounds
    text = None if pd.isna(low) else f"{100 * low:.2f} to {100 * high:.2f}"
    return {name: text, f"{name}_low": low, f"{name}_high": high}


def _bundles(attributes: pd.DataFrame) -> Clusters | None:
    """The clusters by bundle; None where the dataset does not name every question's."""
    if attributes[BUNDLE].isna().any() or attributes[BUNDLE].nunique() < 2:
        return None
    return clusters(attributes[BUNDLE].astype(str))


def _caveats(results: Results) -> Iterator[str]:
    """What makes clusters doubtful: few of them, a large one, recordings that nobody knows."""
    for config, split in results.splits.items():
        found = clusters(split.attributes["cluster"])
        doubt = warning(found.count, found.largest_share)
        if doubt:
            yield f"{config}: {doubt}."
        yield from _bundle_caveats(config, split.attributes)
        unknown = int(split.attributes[UNKNOWN_RECORDING].sum())
        if unknown:
            yield (
                f"{config}: of {unknown:,} of {len(split.attributes):,} questions the recording is not known (neither "
                "named nor compared by `egobench overlaps`); those that share one are taken for independent, and the "
                "clustered interval is too narrow by so much."
            )


def _bundle_caveats(config: str, attributes: pd.DataFrame) -> Iterator[str]:
    """What makes the bound by bundles doubtful: few bundles, or clusters that do not lie within one."""
    coarse = _bundles(attributes)
    if coarse is None:
        return
    doubt = warning(coarse.count, coarse.largest_share)
    if doubt:
        yield f"{config}, by bundle: {doubt}."
    torn = int((attributes.groupby("cluster")[BUNDLE].nunique() > 1).sum())
    if torn:
        yield f"{config}: {torn:,} of {attributes['cluster'].nunique():,} clusters lie in several bundles."
