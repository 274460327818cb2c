"""Whether metrics, and splits, put the runs in the same order (PROTOCOL 1.4)."""

from itertools import combinations

from egobench_tasks.report.analyse import published
from egobench_tasks.report.analyse.overall import not_comparable, summarise
from egobench_tasks.report.analyse.statistics import spearman
from egobench_tasks.report.analyse.tables import Column, Kind, Table, table
from egobench_tasks.report.read.choice_results import Results

# Within a split kappa ranks as exact does: both have the same chance.
_RANKED = ("exact_set", "jaccard", "overlap", "wellformed")


def rank_agreement_table(results: Results) -> Table:
    """Spearman's correlation of the whole runs' ranks under two metrics, and of exact on single and multi."""
    scores = {
        config: {
            run: summarise(outcomes)
            for run, outcomes in results.of(config).groupby("run", sort=False)
            if run in results.whole
        }
        for config in results.configs
    }
    rows = [
        {
            "first": f"{one}, {config}",
            "second": f"{other}, {config}",
            "runs": len(runs),
            "rho": spearman([run[one] for run in runs.values()], [run[other] for run in runs.values()]),
        }
        for config, runs in scores.items()
        for one, other in combinations(_RANKED, 2)
    ]
    if len(scores) > 1:
        shared = [run for run in results.labels if all(run in runs for runs in scores.values())]
        one, other = scores
        rho = spearman(*([scores[config][run]["exact_set"] for run in shared] for config in (one, other)))
        rows.append({"first": f"exact_set, {one}", "second": f"exact_set, {other}", "runs": len(shared), "rho": rho})
    columns = [
        Column("first", "Metric", Kind.TEXT),
        Column("second", "Metric", Kind.TEXT),
        Column("runs", "Runs", Kind.COUNT),
        Column("rho", "Spearman", Kind.RATIO, 3),
    ]
    note = (
        f"Needs three whole runs. Published: at least {published.FINDINGS.least_rank_agreement:.2f}."
        f"{not_comparable(results.unpublished, *results.configs)}"
    )
    return table("rank_agreement", "Do the metrics rank alike", note, columns, rows)
