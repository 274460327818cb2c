"""What a score's intervals rest on: the bound by the release's bundles, and what makes it doubtful."""

from dataclasses import replace

import pandas as pd
import pytest
from planted import memory_run, memory_split, mixed_rows, right, wrong

from egobench_tasks.report.analyse.certainty import certainty_table
from egobench_tasks.report.analyse.clusters import clusters
from egobench_tasks.report.analyse.estimates import share
from egobench_tasks.report.read.choice_results import Results, score_runs


@pytest.fixture(scope="module")
def results() -> Results:
    rows = mixed_rows(60, 80)
    said = {
        config: {row["question_id"]: right(row) if number % 3 else wrong(row) for number, row in enumerate(members)}
        for config, members in rows.items()
    }
    return score_runs([memory_run("m", said)], lambda config: memory_split(config, rows[config]))


def test_the_bound_by_bundles_is_printed_for_the_split_that_has_them(results):
    table = certainty_table(results)
    rows = table.rows.set_index("config")
    assert pd.isna(rows.loc["single", "bundle"])
    multi = results.of("multi")
    bound = share(multi["exact_set"].to_numpy(dtype=float), clusters(multi["bundle"]))
    assert bound.error.clusters == 10
    assert (rows.loc["multi", "bundle_low"], rows.loc["multi", "bundle_high"]) == pytest.approx((bound.low, bound.high))
    assert "By bundle, 95 %" in [column.title for column in table.columns]
    assert "multi, by bundle: only 10 clusters: rough." in table.note
    assert "clusters lie in several bundles" not in table.note


def test_clusters_that_bundles_tear_apart_are_said(results):
    split = results.splits["multi"]
    joined = split.attributes.assign(cluster=[0, 0, *range(1, len(split.attributes) - 1)])  # of bundles 1 and 2
    torn = replace(results, splits={**results.splits, "multi": replace(split, attributes=joined)})
    assert f"multi: 1 of {len(joined) - 1} clusters lie in several bundles" in certainty_table(torn).note
