"""Statements beside an anchor's: planted differences are found, absent ones are not, each on the questions of both."""

import pytest
from simulated import always_first, blind_guesser, oracle, simulated_results

from egobench_tasks.report.analyse.diagnosis import CANNOT_TELL
from egobench_tasks.report.analyse.diagnosis_against import statements_against_table
from egobench_tasks.report.analyse.diagnosis_tables import told
from egobench_tasks.report.analyse.variants import variants

PROBES = ("blind", "shuffled", "reordered", "swapped", "perm1", "perm2")


@pytest.fixture(scope="module")
def found():
    models = {"oracle": oracle, "again": oracle, "blind": blind_guesser, "first": always_first}
    return told(list(variants(simulated_results(models, PROBES, count=200))))


@pytest.fixture(scope="module")
def beside(found):
    rows = statements_against_table(found, "oracle").rows
    return {(row["run"], row["statement"].partition(":")[0]): row for row in rows.to_dict("records")}


def test_a_run_that_does_not_look_has_less_sight_than_one_that_does(beside, found):
    row = beside["blind", "Sight"]
    sights = {variants.run: one.estimate.value for variants, told in found for one in told if one.key == "sight"}
    assert row["difference"] == pytest.approx(sights["blind"] - sights["oracle"])
    assert row["high"] < -0.5 and row["tells"] == "yes" and row["p_holm"] < 0.001
    assert row["sentence"].startswith("Sight: less than oracle, −")


def test_equal_runs_cannot_be_told_apart(beside):
    same = [row for (run, _), row in beside.items() if run == "again"]
    assert len(same) > 4
    for row in same:
        assert row["difference"] == 0 and row["tells"] == CANNOT_TELL
        assert "cannot tell it from oracle" in row["sentence"]


def test_binding_is_compared_on_questions_that_both_have_right(beside, found):
    values = {variants.run: one.values for variants, told in found for one in told if one.key == "binding"}
    shared = values["first"].index.intersection(values["oracle"].index)
    row = beside["first", "Binding"]
    assert 0 < row["questions"] == len(shared) < len(values["oracle"])
    assert row["difference"] == pytest.approx((values["first"] - values["oracle"])[shared].mean())
    assert row["tells"] == "yes"


def test_every_statement_is_the_mean_of_what_its_questions_add(found):
    for _, told_of in found:
        for one in told_of:
            if one.values is not None:
                assert one.values.mean() == pytest.approx(one.estimate.value), one.key


def test_without_an_anchor_there_is_no_such_table(found):
    assert statements_against_table(found, "").rows.empty
