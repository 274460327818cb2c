"""Scripted models leave the signatures they should; what is not planted is not found."""

import math
from dataclasses import replace

import numpy as np
import pytest
from simulated import (
    ORDER_TYPE,
    always_first,
    blind_guesser,
    gold_of,
    guess,
    label_ignorer,
    labelled_rows,
    memory_split,
    oracle,
    score_runs,
    simulated_results,
    simulated_run,
)

from egobench_tasks.report.analyse.budgets import NO_PRICE, Price, budget_rows, cost_table
from egobench_tasks.report.analyse.consistency import consistency, entropy_bits
from egobench_tasks.report.analyse.diagnosis import CANNOT_TELL, statements
from egobench_tasks.report.analyse.diagnosis_tables import group_table, profile_table, sentence_table, told
from egobench_tasks.report.analyse.examples import example_table
from egobench_tasks.report.analyse.variants import FULL, variants

PROBES = ("blind", "center", "shuffled", "reversed", "reordered", "renamed", "swapped", "perm1", "perm2")


@pytest.fixture(scope="module")
def four():
    models = {"oracle": oracle, "blind": blind_guesser, "first": always_first, "ignorer": label_ignorer}
    return {one.run: one for one in variants(simulated_results(models, PROBES, count=300))}


@pytest.fixture(scope="module")
def said(four):
    return {run: {one.key: one for one in statements(answers)} for run, answers in four.items()}


def test_the_oracle_sees_binds_and_follows_order(said):
    found = said["oracle"]
    assert found["sight"].estimate.low > 0.7 and found["sight"].tells
    assert found["order"].estimate.low > 0.1 and found["direction"].estimate.low > 0.1
    assert not found["words"].tells
    assert found["binding"].estimate.value == 1.0 and found["binding"].tells
    assert found["binding_implied"].estimate.value == 1.0
    assert found["same_reordered"].estimate.value == found["same_renamed"].estimate.value == 1.0
    assert found["same_orders"].estimate.value == 1.0
    assert not found["position"].tells


def test_the_blind_guesser_tells_nothing_but_that(said):
    found = said["blind"]
    for key in ("sight", "still", "order", "direction", "words", "position", "binding"):
        assert not found[key].tells, key
        assert found[key].sentence.startswith("Cannot tell"), key
    assert found["sight"].estimate.value == 0.0
    assert found["binding"].estimate.value == 0.0
    assert found["same_orders"].estimate.value == 1.0


def test_always_first_is_a_position_and_no_content(four, said):
    found = said["first"]
    assert found["position"].tells and "place 1" in found["position"].sentence
    assert found["same_orders"].estimate.high < 0.2
    assert consistency(four["first"]).entropy_bits == 0.0
    assert not found["sight"].tells


def test_the_label_ignorer_is_right_and_does_not_bind(said):
    found = said["ignorer"]
    assert found["sight"].tells
    assert found["binding"].estimate.value == 0.0
    assert found["binding"].sentence.startswith("Its answers follow the clips' order more than their labels")
    assert found["same_reordered"].estimate.value == 0.0
    assert found["binding_implied"].estimate.value == 0.0


def test_a_sentence_can_be_quoted_as_it_stands(said):
    sentence = said["oracle"]["sight"].sentence
    assert sentence.startswith("It uses the frames: +8")
    assert sentence.endswith("100.0 % full, 17.0 % blind, 300 questions in 75 clusters.")


def test_groups_tell_where_order_matters(four):
    rows = group_table([four["oracle"]]).rows
    order = rows[(rows["statement"] == "Order: full less shuffled") & (rows["dimension"] == "Question type")]
    points = dict(zip(order["group"], order["points"], strict=True))
    assert points[ORDER_TYPE] > 0.7
    assert {value for group, value in points.items() if group != ORDER_TYPE} == {0.0}
    assert set(order[order["group"] != ORDER_TYPE]["tells"]) == {CANNOT_TELL}


def test_what_does_not_apply_is_counted(four):
    rows = profile_table([four["oracle"]]).rows.set_index("way")
    assert rows.at["swapped", "questions"] == 300 and rows.at["swapped", "not_asked"] == 0
    assert rows.at[FULL, "exact_set"] == 1.0 and rows.at["swapped", "exact_set"] == 0.0
    assert rows.at["swapped", "less_full"] == -1.0 and math.isnan(rows.at[FULL, "less_full"])
    assert rows.at["reordered", "less_full"] == 0.0 and rows.at["reordered", "less_full_high"] < 0.06


