"""Agreement beyond chance, against independent libraries."""

import math

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import aggregate_raters, cohens_kappa, fleiss_kappa

from egobench_tasks.making.review import agreement

LABELS = ("confirm", "repair", "drop")
label = st.sampled_from(LABELS)


def by_statsmodels(first, second):
    table = np.zeros((len(LABELS), len(LABELS)))
    np.add.at(table, ([LABELS.index(one) for one in first], [LABELS.index(one) for one in second]), 1)
    return cohens_kappa(table, return_results=False)


def tables(labels):
    return st.integers(2, 4).flatmap(
        lambda n_people: st.lists(st.lists(labels, min_size=n_people, max_size=n_people), min_size=2, max_size=25)
    )


@settings(deadline=None, max_examples=60)
@given(tables(label))
def test_cohen_and_fleiss_agree_with_statsmodels(ratings):
    assume(len({one for row in ratings for one in row}) > 1)
    first, second = [row[0] for row in ratings], [row[1] for row in ratings]
    if len({*first, *second}) > 1:
        assert agreement.cohen_kappa(first, second) == pytest.approx(by_statsmodels(first, second))
    counts, _ = aggregate_raters(np.array([[LABELS.index(one) for one in row] for row in ratings]))
    assert agreement.fleiss_kappa(ratings) == pytest.approx(fleiss_kappa(counts))


@settings(deadline=None, max_examples=60)
@given(tables(st.none() | label))
def test_alpha_agrees_with_krippendorff_where_ratings_are_missing(ratings):
    pairable = [row for row in ratings if sum(one is not None for one in row) > 1]
    assume(len({one for row in pairable for one in row if one is not None}) > 1)
    data = [[np.nan if one is None else LABELS.index(one) for one in column] for column in zip(*ratings, strict=True)]
    expected = krippendorff.alpha(reliability_data=np.array(data, dtype=float), level_of_measurement="nominal")
    assert agreement.krippendorff_alpha(ratings) == pytest.approx(expected)


@settings(deadline=None, max_examples=30)
@given(st.lists(st.tuples(st.none() | label, st.none() | label), min_size=1, max_size=20))
def test_cohen_takes_what_both_rated(pairs):
    both = [pair for pair in pairs if None not in pair]
    assume(len({one for pair in both for one in pair}) > 1)
    first, second = zip(*both, strict=True)
    assert agreement.cohen_kappa(*zip(*pairs, strict=True)) == pytest.approx(by_statsmodels(first, second))


@pytest.mark.parametrize("ratings", [[], [["a"]], [["a", None], [None, "b"]], [["a", "a"], ["a", "a"]]])
def test_what_is_not_defined_is_no_number(ratings):
    assert math.isnan(agreement.krippendorff_alpha(ratings))
    assert math.isnan(agreement.fleiss_kappa(ratings))


def test_every_pair_of_people_has_a_kappa():
    ratings = [["a", "a", "b"], ["b", "b", "a"], ["a", "a", None]]
    assert agreement.cohen_kappas(["r1", "r2", "r3"], ratings) == {("r1", "r2"): 1, ("r1", "r3"): -1, ("r2", "r3"): -1}
