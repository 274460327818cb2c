"""Power comes as computed, before a run and after it."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simulated import gold_of, guess, labelled_rows, memory_split, score_runs, simulated_run
from simulations import coverage_of_differences
from typer.testing import CliRunner

from egobench_tasks.cli import app
from egobench_tasks.errors import InputError
from egobench_tasks.report.analyse.clusters import Clusters
from egobench_tasks.report.analyse.planning import Plan, plan_of_runs, power_table, scaled
from egobench_tasks.report.analyse.power import POWER, Design, design_effect, power, smallest_difference


@pytest.mark.parametrize(
    ("questions", "count", "discordance", "correlated"), [(500, 500, 0.2, 0.0), (320, 40, 0.25, 0.2)]
)
def test_power_is_that_of_simulated_comparisons(questions, count, discordance, correlated):
    """500 simulations; `tests/bench/coverage.py` makes 1,000 and asks for 2 points."""
    effect = design_effect(questions, count, correlated)
    design = Design(questions=questions, df=count - 1, discordance=discordance, design_effect=effect)
    least = smallest_difference(design)
    assert power(design, least) == pytest.approx(POWER, abs=1e-6)
    clusters = Clusters(np.repeat(np.arange(count), questions // count))
    half = least / 2
    found = coverage_of_differences(clusters, discordance / 2 + half, discordance / 2 - half, correlated, 500, seed=3)
    assert found.rejected == pytest.approx(POWER, abs=0.055)  # three standard errors of 500 coins


@settings(max_examples=40, deadline=None)
@given(st.integers(30, 3000), st.floats(0.05, 0.6), st.floats(1.0, 8.0), st.integers(1, 16))
def test_more_questions_and_more_repeats_never_hide_a_difference(questions, discordance, effect, repeats):
    def least(**changes):
        given = {"questions": questions, "df": 40, "discordance": discordance, "design_effect": effect}
        return smallest_difference(Design(**{**given, "within": discordance / 2, "repeats": repeats, **changes}))

    base = least()
    if not math.isnan(base):
        assert least(questions=2 * questions) <= base + 1e-9
        assert least(repeats=repeats + 1) <= base + 1e-9
        assert least(design_effect=effect * 2) >= base - 1e-9 or math.isnan(least(design_effect=effect * 2))
        assert least(within=0.0) >= base - 1e-9


def test_too_few_questions_show_nothing():
    assert math.isnan(smallest_difference(Design(questions=3, df=2, discordance=0.5)))


@pytest.mark.parametrize("changes", [{"discordance": 0.0}, {"repeats": 0}, {"within": 0.9}, {"df": 0}])
def test_a_design_that_cannot_be_is_refused(changes):
    with pytest.raises(ValueError):
        Design(**{"questions": 10, "df": 9, "discordance": 0.5, **changes})


def test_a_plan_from_two_runs_has_their_discordance_and_clusters():
    split = memory_split("multi", labelled_rows(120))

    def half(name):
        return lambda asked: gold_of(asked) if asked.luck(name).random() < 0.6 else guess(asked, name)

    runs = [simulated_run(name, half(name), split, ()) for name in "ab"]
    results = score_runs(runs, lambda config: split)
    plan = plan_of_runs(results, "multi")
    exact = results.matrix("multi", "exact_set")
    assert plan.discordance == pytest.approx((exact["a"] != exact["b"]).mean())
    assert (plan.questions, plan.clusters, plan.within) == (120, 30, 0.0)
    assert "a and b on multi" in plan.source
    larger = scaled(plan, 1200, None)
    assert (larger.questions, larger.clusters) == (1200, 300)
    smallest = [power_table(one, 1, [0.05]).rows["smallest"].iloc[0] for one in (plan, larger)]
    assert smallest[1] < smallest[0] / 2
    with pytest.raises(InputError, match="1 whole runs"):
        plan_of_runs(score_runs(runs[:1], lambda config: split), "multi")


def test_repeats_help_only_against_luck():
    steady, lucky = Plan(500, 500, 0.2), Plan(500, 500, 0.2, within=0.15)
    assert list(power_table(steady, 8, []).rows["repeats"]) == [8]
    shown = power_table(lucky, 1, []).rows
    assert list(shown["repeats"]) == [1, 2, 4, 8, 16]
    assert shown["smallest"].is_monotonic_decreasing
    assert shown["smallest"].iloc[0] == pytest.approx(power_table(steady, 1, []).rows["smallest"].iloc[0])


def test_the_command_plans_from_assumptions():
    said = CliRunner().invoke(app, ["power", "--questions", "500", "--discordance", "0.2", "--difference", "5.6"])
    assert said.exit_code == 0 and "5.60" in said.output
    clustered = CliRunner().invoke(
        app, ["power", "--questions", "500", "--discordance", "0.2", "--clusters", "50", "--correlation", "0.3"]
    )
    assert "as 135 independent ones" in " ".join(clustered.output.split())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["power"], "--discordance"),
        (["power", "--questions", "10", "--discordance", "1.5"], r"\(0, 1\]"),
        (["power", "--questions", "10", "--discordance", "0.5", "--clusters", "30"], "30 clusters of 10"),
    ],
)
def test_what_cannot_be_planned_is_said(arguments, message):
    with pytest.raises(InputError, match=message):
        CliRunner().invoke(app, arguments, catch_exceptions=False)
