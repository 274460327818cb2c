"""Repeated answers: closed forms, a drawn truth, and the table of a run read from its folder."""

import numpy as np
import pytest
from simulated import Run, Settings, TaskRun, labelled_rows, memory_split, score_runs

from egobench_tasks.asking.options import shuffle_options
from egobench_tasks.report.analyse.clusters import singletons
from egobench_tasks.report.analyse.repeats import repeats, repeats_table
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


def test_a_probe_that_was_asked_several_times_is_read_by_its_first_answers_and_that_is_said():
    split = memory_split("multi", labelled_rows(24))

    def responses():
        for question_id, question in split.questions.items():
            shown_of = {original: shown for shown, original in shuffle_options(question_id, question.letters).items()}
            (gold,) = question.answer
            other = next(letter for letter in question.letters if letter != gold)
            said = [f'{{"answer": ["{shown_of[letter]}"]}}' for letter in (gold, other, other)]
            yield Response(question_id, said[0], "stop", repeats=tuple(Repeat(text, "stop") for text in said))

    tasks = [TaskRun("multi", split.location, Settings(), responses, probe) for probe in ("", "blind")]
    results = score_runs([Run("m", split.location, (tasks[0],), probes=(tasks[1],))], lambda config: split)
    assert results.probed["exact_set"].mean() == 1.0 and len(results.probed) == 24
    assert "m, multi, probe blind: each question was asked 3 times" in "\n".join(results.notices)
