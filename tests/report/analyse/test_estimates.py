"""Clustered estimates against statsmodels, in special cases, and on simulations of known truth."""

import math

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from simulations import LAYOUTS, coverage_of_differences, coverage_of_shares, layout

from egobench_tasks.report.analyse.clusters import Clusters, clusters, singletons
from egobench_tasks.report.analyse.estimates import (
    _tango_score,
    above_chance,
    clustered_error,
    correlation,
    degrees_of_freedom,
    mean,
    paired_difference,
    share,
    sign_flip,
)
from egobench_tasks.report.analyse.statistics import bootstrap_means, mcnemar_exact, percentile_interval
from egobench_tasks.report.read.clusters import connected
from egobench_tasks.scoring.intervals import wilson_interval

CHANGES = st.lists(st.sampled_from([-1.0, 0.0, 1.0]), min_size=2, max_size=40)


@settings(max_examples=25, deadline=None)
@given(CHANGES, st.randoms(use_true_random=False))
def test_the_error_is_cr2_of_an_intercept(values, random):
    """By the matrices of Bell and McCaffrey; statsmodels has the uncorrected one (CR0)."""
    names = [random.randrange(6) for _ in values]
    found, y, n = clusters(names), np.array(values), len(values)
    if found.count < 2:
        return
    residuals, variance, uncorrected = y - y.mean(), 0.0, 0.0
    for one in range(found.count):
        mask = found.of == one
        hat = np.full((mask.sum(), mask.sum()), 1 / n)
        roots, vectors = np.linalg.eigh(np.eye(mask.sum()) - hat)
        adjusted = vectors @ np.diag(roots**-0.5) @ vectors.T @ residuals[mask]
        variance += (adjusted.sum() / n) ** 2
        uncorrected += (residuals[mask].sum() / n) ** 2
    assert clustered_error(y, found).standard_error == pytest.approx(math.sqrt(variance), abs=1e-12)
    fit = sm.OLS(y, np.ones(n)).fit(cov_type="cluster", cov_kwds={"groups": found.of, "use_correction": False})
    assert fit.bse[0] == pytest.approx(math.sqrt(uncorrected), abs=1e-7)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(1, 30), min_size=2, max_size=12), st.floats(0, 1))
def test_degrees_of_freedom_are_those_of_the_matrices(sizes, correlated):
    sizes = np.array(sizes, dtype=float)
    n, count = sizes.sum(), len(sizes)
    sums = np.diag(sizes * (1 - correlated) + sizes**2 * correlated)
    centre = np.eye(count) - np.outer(sizes / n, np.ones(count))
    weights = np.diag(1 / np.sqrt(1 - sizes / n))
    matrix = weights @ centre @ sums @ centre.T @ weights
    expected = np.trace(matrix) ** 2 / np.trace(matrix @ matrix)
    assert degrees_of_freedom(sizes, correlated) == pytest.approx(expected, rel=1e-6)
    assert degrees_of_freedom(np.ones(count), 0.0) == pytest.approx(count - 1)


@settings(max_examples=60, deadline=None)
@given(CHANGES)
def test_sign_flip_of_single_questions_is_mcnemar(changes):
    values = np.array(changes)
    expected = mcnemar_exact(int((values > 0).sum()), int((values < 0).sum()))
    assert sign_flip(values, singletons(len(values))) == pytest.approx(expected)


def test_sign_flip_of_clusters_is_the_count_of_all_flips():
    values = np.array([1, 1, 0, 1, -1, 1, 0, 0, 1, 1.0])
    found = clusters([0, 0, 0, 1, 1, 1, 2, 3, 3, 4])
    sums = found.sums(values)
    signs = np.array(np.meshgrid(*[[-1, 1]] * found.count)).reshape(found.count, -1)
    expected = (np.abs(signs.T @ sums) >= abs(sums.sum())).mean()
    assert sign_flip(values, found) == pytest.approx(expected)


def test_sign_flip_refuses_what_it_would_round():
    with pytest.raises(ValueError, match="whole"):
        sign_flip(np.array([0.5, 1.0]), singletons(2))


