"""Picking candidates by kind, with a cap on each recording."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from egobench_tasks.making.draft.candidate import Candidate, read_candidates, write_candidates
from egobench_tasks.making.draft.quota import pick


def candidate(kind, recording, number):
    return Candidate(
        kind=kind, clip=f"{recording}.mp4", recording=recording, start_s=0, end_s=9, question=f"q{number}", answer="a",
        evidence_start_s=1, evidence_end_s=2, model="m", wording="w",
    )  # fmt: skip


POOLS = st.lists(st.tuples(st.sampled_from(["AS", "AC", "order"]), st.sampled_from("rst")), max_size=40).map(
    lambda drawn: [candidate(kind, recording, number) for number, (kind, recording) in enumerate(drawn)]
)


@given(POOLS, st.integers(1, 6), st.integers(1, 5), st.integers(0, 3))
def test_quota_and_cap_hold_and_nothing_that_fits_is_left(pool, per_kind, cap, seed):
    picked = pick(pool, per_kind, cap=cap, seed=seed)
    kinds = Counter(one.kind for one in picked)
    recordings = Counter(one.recording for one in picked)
    assert all(count <= per_kind for count in kinds.values())
    assert all(count <= cap for count in recordings.values())
    assert picked == [one for one in pool if one in picked]
    left = [one for one in pool if one not in picked]
    assert not [one for one in left if kinds[one.kind] < per_kind and recordings[one.recording] < cap]


@given(POOLS, st.randoms(use_true_random=False))
def test_the_same_seed_picks_the_same_whatever_the_order(pool, order):
    other = list(pool)
    order.shuffle(other)
    assert {one.question_id for one in pick(pool, 3)} == {one.question_id for one in pick(other, 3)}


def test_another_seed_picks_others():
    pool = [candidate("AS", f"r{number}", number) for number in range(40)]
    assert pick(pool, 5, seed=0) != pick(pool, 5, seed=1)


def test_candidates_are_kept_and_read_back(tmp_path):
    pool = [candidate("AS", "r", 1), candidate("order", "s", 2)]
    write_candidates(tmp_path / "c.jsonl", pool)
    assert read_candidates(tmp_path / "c.jsonl") == pool
