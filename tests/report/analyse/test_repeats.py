"""Repeated answers: closed forms, a drawn truth, and the table of a run read from its folder."""

from pathlib import Path

import numpy as np
import pytest
from simulated import Run, Settings, TaskRun, labelled_rows, memory_split, score_runs
from simulations import LAYOUTS, coverage_of_repeats, layout

from egobench_tasks.asking.options import shuffle_options
from egobench_tasks.asking.probes import PROBES
from egobench_tasks.asking.view import CentralFrame, NoFrames, plain_view
from egobench_tasks.report.analyse import against
from egobench_tasks.report.analyse.clusters import clusters, singletons
from egobench_tasks.report.analyse.comparisons import Pair, compare_pairs, differences_table
from egobench_tasks.report.analyse.consistency import consistency
from egobench_tasks.report.analyse.diagnosis import statements
from egobench_tasks.report.analyse.diagnosis_tables import profile_table
from egobench_tasks.report.analyse.estimates import sign_flip
from egobench_tasks.report.analyse.examples import example_table
from egobench_tasks.report.analyse.overall import overall_table
from egobench_tasks.report.analyse.repeats import repeats, repeats_table
from egobench_tasks.report.analyse.steadiness import moved, ratio_values
from egobench_tasks.report.analyse.variants import variants
from egobench_tasks.report.read.responses import Repeat, Response


def test_expected_majority_once_and_alike():
    right = np.array([[1, 1, 0], [0, 0, 0], [1, 1, 1], [1, 0, 0.0]])
    answers = [["A", "A", "B"], ["B", "B", "B"], ["A", "A", "A"], ["A", "B", "C"]]
    one = repeats(right, answers, singletons(4))
    assert one.expected.value == pytest.approx(0.5)
    assert one.majority.value == pytest.approx((1 + 0 + 1 + 1 / 3) / 4)
    assert one.once.value == 0.75
    assert one.alike.value == 0.5
    assert one.within == pytest.approx(np.mean([1 / 3, 0, 0, 1 / 3]))


def test_variance_is_split_as_it_was_drawn():
    """Rates of 0.2 and 0.8: between questions 0.09, within 0.16."""
    generator = np.random.default_rng(5)
    rates = np.repeat([0.2, 0.8], 3000)
    right = (generator.random((6000, 4)) < rates[:, None]).astype(float)
    one = repeats(right, right.astype(int).astype(str).tolist(), singletons(6000))
    assert one.within == pytest.approx(0.16, abs=0.005)
    assert one.between == pytest.approx(0.09, abs=0.005)
    assert one.within_share == pytest.approx(0.64, abs=0.02)


def test_luck_alone_leaves_nothing_between():
    right = (np.random.default_rng(6).random((4000, 3)) < 0.4).astype(float)
    one = repeats(right, right.astype(int).astype(str).tolist(), singletons(4000))
    assert one.between < 0.006 and one.within_share > 0.97


def test_one_answer_is_no_repeat():
    with pytest.raises(ValueError, match="two answers"):
        repeats(np.zeros((3, 1)), [["A"]] * 3, singletons(3))


def test_a_run_with_repeats_has_a_row_and_its_score_is_the_first_answers():
    split = memory_split("multi", labelled_rows(24))

    def responses():
        for number, (question_id, question) in enumerate(split.questions.items()):
            shown_of = {original: shown for shown, original in shuffle_options(question_id, question.letters).items()}
            (gold,) = question.answer
            other = next(letter for letter in question.letters if letter != gold)
            said = [f'{{"answer": ["{shown_of[letter]}"]}}' for letter in (gold, other if number % 2 else gold)]
            yield Response(question_id, said[0], "stop", repeats=tuple(Repeat(text, "stop") for text in said))

    run = Run("twice", split.location, (TaskRun("multi", split.location, Settings(), responses),))
    results = score_runs([run], lambda config: split)
    assert results.outcomes["exact_set"].mean() == 1.0
    (row,) = repeats_table(results).rows.to_dict("records")
    assert (row["repeats"], row["expected"], row["once"], row["alike"]) == (2, 0.75, 1.0, 0.5)


def answers_of(asked, probe, n_repeats, right_of):
    """``right_of(question id, repeat)``: whether that answer is right; a wrong one is another letter."""
    found = []
    for question_id, question in asked.items():
        view = PROBES[probe].view(question, CentralFrame()) if probe else plain_view(question, NoFrames())
        shown_of = {original: shown for shown, original in view.shown_to_original.items()}
        (gold,) = question.answer
        other = next(letter for letter in question.letters if letter != gold)
        said = [
            f'{{"answer": ["{shown_of[gold if right_of(question_id, repeat) else other]}"]}}'
            for repeat in range(n_repeats)
        ]
        repeats = tuple(Repeat(text, "stop") for text in said) if n_repeats > 1 else ()
        found.append(Response(question_id, said[0], "stop", repeats=repeats))
    return found


