import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from egobench_tasks.scoring import scores as scoring

LETTERS = "ABCDEFGH"
sets_of_letters = st.frozensets(st.sampled_from(LETTERS), min_size=1)


def test_hand_computed_cases():
    assert scoring.score_choice({"A", "B"}, {"A", "B"}) == scoring.ChoiceScore(1, 1, 1, 1, 1)
    assert scoring.score_choice({"A", "C"}, {"A", "B"}) == scoring.ChoiceScore(0, 1 / 3, 1 / 2, 1, 1)
    assert scoring.score_choice({"A", "B", "C"}, {"A", "B"}) == scoring.ChoiceScore(0, 2 / 3, 1, 0, 1)
    assert scoring.score_choice({"D"}, {"A"}) == scoring.ChoiceScore(0, 0, 0, 1, 1)


@pytest.mark.parametrize("nothing", [None, frozenset()])
def test_no_answer_scores_zero_in_all(nothing):
    assert scoring.score_choice(nothing, {"A"}) == scoring.ChoiceScore(0, 0, 0, 0, 0)


def test_no_gold_is_an_error():
    with pytest.raises(ValueError, match="gold"):
        scoring.score_choice({"A"}, frozenset())


@given(sets_of_letters, sets_of_letters)
def test_order_of_the_scores(predicted, gold):
    scores = scoring.score_choice(predicted, gold)
    assert scores.exact_set <= scores.jaccard <= scores.overlap <= 1
    assert (scores.jaccard == 1) == (scores.exact_set == 1) == (predicted == gold)


@given(st.integers(1, 8).flatmap(lambda n: st.tuples(st.just(n), st.integers(1, n))))
def test_chance_equals_the_mean_over_all_guesses(counts):
    n_options, n_select = counts
    gold = frozenset(LETTERS[:n_select])
    guesses = [frozenset(guess) for guess in itertools.combinations(LETTERS[:n_options], n_select)]
    scores = [scoring.score_choice(guess, gold) for guess in guesses]
    assert scoring.chance_exact(n_options, n_select) == pytest.approx(sum(s.exact_set for s in scores) / len(scores))
    assert scoring.chance_overlap([counts]) == pytest.approx(sum(s.overlap for s in scores) / len(scores))


def test_chance_overlap_is_averaged_over_slots_not_questions():
    assert scoring.chance_overlap([(4, 1), (8, 3)]) == pytest.approx((1 / 4 + 9 / 8) / 4)
    assert math.isnan(scoring.chance_overlap([]))


@pytest.mark.parametrize("counts", [(4, 0), (4, 5), (0, 0)])
def test_impossible_counts_are_refused(counts):
    with pytest.raises(ValueError, match="n_select"):
        scoring.chance_exact(*counts)


def test_kappa():
    assert scoring.kappa(0.25, 0.25) == 0
    assert scoring.kappa(1.0, 0.0447) == 1
    assert scoring.kappa(0.0, 0.25) == pytest.approx(-1 / 3)
    assert math.isnan(scoring.kappa(1.0, 1.0))
