"""How often each question is asked, and when that could only say the same again."""

import pytest

from egobench_tasks.errors import InputError
from egobench_tasks.runs.repeats import check_repeats, current_repeats, keyed_rows, total


@pytest.mark.parametrize(("value", "repeats"), [(None, 1), ("", 1), (" ", 1), ("1", 1), (" 5 ", 5)])
def test_the_variable_says_how_often_and_nothing_means_once(value, repeats):
    assert current_repeats({} if value is None else {"EGOBENCH_REPEATS": value}) == repeats


@pytest.mark.parametrize("value", ["0", "-1", "2.0", "five", "²"])
def test_anything_else_in_the_variable_is_named(value):
    with pytest.raises(InputError, match=r"EGOBENCH_REPEATS: .* whole number from 1 up"):
        current_repeats({"EGOBENCH_REPEATS": value})


@pytest.mark.parametrize(
    ("n_repeats", "temperature", "seed"), [(1, 0, None), (1, 0.0, None), (3, 0.7, None), (3, 0, 1), (3, None, None)]
)
def test_repeats_that_can_differ_are_asked(n_repeats, temperature, seed):
    check_repeats(n_repeats, temperature, seed, "temperature")


@pytest.mark.parametrize(("n_repeats", "said"), [(2, "2 repeats at temperature 0"), (0, "once at least; got 0")])
def test_repeats_that_could_only_say_the_same_are_refused(n_repeats, said):
    with pytest.raises(InputError, match=said):
        check_repeats(n_repeats, 0, None, "temperature")


def test_the_first_answers_key_is_that_of_a_question_asked_once():
    rows = [{"type": "text"}]
    assert keyed_rows(rows, 0) == rows
    assert keyed_rows(rows, 1) == [*rows, {"repeat": 1}] != keyed_rows(rows, 2)


def test_a_sum_over_repeats_is_whole_or_none():
    assert (total([1, 2, 0]), total([1, None]), total([None]), total([])) == (3, None, None, None)
