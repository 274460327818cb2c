import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from egobench_tasks.report.analyse.statistics import (
    bootstrap_means,
    holm,
    mcnemar_exact,
    paired_outcomes,
    percentile_interval,
    spearman,
)

COUNTS = st.integers(0, 60)
P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=12)


@given(COUNTS, COUNTS)
def test_mcnemar_equals_statsmodels(rescued, destabilised):
    if rescued + destabilised == 0:
        assert mcnemar_exact(0, 0) == 1.0
    else:
        expected = mcnemar([[5, destabilised], [rescued, 9]], exact=True).pvalue
        assert mcnemar_exact(rescued, destabilised) == pytest.approx(expected, rel=1e-9)


@settings(max_examples=25, deadline=None)
@given(P_VALUES)
def test_holm_equals_statsmodels(p_values):
    assert holm(p_values) == pytest.approx(multipletests(p_values, method="holm")[1])


def test_holm_of_nothing_is_nothing():
    assert holm([]) == []


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=3, max_size=20))
def test_spearman_equals_scipy_ties_included(pairs):
    first, second = zip(*pairs, strict=True)
    if len(set(first)) == 1 or len(set(second)) == 1:
        assert math.isnan(spearman(first, second))
    else:
        assert spearman(first, second) == pytest.approx(stats.spearmanr(first, second).statistic)


def test_spearman_of_two_runs_says_nothing():
    assert math.isnan(spearman([0.1, 0.2], [0.3, 0.4]))


def test_paired_outcomes_count_every_question_once():
    first = np.array([1.0, 1.0, 0.0, 0.0, 0.0])
    second = np.array([1.0, 0.0, 1.0, 1.0, 0.0])
    outcomes = paired_outcomes(first, second)
    assert (outcomes.both_right, outcomes.rescued, outcomes.destabilised, outcomes.both_wrong) == (1, 2, 1, 1)
    assert outcomes.gain == pytest.approx(0.2)


def test_the_bootstrap_takes_the_same_questions_in_every_column():
    values = np.random.default_rng(3).integers(0, 2, (50, 1)).astype(float)
    draws = bootstrap_means(np.hstack([values, values, 1 - values]))
    assert np.array_equal(draws[:, 0], draws[:, 1])
    assert draws[:, 0] + draws[:, 2] == pytest.approx(np.ones(len(draws)))


def test_the_bootstrap_interval_agrees_with_scipys():
    generator = np.random.default_rng(5)
    first, second = generator.random(300), generator.random(300) + 0.05
    draws = bootstrap_means(np.column_stack([first, second]))
    low, high = percentile_interval(draws[:, 1] - draws[:, 0])
    reference = stats.bootstrap(
        (second - first,), np.mean, method="percentile", n_resamples=20_000, rng=np.random.default_rng(1)
    ).confidence_interval
    width = reference.high - reference.low
    assert low == pytest.approx(reference.low, abs=0.06 * width)
    assert high == pytest.approx(reference.high, abs=0.06 * width)


def test_the_same_seed_gives_the_same_draws_and_another_one_others():
    values = np.arange(40.0).reshape(20, 2)
    assert np.array_equal(bootstrap_means(values), bootstrap_means(values))
    assert not np.array_equal(bootstrap_means(values), bootstrap_means(values, seed=1))


def test_the_bootstrap_of_no_questions_is_not_a_number():
    assert np.isnan(bootstrap_means(np.empty((0, 2)), n_draws=3)).all()
