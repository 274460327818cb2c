"""Selection against FFmpeg's own ``fps`` filter, run on tiny frames."""

from collections import Counter
from fractions import Fraction

import av
import numpy as np
import pytest
from av.filter import Graph
from hypothesis import given, settings
from hypothesis import strategies as st

from egobench_tasks.frames.select import (
    IndexSelector,
    RateSelector,
    budget_selector,
    display_order,
    ffmpeg_rate,
    frames_asked,
    index_selector,
    repeat,
    round_half_away,
    uniform_indices,
)
from egobench_tasks.frames.spec import FrameSpec, printed_duration_s

EVERYTHING = 10**9
TIME_BASES = st.sampled_from([Fraction(1, n) for n in (25, 600, 1000, 12800, 15360, 30000, 90000)])


@st.composite
def timelines(draw):
    """Growing times of frames, as a camera gives them: steady or not, from before or after zero; and the last's end."""
    time_base = draw(TIME_BASES)
    step = max(1, round(1 / time_base / draw(st.sampled_from([12, 25, 30, 60]))))
    gaps = draw(st.lists(st.integers(1, 4 * step) | st.just(step), max_size=60))
    times = [draw(st.integers(-5 * step, 5 * step) | st.just(0))]
    for gap in gaps:
        times.append(times[-1] + gap)
    return time_base, times, times[-1] + step


def filtered(time_base, times, end, options):
    """Which frames the real filter puts out, and its output's time base."""
    graph = Graph()
    buffer = f"video_size=2x2:pix_fmt=gray16le:time_base={time_base.numerator}/{time_base.denominator}:pixel_aspect=1/1"
    nodes = [graph.add("buffer", buffer), graph.add("fps", options), graph.add("buffersink")]
    graph.link_nodes(*nodes).configure()
    shown, bases = [], set()
    for index, time in enumerate([*times, None]):
        frame = None
        if time is not None:
            frame = av.VideoFrame.from_ndarray(np.full((2, 2), index, np.uint16), format="gray16le")
            frame.pts, frame.time_base, frame.duration = time, time_base, end - times[-1]
        nodes[0].push(frame)
        while True:
            try:
                output = nodes[-1].pull()
            except (av.BlockingIOError, av.EOFError):
                break
            shown.append(int(output.to_ndarray()[0, 0]))
            bases.add(output.time_base)
    return shown, bases


@settings(deadline=None, max_examples=300)
@given(timelines(), st.integers(1, 80), st.floats(0.02, 5))
def test_budget_is_the_fps_filter(timeline, count, stretch):
    time_base, times, end = timeline
    duration_s = printed_duration_s(float((end - times[0]) * time_base) * stretch)
    selector = budget_selector(FrameSpec(sampling="budget", count=count), duration_s, time_base)
    selector.asked = EVERYTHING  # the filter itself knows no limit
    shown, bases = filtered(time_base, times, end, f"fps={count / max(duration_s, 0.1):.6f}")
    assert repeat(range(len(times)), selector.plan(times, end)) == shown
    assert bases <= {1 / selector.rate}


@given(timelines(), st.integers(1, 80), st.data())
def test_planning_in_pieces_is_planning_at_once(timeline, count, data):
    time_base, times, end = timeline
    at_once = RateSelector(count, Fraction(count, 3), time_base).plan(times, end)
    in_pieces, selector, rest = [], RateSelector(count, Fraction(count, 3), time_base), list(times)
    while rest:
        size = data.draw(st.integers(1, len(rest)))
        piece, rest = rest[:size], rest[size:]
        in_pieces += selector.plan(piece, rest[0] if rest else end)
    assert in_pieces == at_once
    assert sum(at_once) <= count
    assert selector.done == (sum(at_once) == count)


@given(timelines(), st.integers(1, 40), st.data())
def test_frames_may_be_skipped_up_to_one_that_may_begin(timeline, count, data):
    time_base, times, end = timeline
    cut = data.draw(st.integers(1, len(times)))
    whole, skipping = (RateSelector(EVERYTHING, Fraction(count, 3), time_base) for _ in range(2))
    expected = whole.plan(times, end)
    seen = skipping.plan(times[:cut], times[cut] if cut < len(times) else end)
    later = [index for index in range(cut, len(times)) if skipping.may_begin_at(times[index])]
    start = later[-1] if later else cut
    assert seen + [0] * (start - cut) + skipping.plan(times[start:], end) == expected


@given(st.integers(1, 10**4), st.integers(1, 200), TIME_BASES)
def test_latest_time_is_the_last_that_may_begin(outputs, count, time_base):
    selector = RateSelector(EVERYTHING, Fraction(count, 7), time_base)
    selector.next_output = outputs
    assert selector.may_begin_at(selector.latest_time())
    assert not selector.may_begin_at(selector.latest_time() + 1)


