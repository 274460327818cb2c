"""From the times of a clip's frames to the frames that are shown. Pure; times and rates are exact integers.

Times are integers in ticks of the stream's time base, counted from the clip's start (or the window's).
A selector sees them in the order of presentation, in one or several runs, and says how often each
frame is shown: 0 for a frame that is left out, 2 for one that is repeated.
"""

import math
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Protocol

import numpy as np

from egobench_tasks.frames.spec import FrameSpec, Sampling

_INT_MAX = 2**31 - 1
_SHORTEST_S = 0.1
"""What a budget is divided by at least (PROTOCOL 1.2)."""


class Selector(Protocol):
    """Chooses frames as their times become known."""

    asked: int
    """How many frames the spec asks for."""

    def plan(self, times: Sequence[int], until: int) -> list[int]:
        """Return for each time how often its frame is shown; ``until`` is when the last one gives way."""

    @property
    def done(self) -> bool:
        """Whether no later frame can be shown."""


@dataclass(slots=True)
class RateSelector:
    """FFmpeg's ``fps`` filter: at most ``asked`` frames at ``rate`` a second.

    ``time_base``: seconds a tick. Source: libavfilter/vf_fps.c; a frame's time is rounded to output ticks, halves
    away from zero, and output n shows the last frame whose rounded time is at most n, from the first frame's
    rounded time up to the end's.
    """

    asked: int
    rate: Fraction
    time_base: Fraction
    shown: int = 0
    next_output: int | None = None
    _outputs_per_tick: Fraction = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._outputs_per_tick = self.time_base * self.rate

    def plan(self, times: Sequence[int], until: int) -> list[int]:
        """See `Selector.plan`."""
        ticks = [self.output_tick(time) for time in (*times, until)]
        if self.next_output is None and times:
            self.next_output = ticks[0]
        return [self._take(tick) for tick in ticks[1:]] if times else []

    def output_tick(self, time: int) -> int:
        """Return a time in ticks of the output, rounded as the filter does."""
        per_tick = self._outputs_per_tick
        return round_half_away(time * per_tick.numerator, per_tick.denominator)

    def may_begin_at(self, time: int) -> bool:
        """Return whether frames before one at ``time`` cannot be shown any more."""
        return self.next_output is not None and self.output_tick(time) <= self.next_output

    def latest_time(self) -> int:
        """Return about the last time for which `may_begin_at` holds."""
        outputs = self.next_output or 0
        return math.ceil(Fraction(2 * outputs + 1, 2) / self._outputs_per_tick) - 1

    @property
    def done(self) -> bool:
        """See `Selector.done`."""
        return self.shown >= self.asked

    def _take(self, tick: int) -> int:
        """How often the frame before ``tick`` is shown."""
        assert self.next_output is not None
        repeats = min(max(0, tick - self.next_output), self.asked - self.shown)
        self.next_output = max(self.next_output, tick)
        self.shown += repeats
        return repeats


@dataclass(slots=True)
class IndexSelector:
    """The frames at given positions of the clip (0 = first shown), each as often as it is named."""

    asked: int
    wanted: Counter[int]
    position: int = 0

    def plan(self, times: Sequence[int], until: int) -> list[int]:
        """See `Selector.plan`. Times do not matter here, only the count of them."""
        first = self.position
        self.position += len(times)
        return [self.wanted[index] for index in range(first, self.position)]

    def next_wanted(self) -> int:
        """Return the next position to be shown; `done` must be False."""
        return min(index for index in self.wanted if index >= self.position)

    def skip_to(self, position: int) -> None:
        """Leave out the frames before ``position``, none of which is wanted."""
        self.position = position

    @property
    def done(self) -> bool:
        """See `Selector.done`."""
        return self.position > max(self.wanted, default=-1)


def budget_selector(spec: FrameSpec, duration_s: float, time_base: Fraction) -> RateSelector:
    """Return the selector of a BUDGET spec for a clip (or window) of ``duration_s``."""
    assert spec.count is not None
    return RateSelector(spec.count, budget_rate(spec.count, duration_s), time_base)


