"""The section "Diagnosis": what probes say of each model, for a reader who knows nothing of the code."""

from egobench_tasks.report.analyse.budgets import Price, budget_table, cost_table
from egobench_tasks.report.analyse.diagnosis_against import statements_against_table
from egobench_tasks.report.analyse.diagnosis_tables import (
    PROFILE,
    consistency_table,
    group_table,
    profile_table,
    sentence_table,
    summary_table,
    told,
)
from egobench_tasks.report.analyse.examples import example_table
from egobench_tasks.report.analyse.tables import Table
from egobench_tasks.report.analyse.variants import variants
from egobench_tasks.report.read.choice_results import Results
from egobench_tasks.report.show import plots
from egobench_tasks.report.show.profile_plot import profile
from egobench_tasks.report.show.section import Section

_TEXT = (
    "A score says how often a model is right, not why it is wrong. Here the same questions are asked with one thing "
    "changed: without frames (blind), with one frame a clip (center), with the frames in another order (shuffled, "
    "reversed), with the clips in another order (reordered) or under other names (renamed), with the headings of two "
    "clips exchanged (swapped), with the options in another order (perm). What changes with the answers is what the "
    "model uses. Runs that are not finished are left out."
)


def diagnosis_section(results: Results, price: Price) -> Section:
    """Lay out the statements, the profile, budgets, consistency, examples and costs; empty without probes."""
    found = list(variants(results))
    if not found:
        return Section("diagnosis", "Diagnosis", "", (), ())
    statements, budgets, ways = told(found), budget_table(found), profile_table(found)
    tables = (
        summary_table(statements),
        sentence_table(statements),
        statements_against_table(statements, results.anchor),
        ways,
        budgets,
        consistency_table(found),
        example_table(found),
        group_table(found),
        cost_table(found, price),
    )
    return Section("diagnosis", "Diagnosis", _TEXT, tables, (*_profile(ways), *_curves(budgets)))


def _profile(ways: Table) -> list[plots.Plot]:
    rows = ways.rows[ways.rows["way"].isin(PROFILE)]
    alt = f"Exact accuracy of each run under {', '.join(PROFILE)}, with chance; the same figures as the table below."
    return [plots.to_plot("profile", "Profile", alt, profile(rows))]


def _curves(budgets: Table) -> list[plots.Plot]:
    series = {
        f"{run}, {config}": points.rename(columns={"frames": "x", "exact_set": "accuracy"})
        for (run, config), points in list(budgets.rows.groupby(["run", "config"], sort=False))[: plots.MAX_SERIES]
    }
    if not series:
        return []
    title = "Accuracy against the number of frames"
    alt = f"{title} shown of all clips together; the same figures as the table of that name."
    return [plots.to_plot("budgets", title, alt, plots.lines(series, "frames of all clips together", log_x=True))]