def test_examples_name_the_questions_that_moved_and_that_stayed(four):
    rows = example_table(list(four.values())).rows
    ignorer = rows[rows["run"] == "ignorer"]
    assert set(ignorer["kind"]) == {"moved, should not have", "stayed, should have moved", "right without frames"}
    assert set(ignorer[ignorer["kind"].str.startswith("moved")]["probe"]) == {"reordered"}
    assert set(rows[rows["run"] == "oracle"]["kind"]) == {"right without frames"}


def noisy(gain_of):
    """Right with a chance that the probe shifts by ``gain_of(probe)``; luck is drawn anew for every probe."""

    def model(asked):
        right = asked.luck("noisy", asked.probe).random() < 0.5 + gain_of(asked.probe)
        return gold_of(asked) if right else guess(asked, asked.probe)

    return model


def test_planted_effects_are_found_and_absent_ones_are_not():
    planted = noisy(lambda probe: -0.25 if probe == "shuffled" else 0.0)
    (found,) = variants(simulated_results({"planted": planted}, ("shuffled", "reversed"), count=600))
    by_key = {one.key: one for one in statements(found)}
    assert by_key["order"].tells and by_key["order"].estimate.low > 0
    assert not by_key["direction"].tells
    assert by_key["direction"].smallest < 0.12


def test_a_probe_that_was_not_asked_makes_no_statement():
    (found,) = variants(simulated_results({"oracle": oracle}, ("blind",), count=24))
    assert {one.key for one in statements(found)} == {"sight", "words"}


def test_an_unfinished_probe_is_left_out_and_said():
    split = memory_split("multi", labelled_rows(12))
    run = simulated_run("half", oracle, split, ("blind", "center"))
    half = run.probes[0]
    cut = replace(half, responses=lambda: half.responses()[:6])
    results = score_runs([replace(run, probes=(cut, run.probes[1]))], lambda config: split)
    (found,) = variants(results)
    assert list(found.ways) == [FULL, "center"]
    assert any("half, multi, probe blind: 6 of 12 questions are missing" in notice for notice in results.notices)


def test_the_budget_curve_prices_what_it_gained():
    def model(asked):
        budget = int(asked.probe[1:]) if asked.probe else 64
        return gold_of(asked) if asked.luck("budget").random() < min(budget, 64) / 80 else guess(asked)

    (found,) = variants(simulated_results({"m": model}, ("f8", "f16", "f128"), cost=True))
    rows = budget_rows(found)
    assert [row["frames"] for row in rows] == [8, 16, 64, 128]
    assert rows[-1]["gain"] == 0.0 and rows[-1]["tokens_a_point"] == CANNOT_TELL
    gain = rows[2]["gain"]
    assert float(rows[2]["tokens_a_point"]) == pytest.approx(4800 / (100 * gain), abs=0.01)
    assert float(rows[2]["seconds_a_point"]) == pytest.approx(0.75 / (100 * gain), abs=0.01)
    costs = cost_table([found], Price(1.0, 2.0)).rows.set_index("way")
    assert costs.at["f8", "prompt_tokens"] == 240 * 900
    assert costs.at["f8", "money"] == pytest.approx((240 * 900 * 1.0 + 240 * 10 * 2.0) / 1e6)


def test_without_counts_there_is_no_cost(four):
    assert cost_table([four["oracle"]], NO_PRICE).rows.empty


def test_entropy_of_an_even_choice_is_its_logarithm():
    assert entropy_bits(np.array([5.0, 5.0, 5.0, 5.0])) == 2.0
    assert math.isnan(entropy_bits(np.zeros(3)))


def test_the_majority_of_equally_frequent_sets_counts_in_part():
    def model(asked):
        return gold_of(asked) if asked.probe == "perm1" else guess(asked, asked.probe) if asked.probe else "A"

    (found,) = variants(simulated_results({"m": model}, ("perm1",), count=60))
    one = consistency(found)
    assert one.orders == 2
    assert one.majority.value == pytest.approx(1 / 6 + 0.5 * 5 / 6)


def test_the_sentences_are_corrected_for_their_number(four):
    rows = sentence_table(told(list(four.values()))).rows
    tested = rows[rows["p_value"].notna()]
    assert (tested["p_holm"] >= tested["p_value"]).all()
    assert set(rows["tells"]) == {"yes", CANNOT_TELL}
