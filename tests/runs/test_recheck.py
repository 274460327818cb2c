import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from egobench_tasks.runs.recheck import Comparison, Recheck, ask_again, choose, n_each


def recheck(n_same, n_different, sampled=False):
    return Recheck(tuple(Comparison("k", "a", index < n_same) for index in range(n_same + n_different)), sampled)


@pytest.mark.parametrize(
    ("n_same", "n_different", "sampled", "another"),
    [
        (0, 1, False, True), (1, 1, False, False), (0, 2, False, True), (2, 1, False, False), (1, 2, False, True),
        (6, 2, False, False), (5, 3, False, True), (8, 0, False, False), (0, 0, False, False),
        (3, 5, True, False), (2, 6, True, True), (0, 8, True, True),
    ],
)  # fmt: skip
def test_more_than_a_third_is_another_model_and_one_of_several_never(n_same, n_different, sampled, another):
    assert recheck(n_same, n_different, sampled).another_kind is another


@given(st.dictionaries(st.text(), st.lists(st.text(), max_size=5), max_size=5), st.integers(1, 9))
def test_the_choice_takes_every_session_in_turn_and_rests_on_the_keys_alone(kept, count):
    chosen = choose(kept, str, count)
    assert len(chosen) == min(count, sum(map(len, kept.values())))
    assert chosen == choose({name: kept[name][::-1] for name in reversed(list(kept))}, str, count)
    if count >= len(kept):
        assert all(set(items) & set(chosen) for items in kept.values() if items)


def test_eight_of_one_server_and_two_of_each_of_many():
    assert [n_each(count) for count in (1, 3, 4, 12, 100)] == [8, 8, 6, 2, 2]


def test_what_cannot_be_asked_says_nothing_and_no_more_are_asked_at_once_than_allowed():
    under_way, most = 0, 0

    async def ask(item):
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0.01)
        under_way -= 1
        return None if item == 3 else item % 2

    outcome = asyncio.run(ask_again(range(6), ask, lambda kept, again: again == 0, concurrency=2))
    assert [comparison.kept for comparison in outcome.comparisons] == [0, 1, 2, 4, 5]
    assert [comparison.kept for comparison in outcome.different] == [1, 5]
    assert most == 2
