import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from egobench_tasks.errors import InputError
from egobench_tasks.frames.spec import FrameSpec, Jpeg, Sampling, TailPolicy, allocate_frames, printed_duration_s

TIMES = st.floats(min_value=0, max_value=1e5, allow_nan=False)


@st.composite
def specs(draw):
    kind = draw(st.sampled_from(Sampling))
    fields = {"sampling": kind, "tail": draw(st.sampled_from(TailPolicy)), "jpeg": draw(st.sampled_from(Jpeg))}
    fields[draw(st.sampled_from(["max_width_px", "max_short_side_px"]))] = draw(st.integers(2, 4000))
    if kind in (Sampling.BUDGET, Sampling.UNIFORM):
        fields["count"] = draw(st.integers(2, 10**6))
    if kind is Sampling.RATE:
        fields["rate_fps"] = draw(st.floats(min_value=1e-4, max_value=1000))
        fields["count"] = draw(st.none() | st.integers(1, 1000))
    if kind is Sampling.RANDOM:
        fields |= draw(st.sampled_from([{"count": 3}, {"rate_fps": 0.5}])) | {"seed": draw(st.integers())}
    if kind in (Sampling.BUDGET, Sampling.UNIFORM, Sampling.RATE) and draw(st.booleans()):
        fields |= {"shuffled": True, "seed": draw(st.integers())}
    start_s = draw(st.none() | TIMES)
    length_s = draw(st.none() | st.floats(min_value=1, max_value=100))
    if length_s is not None:
        fields["end_s"] = (start_s or 0) + length_s
    return FrameSpec(start_s=start_s, **fields)


@given(specs(), specs())
def test_the_key_is_the_spec(one, other):
    assert FrameSpec.parse(one.key()) == one
    assert (one.key() == other.key()) == (one == other)
    assert FrameSpec(**json.loads(json.dumps(one.to_json()))) == one


def test_keys_are_stable():
    assert (
        FrameSpec(sampling="budget", count=64).key() == "v2,budget,count=64,max_width_px=480,jpeg=ffmpeg-q3,tail=strict"
    )
    everything = FrameSpec(
        sampling="rate", rate_fps=1, count=8, shuffled=True, seed=3, start_s=2, end_s=4.5, max_short_side_px=540
    )
    assert everything.key() == (
        "v2,rate,count=8,rate_fps=1.0,seed=3,shuffled=True,start_s=2.0,end_s=4.5,"
        "max_short_side_px=540,jpeg=ffmpeg-q3,tail=strict"
    )


def test_a_user_writes_what_differs():
    assert FrameSpec.parse("uniform, count=16") == FrameSpec(sampling="uniform", count=16)


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"sampling": "budget"}, "count"),
        ({"sampling": "budget", "count": 0}, "count"),
        ({"sampling": "uniform", "count": 1}, "central"),
        ({"sampling": "evenly", "count": 4}, "evenly"),
        ({"sampling": "rate"}, "rate_fps"),
        ({"sampling": "rate", "rate_fps": 0}, "rate_fps"),
        ({"sampling": "rate", "rate_fps": float("nan")}, "rate_fps"),
        ({"sampling": "uniform", "count": 4, "rate_fps": 1}, "rate_fps"),
        ({"sampling": "central", "count": 1}, "central"),
        ({"sampling": "random", "count": 4}, "seed"),
        ({"sampling": "random", "count": 4, "rate_fps": 1, "seed": 1}, "random"),
        ({"sampling": "random", "seed": 1}, "random"),
        ({"sampling": "budget", "count": 4, "seed": 1}, "seed"),
        ({"sampling": "budget", "count": 4, "shuffled": True}, "seed"),
        ({"sampling": "central", "shuffled": True, "seed": 1}, "shuffled"),
        ({"sampling": "central", "start_s": -1}, "start_s"),
        ({"sampling": "central", "start_s": 3, "end_s": 3}, "end_s"),
        ({"sampling": "central", "end_s": float("inf")}, "end_s"),
        ({"sampling": "central", "max_width_px": 1}, "max_width_px"),
        ({"sampling": "central", "max_short_side_px": 1}, "max_short_side_px"),
        ({"sampling": "central", "max_short_side_px": 540, "max_width_px": 480}, "not both"),
        ({"sampling": "central", "tail": "maybe"}, "tail"),
        ({"sampling": "central", "jpeg": "best"}, "jpeg"),
    ],
)
def test_bad_values_are_named(fields, named):
    with pytest.raises(InputError, match=named):
        FrameSpec(**fields)


@pytest.mark.parametrize(
    "text", ["", "64", "budget,count=x", "budget,frames=4", "v0,central", "central,shuffled=yes", "budget,count"]
)
def test_bad_texts_are_refused(text):
    with pytest.raises(InputError, match="frame spec"):
        FrameSpec.parse(text)


def test_allocation_golden_vectors(shared_dir):
    cases = json.loads((shared_dir / "protocol" / "vectors.json").read_text())["allocate"]
    assert len(cases) > 10
    for case in cases:
        assert allocate_frames(case["durations_s"], case["total"], case["floor"]) == case["frames"], case


def test_a_question_has_64_frames_and_each_clip_4_where_nothing_else_is_said():
    assert allocate_frames([60.0, 60.0]) == [32, 32]
    assert allocate_frames([1000.0, 1.0]) == [60, 4]


@pytest.mark.parametrize(
    ("exact_s", "printed_s"),
    [(60.0, 60.0), (60.033333, 60.03), (0.004999, 0.0), (0.005, 0.01), (12.344999, 12.34), (12.345, 12.35), (0, 0)],
)
def test_durations_are_rounded_as_ffmpeg_prints_them(exact_s, printed_s):
    assert printed_duration_s(exact_s) == printed_s


@given(st.lists(TIMES, min_size=1, max_size=30), st.integers(0, 300), st.integers(0, 8))
def test_allocation_shares_the_budget(durations_s, total, floor):
    frames = allocate_frames(durations_s, total, floor)
    assert min(frames) >= floor
    assert sum(frames) == max(total, floor * len(durations_s)) or floor * len(durations_s) >= total
    for (short_s, fewer), (long_s, more) in zip(
        sorted(zip(durations_s, frames, strict=True)), sorted(zip(durations_s, frames, strict=True))[1:], strict=False
    ):
        assert fewer <= more + 1, (short_s, long_s)


@pytest.mark.parametrize(("durations_s", "total"), [([], 64), ([-1.0], 64), ([1.0], -1)])
def test_allocation_refuses_nonsense(durations_s, total):
    with pytest.raises(ValueError, match="need clips"):
        allocate_frames(durations_s, total)
