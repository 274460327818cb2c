"""What each run is, how much of it is there, and its headline scores (PROTOCOL 1.4)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from egobench_tasks.benchmarks import EGOGEARS
from egobench_tasks.report.analyse import against, published
from egobench_tasks.report.analyse.clusters import clusters
from egobench_tasks.report.analyse.defaults import DEFAULTS, defaults_of
from egobench_tasks.report.analyse.estimates import share
from egobench_tasks.report.analyse.tables import ORIGIN, PUBLISHED, Column, Kind, Table, table
from egobench_tasks.report.read.choice_outcomes import METRICS
from egobench_tasks.report.read.choice_results import Results
from egobench_tasks.report.read.states import ANSWERED, STATES, TITLES
from egobench_tasks.runs.journal import MISSING
from egobench_tasks.scoring.intervals import wilson_interval
from egobench_tasks.scoring.scores import chance_overlap, kappa

THIS_REPORT = "run"

RUN = Column("run", "Run", Kind.RUN)
SPLIT = Column("config", "Split", Kind.TEXT)
QUESTIONS = Column("questions", "Questions", Kind.COUNT)
MARK = Column("mark", "Mark", Kind.MARK)

# Why a question has no answer: those that PROTOCOL and the issue name are always shown, the rest where they occur.
_ALWAYS_SHOWN = (ANSWERED, "no_json", "unknown_letter", "truncated", "unclosed_reasoning", MISSING)


def summarise(outcomes: pd.DataFrame) -> dict[str, Any]:
    """Return the scores of a set of outcomes, in [0, 1]; ``low``, ``high`` are exact_set's Wilson 95 % interval.

    ``clustered_low``, ``clustered_high``: the interval that allows for clusters of questions; ``clusters``: their
    number; ``design_effect``: see `estimates.Error`.
    """
    n = len(outcomes)
    clustered = share(outcomes["exact_set"].to_numpy(dtype=float), clusters(outcomes["cluster"]))
    low, high = wilson_interval(float(outcomes["exact_set"].sum()), n)
    means = {name: float(outcomes[name].mean()) for name in (*METRICS, "chance")}
    return {
        "questions": n,
        **means,
        "low": low,
        "high": high,
        "clustered_low": clustered.low,
        "clustered_high": clustered.high,
        "clusters": clustered.error.clusters,
        "design_effect": clustered.error.design_effect,
        "kappa": kappa(means["exact_set"], means["chance"]),
        "chance_overlap": chance_overlap(zip(outcomes["n_options"], outcomes["n_select"], strict=True)),
        "no_trace": int(outcomes["no_trace"].sum()),
        "exact_traced": float(outcomes["exact_set"].where(~outcomes["no_trace"].astype(bool), 0.0).mean()),
    }


def runs_table(results: Results) -> Table:
    """What was run: settings, and how many questions another attempt may still answer."""
    rows = [
        {
            "run": task.label,
            "config": task.config,
            "mark": task.mark,
            "questions": task.questions,
            "published": EGOGEARS.rows[task.config],
            "unfinished": task.unfinished,
            "prompt": task.settings.prompt,
            "frames": task.settings.frames,
            "dataset": task.settings.dataset,
            "defaults": defaults_of(results.records.get(task.label, ())),
            "disagreeing": len(task.disagreeing),
            "source": task.source.name,
        }
        for task in results.tasks
    ]
    columns = [
        RUN,
        SPLIT,
        MARK,
        QUESTIONS,
        Column("published", "Published split", Kind.COUNT),
        Column("unfinished", "Unfinished", Kind.COUNT),
        Column("prompt", "Prompt", Kind.TEXT),
        Column("frames", "Frames", Kind.TEXT, aside=True),
        Column("dataset", "Dataset", Kind.TEXT, aside=True),
        DEFAULTS,
        Column("disagreeing", "Saved scores that differ", Kind.COUNT),
    ]
    note = (
        "A run is partial while questions are missing or failed for reasons that are not the model's; it is mixed "
        "where its folder holds answers of the same model under other settings, which are read as runs of their own."
    )
    return table("runs", "Runs", note, columns, rows)


def completeness_table(results: Results) -> Table:
    """Answered, and why not: every question of the split is in exactly one column."""
    counts = results.outcomes.groupby(["run", "config"], sort=False)["state"].value_counts().unstack(fill_value=0)
    occurring = [state for state in STATES if state in counts.columns or state in _ALWAYS_SHOWN]
    rows = [
        {"run": run, "config": config, "questions": int(row.sum())}
        | {str(state): int(row.get(state, 0)) for state in occurring}
        for (run, config), row in counts.iterrows()
    ]
    columns = [RUN, SPLIT, QUESTIONS, *(Column(str(state), TITLES[state], Kind.COUNT) for state in occurring)]
    note = "All that is not answered scores as wrong: the denominator is every question of the split."
    return table("completeness", "Completeness", note, columns, rows)


def overall_table(results: Results) -> Table:
    """Headline scores, a row for each run and split, the published leaderboard below them."""
    grouped = results.outcomes.groupby(["config", "run"], sort=False)
    rows = [
        {"run": run, "config": config, ORIGIN: THIS_REPORT, **summarise(outcomes)}
        | against.difference(results, config, run, outcomes)
        for (config, run), outcomes in grouped
    ]
    rows.sort(key=lambda row: (results.configs.index(row["config"]), -row["exact_set"]))
    if "multi" in results.configs:
        rows += [_published(row) for row in published.MULTI_LEADERBOARD]
    columns = [
        RUN,
        SPLIT,
        Column("exact_set", "Exact %", Kind.PERCENT, 2, "low", "high", "clustered_low", "clustered_high"),
        *against.columns(results.anchor),
        Column("chance", "Chance %", Kind.PERCENT, 2),
        Column("kappa", "Kappa %", Kind.PERCENT, 2, aside=True),
        Column("jaccard", "Jaccard %", Kind.PERCENT, 2, aside=True),
        Column("overlap", "Overlap %", Kind.PERCENT, 2, aside=True),
        Column("chance_overlap", "Chance of overlap %", Kind.PERCENT, 2, aside=True),
        Column("wellformed", "Wellformed %", Kind.PERCENT, 2, aside=True),
        Column("answered", "Answered %", Kind.PERCENT, 2),
        Column("no_trace", "No trace", Kind.COUNT, aside=True),
        Column("exact_traced", "Exact with trace %", Kind.PERCENT, 2, aside=True),
        replace(QUESTIONS, aside=True),
        Column("clusters", "Clusters", Kind.COUNT, aside=True),
        Column("design_effect", "Design effect", Kind.RATIO, 2, aside=True),
        Column(ORIGIN, "From", Kind.TEXT, aside=True),
    ]
    note = (
        "Exact: the predicted set is the gold set; with Wilson 95 % interval, and the one that allows for clusters, "
        "questions that share a clip or a recording. Design effect: how many times the variance of as many independent "
        "questions. Kappa: (exact - chance)/(1 - chance). "
        "Jaccard, overlap: partial credit. Wellformed: as many options chosen as are right. "
        "No trace: answers without reasoning although thinking was on; exact with trace counts them as wrong, as "
        "upstream's harness does. "
        f"Published: {published.EGOGEARS_SOURCE}, by {published.EGOGEARS_HARNESS}."
        f"{not_comparable(results.unpublished, 'multi')}"
    )
    return table("overall", "Overall", note, columns, rows, apart="multi" in results.unpublished)


def not_comparable(unpublished: Mapping[str, str], *configs: str) -> str:
    """Return a sentence for the note of a table with published figures, where the dataset is not the published one.

    ``unpublished`` says by config how it differs (`choice_results.Results`). Empty where none of the configs does.
    """
    parts = [f"{config}: {unpublished[config]}" for config in configs if config in unpublished]
    if not parts:
        return ""
    return f" NOT the published dataset ({'; '.join(parts)}): the runs here do not compare with published figures."


def _published(row: published.LeaderboardRow) -> dict[str, Any]:
    scores = {"exact_set": row.exact_set, "overlap": row.overlap, "wellformed": row.wellformed}
    about = {"config": "multi", ORIGIN: PUBLISHED, "harness": published.EGOGEARS_HARNESS}
    return {"run": row.model, **about, **scores}
