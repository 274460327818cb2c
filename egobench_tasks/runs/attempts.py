"""Truncated answers are asked for again with twice the budget, and every attempt is kept (PROTOCOL 1.2).

Each attempt is a journal entry under its own key, so a kill between two attempts loses neither.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping

from egobench_tasks.runs.journal import Answer
from egobench_tasks.scoring.endings import Ending, ending


def growing_budgets(first_tokens: int, cap_tokens: int) -> Iterator[int]:
    """Yield the budgets of new tokens of a question's attempts: the first, then doubled up to the cap.

    >>> list(growing_budgets(2048, 10_000))
    [2048, 4096, 8192, 10000]
    """
    yield first_tokens
    while first_tokens < cap_tokens:
        first_tokens = min(2 * first_tokens, cap_tokens)
        yield first_tokens


def ended_by_itself(answer: Answer) -> bool:
    """Whether an attempt was not cut short by its budget: more tokens would not change it."""
    return ending(answer.finish_reason) is not Ending.LENGTH


def next_attempt(
    kept: Mapping[str, Answer],
    key: Callable[[int], str],
    budgets: Iterable[int],
    is_final: Callable[[Answer], bool] = ended_by_itself,
) -> tuple[Answer | None, int | None]:
    """Return a question's last attempt so far, and the budget of the next; None where there is none to come.

    Args:
        kept: all answers so far, by key.
        key: the key of the question's attempt with a budget.
        budgets: of its attempts, in their order.
        is_final: whether no attempt follows this one, whatever budgets are left.
    """
    last: Answer | None = None
    for budget_tokens in budgets:
        answer = kept.get(key(budget_tokens))
        if answer is None or ending(answer.finish_reason) is Ending.SERVICE_FAILURE:  # older versions kept such
            return last, budget_tokens
        last = answer
        if is_final(answer):
            break
    return last, None