@given(st.floats(min_value=1e-4, max_value=1e4))
def test_rates_are_close_and_small(rate_fps):
    rate = ffmpeg_rate(rate_fps)
    assert abs(rate - Fraction(rate_fps)) <= Fraction(1, 10**8)
    assert max(rate.numerator, rate.denominator) < 2**31


@pytest.mark.parametrize("rate_fps", [1.0547914161437252e-05, 0.0007072849360331286, 0.0013655421023546107])
def test_the_last_bits_of_a_small_rate_are_cut_as_ffmpeg_cuts_them(rate_fps):
    _, (base,) = filtered(Fraction(1, 1000), [0], 1, f"fps={rate_fps!r}:start_time=0:round=up")
    assert ffmpeg_rate(rate_fps) == 1 / base


def test_known_rates():
    assert ffmpeg_rate(64 / 60.0) == Fraction(16, 15)
    assert ffmpeg_rate(0.1) == Fraction(1, 10)
    assert ffmpeg_rate(30000 / 1001) == Fraction(30000, 1001)


def test_rounding_half_away_from_zero():
    assert [round_half_away(value, 2) for value in (-3, -1, 0, 1, 3)] == [-2, -1, 0, 1, 2]


@given(st.integers(1, 10**6), st.integers(2, 200))
def test_uniform_spans_first_to_last(frame_count, count):
    indices = uniform_indices(frame_count, count)
    assert len(indices) == min(frame_count, count) == len(set(indices))
    assert indices[0] == 0
    assert indices[-1] == frame_count - 1
    if frame_count > count:
        assert indices == np.linspace(0, frame_count - 1, count).astype(int).tolist()
        exact = [step * (frame_count - 1) // (count - 1) for step in range(count)]
        assert all(0 <= whole - index <= 1 for whole, index in zip(exact, indices, strict=True))


def test_positions_of_each_kind():
    def wanted(frame_count=100, **fields):
        return sorted(index_selector(FrameSpec(**fields), frame_count, 10.0).wanted.elements())

    assert wanted(sampling="uniform", count=4) == [0, 33, 66, 99]
    assert wanted(sampling="central") == [50]
    assert wanted(sampling="central", frame_count=1) == [0]
    assert wanted(sampling="random", count=500, seed=1) == list(range(100))
    assert len(wanted(sampling="random", rate_fps=0.44, seed=1)) == 4
    assert wanted(sampling="rate", rate_fps=0.4) == [0, 33, 66, 99]
    assert wanted(sampling="rate", rate_fps=50) == list(range(100))
    assert wanted(sampling="rate", rate_fps=0.01) == wanted(sampling="central")
    assert wanted(sampling="random", count=5, seed=1) != wanted(sampling="random", count=5, seed=2)
    assert wanted(sampling="random", count=5, seed=1) == wanted(sampling="random", count=5, seed=1)


def test_positions_are_shown_and_skipped():
    selector = IndexSelector(2, Counter([3, 7]))
    assert selector.plan([0, 1, 2, 3], 4) == [0, 0, 0, 1]
    assert not selector.done
    assert selector.next_wanted() == 7
    selector.skip_to(6)
    assert selector.plan([6, 7], 8) == [0, 1]
    assert selector.done


def test_a_count_for_every_value():
    assert repeat([7, 8], [0, 2]) == [8, 8]
    for counts in ([1], [1, 1, 1]):
        with pytest.raises(ValueError, match="zip"):
            repeat([7, 8], counts)


def test_nothing_wanted_is_done_at_once():
    selector = IndexSelector(0, Counter())
    assert selector.done
    assert selector.plan([0, 1], 2) == [0, 0]


def test_a_rate_is_a_number_of_frames():
    """0.1 frames a second of 2.7 to 139.1 s: 1 to 14, the first and last frame among them; one is the central frame."""
    for duration_s, cap, expected in (
        (2.7, None, 1),
        (45.8, None, 5),
        (139.1, 7, 7),
        (139.1, 20, 14),
        (139.1, None, 14),
    ):
        spec = FrameSpec(sampling="rate", rate_fps=0.1, count=cap)
        selector = index_selector(spec, 1000, duration_s)
        assert selector.asked == expected == frames_asked(spec, duration_s)
        positions = sorted(selector.wanted)
        assert (positions[0], positions[-1]) == ((0, 999) if expected > 1 else (500, 500))


def test_shuffling_is_a_permutation_by_seed():
    spec = FrameSpec(sampling="budget", count=30, shuffled=True, seed=5)
    order = display_order(spec, 30)
    assert sorted(order) == list(range(30)) != order
    assert order == display_order(spec, 30)
    assert display_order(FrameSpec(sampling="budget", count=30), 30) == list(range(30))
