"""Truncated answers are asked for again with twice the budget, up to the cap (PROTOCOL 1.2)."""

import pytest

from egobench_tasks.runs.attempts import growing_budgets, next_attempt
from egobench_tasks.runs.journal import Answer

BUDGETS = [2048, 4096, 8192]


@pytest.mark.parametrize(
    ("first", "cap", "budgets"),
    [(2048, 32_768, [2048, 4096, 8192, 16_384, 32_768]), (3, 7, [3, 6, 7]), (4096, 4096, [4096]), (4096, 10, [4096])],
)
def test_budgets_double_up_to_the_cap_and_the_users_first_one_stands(first, cap, budgets):
    assert list(growing_budgets(first, cap)) == budgets


def attempts(*finish_reasons):
    """What is kept of a question after attempts that ended so, by key; a key is its budget."""
    pairs = zip(BUDGETS, finish_reasons, strict=False)
    return {str(budget): Answer(str(budget), "q", "t", "", "text", reason) for budget, reason in pairs}


@pytest.mark.parametrize(
    ("finish_reasons", "last", "following"),
    [
        ([], None, 2048),
        (["stop"], "2048", None),
        (["length"], "2048", 4096),
        (["length", "stop"], "4096", None),
        (["length", "length", "length"], "8192", None),
        (["error"], None, 2048),
        (["length", "error"], "2048", 4096),
    ],
)
def test_the_next_attempt_follows_from_how_the_last_one_ended(finish_reasons, last, following):
    answer, budget = next_attempt(attempts(*finish_reasons), str, BUDGETS)
    assert (answer and answer.key, budget) == (last, following)