def diagnosed(split, right_of, n_repeats, probes=("blind",)):
    """The one run's answers by the benchmark and the probes; ``right_of(way, question id, repeat)``."""

    def task(probe):
        def responses():
            return answers_of(split.questions, probe, n_repeats, lambda *which: right_of(probe, *which))

        return TaskRun("multi", split.location, Settings(), responses, probe)

    run = Run("m", split.location, (task(""),), probes=tuple(map(task, probes)))
    (found,) = variants(score_runs([run], lambda config: split))
    return found


def test_a_probe_that_was_asked_several_times_counts_with_all_its_answers():
    """The diagnosis compared first answers with first answers, and the others counted nowhere."""
    split = memory_split("multi", labelled_rows(24))
    found = diagnosed(split, lambda way, _, repeat: repeat == 0 if way else repeat < 2, 3)
    (sight, *_) = statements(found)
    assert sight.key == "sight" and sight.estimate.value == pytest.approx(1 / 3)
    assert "66.7 % full, 33.3 % blind" in sight.sentence
    rows = profile_table([found]).rows.set_index("way")
    assert rows.at["blind", "exact_set"] == pytest.approx(1 / 3) and rows.at["blind", "questions"] == 24


def drawn(split, seed, rates):
    generator = np.random.default_rng(seed)
    luck = {(way, question_id): generator.random(8) < rates[way] for way in rates for question_id in split.questions}
    return lambda way, question_id, repeat: bool(luck[way, question_id][repeat])


def test_more_answers_a_question_narrow_the_interval_as_far_as_luck_makes_it_wide():
    split = memory_split("multi", labelled_rows(240, cluster_size=1))
    right_of = drawn(split, 3, {"": 0.6, "blind": 0.4})
    widths = {}
    for n_repeats in (1, 4):
        (sight, *_) = statements(diagnosed(split, right_of, n_repeats))
        widths[n_repeats] = sight.estimate.high - sight.estimate.low
        assert sight.estimate.low < 0.2 < sight.estimate.high
        assert sight.estimate.error.questions == 240
    assert widths[4] == pytest.approx(widths[1] / 2, rel=0.15)  # all of it is luck: as four times the questions


def test_repeats_of_answers_that_never_differ_are_no_more_questions():
    split = memory_split("multi", labelled_rows(120, cluster_size=1))
    right_of = drawn(split, 4, {"": 0.6, "blind": 0.4})
    once, again = (
        statements(diagnosed(split, lambda way, one, _: right_of(way, one, 0), count))[0].estimate for count in (1, 4)
    )
    assert (once.low, once.high, once.p_value) == (again.low, again.high, again.p_value)


def test_of_questions_answered_several_times_every_two_answers_tell_whether_answers_stay():
    """Half of the answers are the one, half the other, whatever is changed: half of all pairs are alike, no more."""
    split = memory_split("multi", labelled_rows(60))
    found = diagnosed(split, lambda way, _, repeat: repeat % 2 == 0, 4, ("reordered", "swapped", "perm1"))
    by_key = {one.key: one for one in statements(found)}
    same = by_key["same_reordered"]
    assert same.estimate.value == pytest.approx(0.5)
    assert "33.3 % do when asked again unchanged" in same.sentence  # of an answer's three others one is alike
    assert by_key["binding"].estimate.value == pytest.approx(0.5) and not by_key["binding"].tells
    assert consistency(found).same.value == pytest.approx(2 * 0.5**2)
    assert consistency(found).circular.value == pytest.approx(0.5**2)


def test_an_example_moved_with_most_of_its_answers_and_not_with_the_first():
    """The first answers alone were compared: every question here would have been listed, none has moved."""
    split = memory_split("multi", labelled_rows(24))
    ids = list(split.questions)

    def right_of(way, question_id, repeat):
        return not way or (repeat > 0 if question_id == ids[3] else repeat > 1 if question_id == ids[4] else repeat < 2)

    found = diagnosed(split, right_of, 3, ("reordered",))
    table = example_table([found])
    (row,) = table.rows.to_dict("records")
    (gold,) = split.questions[ids[4]].answer
    assert (row["question_id"], row["of"], row["gold"]) == (ids[4], 1, gold)
    assert row["full"] == f"{gold} (3 of 3)" and row["other"].endswith("(2 of 3)") and row["other"][0] != gold
    assert "the most frequent counts" in table.note
    even = diagnosed(split, lambda way, _, repeat: not way or repeat == 0, 2, ("reordered",))
    assert example_table([even]).rows.empty  # one of each: none is the most frequent


