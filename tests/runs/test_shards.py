import pytest
from hypothesis import given
from hypothesis import strategies as st

from egobench_tasks.errors import InputError
from egobench_tasks.runs.shards import Shard, current_shard, parse_shard


@given(st.lists(st.text(), unique=True), st.integers(1, 7), st.randoms())
def test_shards_are_disjoint_cover_all_and_ignore_the_rows_order(ids, count, random):
    parts = [Shard(index, count).rows(ids) for index in range(1, count + 1)]
    assert sorted(row for part in parts for row in part) == list(range(len(ids)))
    assert max(map(len, parts)) - min(map(len, parts)) <= 1
    assert all(part == sorted(part) for part in parts)
    shuffled = random.sample(ids, len(ids))
    for index, part in enumerate(parts, start=1):
        assert {shuffled[row] for row in Shard(index, count).rows(shuffled)} == {ids[row] for row in part}


@pytest.mark.parametrize("text", ["1/1", "2/4", " 4/4 "])
def test_what_is_read_prints_alike(text):
    assert str(parse_shard(text)) == text.strip()


@pytest.mark.parametrize("text", ["", "0/2", "3/2", "1", "1/0", "a/b", "-1/2", "1/2/3", "1.0/2", "\u0661/2"])
def test_anything_else_is_refused_with_an_example(text):
    with pytest.raises(InputError, match="such as 2/4"):
        parse_shard(text)


def test_the_variable():
    assert current_shard({}) is None
    assert current_shard({"EGOBENCH_SHARD": "1/3"}) == Shard(1, 3)
