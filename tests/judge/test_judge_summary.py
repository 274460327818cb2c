"""Adding up judgements, and the agreement of two judges."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from egobench_tasks.judge.prompt import JudgeItem
from egobench_tasks.judge.summary import LOST, UNANSWERED, agreement, describe, mean_accuracy, summarise
from egobench_tasks.judge.verdict import Judgement, NoVerdict, Verdict
from egobench_tasks.scoring.intervals import wilson_interval

RIGHT = Judgement(Verdict(True, 5), None, "")
WRONG = Judgement(Verdict(False, 1.5), None, "")
LATE = Judgement(None, NoVerdict.TIMEOUT, "")
PROSE = Judgement(None, NoVerdict.NOT_A_DICT, "")


def test_what_has_no_verdict_is_counted_and_left_out_of_the_rate():
    summary = summarise([RIGHT, LATE, WRONG, RIGHT, LATE, PROSE])
    assert (summary.total, summary.judged, summary.correct) == (6, 3, 2)
    assert summary.accuracy == pytest.approx(2 / 3)
    assert summary.mean_score == pytest.approx(11.5 / 3)
    assert summary.interval == wilson_interval(2, 3)
    assert summary.unjudged == {NoVerdict.NOT_A_DICT: 1, NoVerdict.TIMEOUT: 2}
    assert summary.unjudged_rate == 0.5
    line = describe(summary)
    assert "66.7%" in line and "3 of 6 answers judged" in line and "not_a_dict 1, timeout 2" in line


def test_no_verdict_at_all_is_no_score():
    summary = summarise([LATE])
    assert math.isnan(summary.accuracy) and math.isnan(summary.mean_score) and summary.unjudged_rate == 1
    assert describe(summary) == "0 of 1 answers judged (no verdict: timeout 1)"
    assert describe(summarise([])) == "no answers to judge"
    assert summarise([]).unjudged_rate == 0


def test_the_average_is_over_categories_and_needs_all_of_them():
    half, full = summarise([RIGHT, WRONG]), summarise([RIGHT] * 7)
    assert mean_accuracy([half] * 5 + [full] * 5) == 0.75
    assert math.isnan(mean_accuracy([half] * 9 + [summarise([LATE])]))
    assert math.isnan(mean_accuracy([half] * 9 + [summarise([LOST])]))
    assert math.isnan(mean_accuracy([]))


def test_five_questions_of_two_categories_give_no_mean():
    assert math.isnan(mean_accuracy([summarise([RIGHT] * 3), summarise([RIGHT] * 2)]))


def test_what_the_model_left_unanswered_is_wrong_and_what_was_lost_is_nothing():
    summary = summarise([RIGHT, UNANSWERED, LOST, LOST, LATE])
    assert (summary.judged, summary.unanswered, summary.lost, summary.answers, summary.total) == (1, 1, 2, 2, 5)
    assert (summary.accuracy, summary.mean_score, summary.unjudged_rate) == (0.5, 2.5, 0.5)
    line = describe(summary)
    assert "1 of 2 answers judged (no verdict: timeout 1), 1 questions left unanswered" in line
    assert "PARTIAL: 2 of 5 questions lost" in line


def test_500_lost_questions_are_no_figure_at_all():
    summary = summarise([LOST] * 500)
    assert math.isnan(summary.accuracy) and summary.judged == 0
    assert "%" not in describe(summary)


def test_questions_without_clips_do_not_thin_out_a_judge_that_is_down():
    assert summarise([LOST] * 492 + [LATE] * 8).unjudged_rate == 1


def _items(count):
    return [JudgeItem(f"q{number}", "?", "gold", "prediction") for number in range(count)]


def test_agreement_of_a_worked_example():
    """The table 20, 5, 10, 15 has kappa 0.4: observed 0.7, expected 0.5."""
    first = [RIGHT] * 25 + [WRONG] * 25
    second = [RIGHT] * 20 + [WRONG] * 5 + [RIGHT] * 10 + [WRONG] * 15
    compared = agreement(_items(50), first, second)
    assert (compared.both_correct, compared.both_incorrect, len(compared.disagreements)) == (20, 15, 15)
    assert compared.rate == pytest.approx(0.7)
    assert compared.kappa == pytest.approx(0.4)


def test_disagreeing_items_are_named_and_unjudged_ones_are_not_compared():
    compared = agreement(_items(4), [RIGHT, RIGHT, LATE, WRONG], [RIGHT, WRONG, RIGHT, LATE])
    assert compared.compared == 2
    (pair,) = compared.disagreements
    assert (pair.item.question_id, pair.first.correct, pair.second.correct) == ("q1", True, False)


def test_agreement_of_nothing_and_of_judges_with_one_opinion():
    assert math.isnan(agreement([], [], []).rate) and math.isnan(agreement([], [], []).kappa)
    same = agreement(_items(2), [RIGHT, RIGHT], [RIGHT, RIGHT])
    assert same.rate == 1 and math.isnan(same.kappa)


@given(st.lists(st.tuples(*[st.sampled_from([RIGHT, WRONG, LATE])] * 2), max_size=30))
def test_agreement_is_symmetric_and_kappa_bounded(pairs):
    first, second = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    one, other = agreement(_items(len(pairs)), first, second), agreement(_items(len(pairs)), second, first)
    assert (one.rate, one.kappa) == pytest.approx((other.rate, other.kappa), nan_ok=True)
    assert math.isnan(one.kappa) or -1 <= one.kappa <= 1 + 1e-9
    assert one.compared == one.both_correct + one.both_incorrect + len(one.disagreements)