def compared(n_repeats, right_of):
    """Two runs over 48 questions in twelve clusters; ``right_of(run, question number, repeat)``."""
    split = memory_split("multi", labelled_rows(48))

    def run(name):
        def responses():
            number = {question_id: place for place, question_id in enumerate(split.questions)}
            right = lambda question_id, repeat: right_of(name, number[question_id], repeat)  # noqa: E731
            return answers_of(split.questions, "", n_repeats[name], right)

        return Run(name, Path(name), (TaskRun("multi", Path(name), Settings(), responses),))

    return score_runs([run("a"), run("b")], lambda config: split)


def test_runs_are_compared_by_all_answers_and_not_by_the_first():
    """b is right in one of three answers to each question more than a, never in the first."""
    gained = {number: 2 if number % 4 == 0 else 1 for number in range(48)}
    results = compared({"a": 3, "b": 3}, lambda run, number, repeat: run == "b" and 1 <= repeat <= gained[number])
    (row,) = compare_pairs(results, [Pair("a", "b")])
    assert row["gain"] == pytest.approx((12 * 2 / 3 + 36 / 3) / 48)
    assert row["low"] <= row["gain"] <= row["high"] and row["clustered_low"] <= row["gain"] <= row["clustered_high"]
    assert (row["rescued"], row["destabilised"], row["both_wrong"]) == (12, 0, 36)
    assert row["p_clustered"] == pytest.approx(2 / 2**12) and row["p_value"] == pytest.approx(2 / 2**48)
    assert "Of runs that answered each question several times all answers count" in differences_table(results).note
    anchored = results.against(Path("a"))
    (beside,) = overall_table(anchored).rows.query("run == 'b'").to_dict("records")
    assert (beside["exact_set"], beside["against"]) == (0.0, pytest.approx(row["gain"]))
    assert beside["against_low"] == row["clustered_low"] and beside["against_p"] == row["p_clustered"]
    assert "all answers count" in against.note(anchored)


def test_runs_with_other_numbers_of_answers_are_compared_too():
    results = compared({"a": 2, "b": 3}, lambda run, number, repeat: (number + repeat) % (2 if run == "a" else 4) == 0)
    (row,) = compare_pairs(results, [Pair("a", "b")])
    means = results.means("multi", "exact_set")
    assert set(means["a"]) == {0.5} and set(means["b"].round(4)) == {0.0, 0.3333}
    assert row["gain"] == pytest.approx(means["b"].mean() - 0.5)
    sixths = np.rint(6 * (means["b"] - means["a"])).to_numpy()
    of = clusters(results.splits["multi"].attributes["cluster"])
    assert row["p_clustered"] == sign_flip(sixths, of) and row["p_value"] == sign_flip(sixths, singletons(48))


def test_runs_answered_once_are_compared_as_before_and_say_nothing_of_repeats():
    results = compared({"a": 1, "b": 1}, lambda run, number, _: number % (2 if run == "a" else 3) == 0)
    (row,) = compare_pairs(results, [Pair("a", "b")])
    assert (row["rescued"], row["destabilised"], row["both_right"]) == (8, 16, 8)
    assert row["gain"] == pytest.approx(-8 / 48)
    assert "several times" not in differences_table(results).note
    assert against.note(results.against(Path("a"))) is None


def test_a_ratios_values_have_it_as_their_mean_and_are_plain_where_questions_are_asked_once():
    first, second = [("A", "B"), ("A", "A")], [("A", "A"), ("B", "A")]
    values = ratio_values([[True, False], [True, True]], first, second, moved)
    assert values.mean() == pytest.approx((0 + 0.5) / (0.5 + 1))
    once = ratio_values([[True]] * 3, [("A",)] * 3, [("A",), ("B",), ("",)], moved)
    assert once.tolist() == [0.0, 1.0, 0.0]


@pytest.mark.parametrize("kind", ["single", "equal"])
def test_intervals_over_repeated_answers_hold_the_truth(kind):
    found = layout(LAYOUTS[kind], {"single": 200, "equal": 54}[kind], np.random.default_rng(7))
    covered = coverage_of_repeats(found, 0.3, 0.1, n_repeats=3, n=1000, seed=2)
    assert 0.93 <= covered.share <= 0.97 and 0.93 <= covered.difference <= 0.97
    assert covered.rejected <= 0.07
