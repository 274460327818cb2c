"""Guessing: simulation and closed form agree, and a category's random answer is reproducible."""

import json
import math
from collections import Counter
from dataclasses import astuple

import pytest

from egobench_tasks.scoring.baselines import GoldAnswer, choice_chance, random_answers, simulate_choices
from egobench_tasks.scoring.open import exact_match

# (n_options, n_select): from the easiest to beyond the paper's largest
QUESTIONS = [(3, 1), (4, 1), (4, 2), (5, 3), (6, 2), (8, 5), (8, 8)]


def test_simulation_and_closed_form_agree():
    expected, simulated = choice_chance(QUESTIONS), simulate_choices(QUESTIONS, n_trials=4_000)
    # 28,000 guesses: one standard error is at most 0.003
    assert simulated.exact_set == pytest.approx(expected.exact_set, abs=0.012)
    assert simulated.jaccard == pytest.approx(expected.jaccard, abs=0.012)
    assert simulated.overlap == pytest.approx(expected.overlap, abs=0.012)


def test_closed_form_of_small_cases():
    four = choice_chance([(4, 1)])
    assert (four.exact_set, four.jaccard, four.overlap) == (0.25, 0.25, 0.25)
    two_of_four = choice_chance([(4, 2)])  # of 6 guesses one is exact, four share one option (1/3), one none
    assert two_of_four.exact_set == pytest.approx(1 / 6)
    assert two_of_four.jaccard == pytest.approx((1 + 4 / 3) / 6)
    assert two_of_four.overlap == pytest.approx(0.5)
    assert math.isnan(choice_chance([]).exact_set) and math.isnan(simulate_choices([], 10).jaccard)
    for n_trials in (0, -1):
        assert all(map(math.isnan, astuple(simulate_choices(QUESTIONS, n_trials))))
    assert simulate_choices([(2, 2)], n_trials=1).exact_set == 1.0


def test_simulation_is_seeded():
    assert simulate_choices(QUESTIONS, 5, seed=1) == simulate_choices(QUESTIONS, 5, seed=1)
    assert simulate_choices(QUESTIONS, 5, seed=1) != simulate_choices(QUESTIONS, 5, seed=2)


def _golds(shared_dir):
    annotations = json.loads((shared_dir / "data/egotempo/egotempo_openQA.json").read_text())["annotations"]
    return [GoldAnswer(row["question_id"], row["question_type"], row["answer"]) for row in annotations]


def test_random_answers_are_of_the_same_category_and_independent_of_order(shared_dir):
    golds = _golds(shared_dir)
    drawn = random_answers(golds)
    assert drawn == random_answers(reversed(golds)) != random_answers(golds, seed=1)
    answers = {(gold.category, gold.answer) for gold in golds}
    assert all((gold.category, drawn[gold.question_id]) in answers for gold in golds)
    assert len(drawn) == len(golds)
    one_category = [gold for gold in golds if gold.category == "counting objects"]
    assert random_answers(one_category).items() <= drawn.items()
    assert len(Counter(drawn.values())) > 200


def test_random_answers_match_by_text_about_as_often_as_published(shared_dir):
    """Published chance is 4.9 %; text alone finds 4.8 % in expectation, over the real file."""
    golds = _golds(shared_dir)
    draws = [random_answers(golds, seed) for seed in range(20)]
    rate = sum(exact_match(drawn[gold.question_id], gold.answer) for drawn in draws for gold in golds) / 10_000
    assert 0.04 < rate < 0.065
