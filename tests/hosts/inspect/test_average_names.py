"""Inspect's mean over categories does not bear the name of EgoTempo's figure where it is another."""

import pytest

pytest.importorskip("inspect_ai")
from inspect_ai.scorer import SampleScore, Score

from egobench_tasks.benchmarks import EGOTEMPO
from egobench_tasks.hosts.inspect.scorers import by_category


def averages(categories, n_questions):
    each = n_questions // len(categories)
    scores = [
        SampleScore(score=Score(value=float(number == 0)), sample_metadata={"category": category})
        for number, category in enumerate(categories)
        for _ in range(each)
    ]
    return {name: value for name, value in by_category()(scores).items() if name not in categories}


def test_the_mean_of_all_categories_is_named_average():
    assert averages(list(EGOTEMPO.category_codes), 100) == {"average": pytest.approx(0.1)}


def test_a_mean_of_fewer_says_so():
    assert averages(list(EGOTEMPO.category_codes)[1:], 90) == {"average (9 of 10 categories)": pytest.approx(1 / 9)}