def test_no_change_at_all_is_not_certainty():
    """30 questions on which two runs agree: the true difference may still be a few points."""
    zeros = np.zeros(30)
    alone = paired_difference(zeros, zeros, singletons(30))
    together = paired_difference(zeros, zeros, clusters([0] * 15 + [1] * 15))
    assert alone.value == 0.0 and not alone.tells
    assert 0.05 < alone.high < 0.15 and together.high > 0.5


def test_a_paired_difference_has_tangos_interval():
    """1 and 7 of 21 changed: −51.7 to −2.6 points by the normal's factor (Fagerland, Lydersen and Laake 2014)."""
    for bound, sign in ((-0.517, 1), (-0.026, -1)):
        assert _tango_score(1 / 21, 7 / 21, 21, bound) == pytest.approx(sign * 1.96, abs=0.01)
    values = np.array([1.0] + [-1.0] * 7 + [0.0] * 13)
    found = paired_difference(np.zeros(21), values, singletons(21))
    assert found.value == pytest.approx(-6 / 21)
    # Student's factor of 20 degrees of freedom: a little wider.
    assert -0.56 < found.low < -0.517 and -0.026 < found.high < 0.02


@settings(max_examples=60, deadline=None)
@given(CHANGES, st.integers(1, 4))
def test_the_interval_of_a_difference_leaves_out_0_where_its_test_finds_one(changes, size):
    values = np.array(changes)
    found = paired_difference(np.zeros(len(values)), values, clusters([place // size for place in range(len(values))]))
    if math.isnan(found.low):
        return
    assert -1 <= found.low <= found.value <= found.high <= 1
    assert found.tells == (found.p_value < 0.05) or found.p_value == pytest.approx(0.05, abs=1e-6)


def test_few_clusters_with_a_right_answer_widen_a_share():
    """Three clusters of 40 hold all the right answers: how far questions hang together is seen in three alone."""
    right = np.zeros(320)
    right[[0, 1, 80, 160, 161]] = 1
    together, alone = share(right, clusters(np.repeat(np.arange(40), 8).tolist())), share(right, singletons(320))
    assert together.error.df == 5 and together.few_events
    assert alone.error.df == pytest.approx(319)


def test_all_of_240_right_in_80_clusters_is_not_45_to_100_percent():
    """Without an answer of the other kind there was one degree of freedom, and with a single one too."""
    of, right = clusters(np.repeat(np.arange(80), 3).tolist()), np.ones(240)
    all_right, one_wrong = share(right, of), share(np.r_[0.0, right[1:]], of)
    low, high = wilson_interval(80, 80)  # as many as there are clusters: they cannot hang together more than wholly
    assert (all_right.low, all_right.high) == (pytest.approx(low, abs=0.005), high)
    assert 0.93 < one_wrong.low < all_right.low and one_wrong.high < 1


def test_a_share_of_independent_questions_is_wilsons_up_to_students_factor():
    right = np.repeat([1.0, 0.0], [120, 380])
    found, (low, high) = share(right, singletons(500)), wilson_interval(120, 500)
    assert (found.low, found.high) == (pytest.approx(low, abs=5e-4), pytest.approx(high, abs=5e-4))
    assert found.error.design_effect == pytest.approx(1.0) and found.error.clusters == 500


def test_equal_answers_in_a_cluster_count_once():
    """Ten copies of each of 40 questions say as much as the 40."""
    once = np.random.default_rng(4).integers(0, 2, 40).astype(float)
    copies, of = np.repeat(once, 10), clusters(np.repeat(np.arange(40), 10).tolist())
    found = share(copies, of)
    assert found.error.design_effect == pytest.approx(10, rel=0.05)
    assert correlation(copies, of) == pytest.approx(1.0)
    plain = share(once, singletons(40))
    assert (found.low, found.high) == (pytest.approx(plain.low, abs=0.01), pytest.approx(plain.high, abs=0.01))


@pytest.mark.parametrize("estimate", [share, mean])
def test_one_cluster_has_no_interval(estimate):
    found = estimate(np.array([1.0, 0.0, 1.0]), clusters([0, 0, 0]))
    assert found.value == pytest.approx(2 / 3) and math.isnan(found.low) and math.isnan(found.high)


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ([0] * 30 + list(range(1, 25)), "56 % of the questions in one cluster: rough"),
        ([0, 1, 2], "only 3 clusters: rough"),
        (list(range(20)), None),
    ],
)
def test_few_clusters_and_a_large_one_are_said(names, said):
    assert share(np.ones(len(names)), clusters(names)).error.warning == said


def test_two_clusters_alike_are_no_certainty():
    assert math.isnan(mean(np.full(8, 0.25), clusters([0, 1] * 4)).low)
    assert mean(np.full(8, 0.25), singletons(8)).tells


def test_nothing_is_not_a_number():
    empty = np.zeros(0)
    assert math.isnan(share(empty, clusters([])).value)
    assert math.isnan(paired_difference(empty, empty, clusters([])).low)
    assert sign_flip(empty, clusters([])) == 1.0


def test_chance_itself_is_not_above_chance():
    chance = np.full(200, 0.25)
    right = np.tile([1.0, 0.0, 0.0, 0.0], 50)
    assert above_chance(right, chance, singletons(200)).p_value == pytest.approx(1.0)
    assert above_chance(np.ones(200), chance, singletons(200)).tells


def test_components_join_through_others():
    assert connected([{"clip a"}, {"clip b"}, {"clip a", "clip b"}, set(), {"clip c"}]) == [0, 0, 0, 1, 2]
    assert connected([]) == []


def test_the_cluster_bootstrap_draws_whole_clusters():
    generator = np.random.default_rng(2)
    found = layout(LAYOUTS["uneven"], 60, generator)
    values = np.repeat(generator.random(60) < 0.4, found.sizes).astype(float)
    low, high = percentile_interval(bootstrap_means(values[:, None], clusters=found)[:, 0])
    estimate = share(values, found)
    assert low == pytest.approx(estimate.low, abs=0.05) and high == pytest.approx(estimate.high, abs=0.05)
    alone = bootstrap_means(values[:, None], clusters=Clusters(np.arange(len(values))))
    assert np.array_equal(alone, bootstrap_means(values[:, None]))


@pytest.mark.parametrize(
    ("kind", "count", "correlated", "rate"),
    [("single", 300, 0.0, 0.3), ("equal", 40, 0.1, 0.3), ("uneven", 54, 0.2, 0.3), ("equal", 20, 0.3, 0.05)],
)
def test_intervals_cover_at_their_rate_and_tests_keep_their_level(kind, count, correlated, rate):
    """400 simulations each; `tests/bench/coverage.py` makes 1,000 over many more layouts."""
    found = layout(LAYOUTS[kind], count, np.random.default_rng(7))
    shares = coverage_of_shares(found, rate, correlated, 400, seed=1)
    differences = coverage_of_differences(found, 0.15, 0.15, correlated, 400, seed=2)
    # Three standard errors of 400 coins around 95 %.
    assert 0.917 <= shares.interval <= 0.983
    assert 0.917 <= differences.interval <= 0.983
    assert differences.rejected <= 0.083 and differences.sign_flip_rejected <= 0.083


def test_few_events_are_said_to_be_few():
    wrong, right = np.zeros(400), np.ones(400)
    some = np.concatenate([right[:30], wrong[:370]])
    assert share(some, singletons(400)).events == pytest.approx(30)
    assert not share(some, singletons(400)).few_events
    assert share(some[21:], singletons(379)).few_events  # nine right
    assert share(1 - some[21:], singletons(379)).few_events  # nine wrong
    assert share(right, singletons(400)).few_events
    changed = paired_difference(wrong, some, singletons(400))
    assert changed.events == pytest.approx(30) and not changed.few_events
    assert paired_difference(wrong, wrong, singletons(400)).few_events
    together = share(np.repeat([1.0, 0.0], [16, 384]), clusters(np.arange(400) // 8))  # two clusters' worth
    assert together.few_events
    assert not mean(some, singletons(400)).few_events  # no share: it has no events