def budget_rate(count: int, duration_s: float) -> Fraction:
    """Return the rate of ``fps=R`` for ``count`` frames of a clip, R written with six decimals (PROTOCOL 1.2).

    ``duration_s``: as FFmpeg's program prints it (`spec.printed_duration_s`). 0 for a clip of millions of seconds.
    """
    return ffmpeg_rate(float(f"{count / max(duration_s, _SHORTEST_S):.6f}"))


def index_selector(spec: FrameSpec, frame_count: int, duration_s: float) -> IndexSelector:
    """Return the selector of any other spec for a clip (or window) of ``frame_count`` frames and ``duration_s``."""
    asked = frames_asked(spec, duration_s)
    if spec.sampling is Sampling.RANDOM:
        chosen = random.Random(spec.seed).sample(range(frame_count), min(asked, frame_count))
    else:
        chosen = uniform_indices(frame_count, asked)
    return IndexSelector(asked, Counter(chosen))


def frames_asked(spec: FrameSpec, duration_s: float) -> int:
    """Return how many frames a spec asks for of a clip of ``duration_s``; the clip may have fewer.

    A rate is a number of frames: the paper defines it as frames over duration (PROTOCOL 2).
    """
    if spec.rate_fps is None:
        return spec.count or 1
    frames = max(1, round(spec.rate_fps * duration_s))
    return frames if spec.count is None else min(frames, spec.count)


def uniform_indices(frame_count: int, count: int) -> list[int]:
    """Return ``count`` indices evenly spaced from 0 to frame_count - 1; all where there are fewer, 1 in the middle.

    ``numpy.linspace`` cut to integers, as the authors' notebook has it (PROTOCOL 2): where a step is not exact in
    binary, its index may be one less than exact arithmetic gives.
    """
    if frame_count <= count:
        return list(range(frame_count))
    if count == 1:
        return [frame_count // 2]
    return [int(position) for position in np.linspace(0, frame_count - 1, count)]


def display_order(spec: FrameSpec, frame_count: int) -> list[int]:
    """Return the order in which chosen frames are shown: as they are, or shuffled by the spec's seed."""
    order = list(range(frame_count))
    if spec.shuffled:
        random.Random(spec.seed).shuffle(order)
    return order


def ffmpeg_rate(rate_fps: float) -> Fraction:
    """Return the rational that FFmpeg makes of a rate written as a decimal number, such as ``1.066080``.

    The ``fps`` filter evaluates it as a double and takes the nearest rational with both parts below
    2^31 (av_d2q, av_reduce). Source: libavutil/rational.c. Positive rates only.
    """
    # The double's 53 bits are exact, but below about 2^-9: some then lie past the 62 that av_d2q keeps after the point.
    exponent = max(math.frexp(rate_fps)[1] - 1, 0)
    denominator = 1 << (62 - exponent)
    return _reduce(Fraction(math.floor(rate_fps * denominator + 0.5), denominator))


def _reduce(value: Fraction) -> Fraction:
    """The continued fraction of av_reduce, cut where a part would pass 2^31 - 1."""
    numerator, denominator = value.numerator, value.denominator
    if max(numerator, denominator) <= _INT_MAX:
        return value
    before, best = (0, 1), (1, 0)
    while denominator:
        whole, rest = divmod(numerator, denominator)
        following = (whole * best[0] + before[0], whole * best[1] + before[1])
        if max(following) > _INT_MAX:
            if best[0]:
                whole = (_INT_MAX - before[0]) // best[0]
            if best[1]:
                whole = min(whole, (_INT_MAX - before[1]) // best[1])
            if denominator * (2 * whole * best[1] + before[1]) > numerator * best[1]:
                best = (whole * best[0] + before[0], whole * best[1] + before[1])
            break
        before, best = best, following
        numerator, denominator = denominator, rest
    return Fraction(*best)


def round_half_away(numerator: int, denominator: int) -> int:
    """Return the integer nearest to a fraction, halves away from zero (AV_ROUND_NEAR_INF); denominator > 0."""
    magnitude = (2 * abs(numerator) + denominator) // (2 * denominator)
    return magnitude if numerator >= 0 else -magnitude


def repeat(values: Iterable[int], counts: Iterable[int]) -> list[int]:
    """Return each value as often as its count says: ``repeat([7, 8], [0, 2]) == [8, 8]``."""
    return [value for value, count in zip(values, counts, strict=True) for _ in range(count)]
