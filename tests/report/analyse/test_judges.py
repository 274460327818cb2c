"""Several judges of one run: agreement against statsmodels, majorities, and the list for a person."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import cohens_kappa

from egobench_tasks.report.analyse.judges import (
    MAJORITY,
    accuracy_table,
    compare_judges,
    differing,
    differing_table,
    majority,
    pairs_table,
)
from egobench_tasks.report.read.open_results import JudgedSetting

VERDICTS = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=2, max_size=30)


@settings(max_examples=50, deadline=None)
@given(VERDICTS)
def test_kappa_is_cohens(pairs):
    judges = {name: {f"q{i}": pair[side] for i, pair in enumerate(pairs)} for side, name in enumerate("ab")}
    (found,) = compare_judges(judges, {})
    table = [[found.both_correct, found.first_only], [found.second_only, found.both_incorrect]]
    one = found.both_correct + found.first_only
    two = found.both_correct + found.second_only
    if one == two and one in (0, found.compared):
        assert math.isnan(found.kappa)
    else:
        assert found.kappa == pytest.approx(cohens_kappa(table).kappa)
    assert found.compared == len(pairs)


def test_what_a_judge_did_not_judge_is_not_compared():
    judges = {"a": {"q1": True, "q2": None, "q3": False}, "b": {"q1": True, "q2": True}}
    (found,) = compare_judges(judges, {})
    assert (found.compared, found.agreement) == (1, 1.0)


THREE = {
    "strict": {"q1": True, "q2": False, "q3": False, "q4": None},
    "lenient": {"q1": True, "q2": True, "q3": True, "q4": True},
    "odd": {"q1": True, "q2": True, "q3": False, "q4": False},
}


def test_the_majority_is_more_than_half_of_those_that_judged():
    assert majority(THREE) == {"q1": True, "q2": True, "q3": False, "q4": None}
    assert differing(THREE) == ["q2", "q3", "q4"]


def test_the_tables_of_three_judges():
    setting = JudgedSetting("m", "fps1", THREE, {f"q{number}": f"v{number}" for number in range(1, 5)})
    accuracy = accuracy_table([setting]).rows.set_index("judge")
    assert accuracy.at["strict", "accuracy"] == pytest.approx(1 / 3) and accuracy.at["strict", "unjudged"] == 1
    assert accuracy.at[MAJORITY, "accuracy"] == pytest.approx(2 / 3)
    rows = differing_table([setting]).rows
    assert list(rows["question_id"]) == ["q4", "q2", "q3"]  # one against one before two against one
    assert rows.iloc[0]["correct"] == "lenient" and rows.iloc[0]["incorrect"] == "odd"
    assert len(pairs_table([setting]).rows) == 3


def test_drift_of_one_judge_is_found_where_it_is_and_not_where_it_is_not():
    before = {f"q{number}": number % 2 == 0 for number in range(200)}
    stricter = {key: verdict and int(key[1:]) % 8 != 0 for key, verdict in before.items()}
    videos = {key: f"v{int(key[1:]) // 2}" for key in before}
    (drifted,) = compare_judges({"j, May": before, "j, June": stricter}, videos)
    assert drifted.difference.value == pytest.approx(-0.125) and drifted.difference.high < 0
    assert drifted.p_value < 0.001
    (same,) = compare_judges({"j, May": before, "j, June": dict(before)}, videos)
    assert same.kappa == 1.0 and same.p_value == 1.0 and not same.difference.tells
