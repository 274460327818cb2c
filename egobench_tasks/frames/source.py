"""An opened clip: its video stream, and its clock."""

import itertools
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction

import av
from av.container import InputContainer
from av.packet import Packet
from av.stream import Discard, Disposition
from av.video.stream import VideoStream

from egobench_tasks.frames.clip_file import open_container
from egobench_tasks.frames.errors import ClipError
from egobench_tasks.frames.select import round_half_away
from egobench_tasks.frames.spec import FrameSpec, printed_duration_s

_US_PER_S = 1_000_000
_DEFAULT_WEIGHT = 5_000_000
_MAX_SEEKS = 8
_SEEK_BACK_S = Fraction(1, 2)


@dataclass(frozen=True, slots=True)
class Source:
    """A clip opened for one spec.

    ``start_ticks``: the stream's time at the spec's second 0 (the container's start, or the window's).
    ``end_ticks``: the window's end, counted from ``start_ticks``; None for the clip's own end.
    ``duration_us``: the container's duration (or the window's part of it) in microseconds, 0 if it states none.
    """

    path: str
    container: InputContainer
    stream: VideoStream
    start_ticks: int
    end_ticks: int | None
    duration_us: int
    is_windowed: bool

    @property
    def time_base(self) -> Fraction:
        """Seconds a tick."""
        assert self.stream.time_base is not None
        return self.stream.time_base

    @property
    def duration_s(self) -> float:
        """The duration in seconds as FFmpeg's program prints it: what every sampling computes with."""
        return printed_duration_s(self.duration_us / _US_PER_S)

    @property
    def begins_inside(self) -> bool:
        """Whether the window begins after the clip's first frame, so that reading begins with a seek."""
        return self.is_windowed and self.start_ticks > (self.stream.start_time or 0)

    def in_window(self, time: int) -> bool:
        """Whether a time (ticks from ``start_ticks``) belongs to what is asked for."""
        if not self.is_windowed:
            return True  # FFmpeg keeps frames before the container's start, too
        return time >= 0 and not self.is_past(time)

    def is_past(self, time: int) -> bool:
        """Whether a time lies at or after the window's end."""
        return self.end_ticks is not None and time >= self.end_ticks


@contextmanager
def open_source(path: str, spec: FrameSpec) -> Iterator[Source]:
    """Open a local path or an fsspec URL (`clip_file.open_clip`) and place the spec's window on its clock.

    Raises ``ClipError`` where there is no such clip, no video in it, or a window that begins after its end.
    """
    with open_container(path) as container:
        yield _place(path, container, spec)


class UnusualClip(Exception):
    """This way of reading the clip cannot be shown to be exact: the next, slower way takes over."""


def fail_on_errors(source: Source) -> None:
    """Let the decoder fail where it would otherwise paper over what it cannot read; call before it gets a packet."""
    source.stream.codec_context.options = {"err_detect": "explode"}


def packets(source: Source) -> Iterator["Packet[VideoStream]"]:
    """Yield the video packets from where the container stands; the flush packet at the end is left out."""
    for packet in source.container.demux(source.stream):
        if packet.size or packet.pts is not None or packet.dts is not None:
            yield packet


def packets_before(source: Source, ticks: int) -> Iterator["Packet[VideoStream]"]:
    """Move to a key frame shown at or before a time of the stream, and yield the packets from there.

    Containers seek by decoding times, or roughly; the frame they find may be shown later than asked:
    then an earlier one is tried. Raises ``UnusualClip`` where none is found.
    """
    target, step = ticks, 1
    for _ in range(_MAX_SEEKS):
        try:
            source.container.seek(target, stream=source.stream)
        except (av.FFmpegError, OSError) as error:
            raise UnusualClip("cannot seek") from error
        found = itertools.dropwhile(lambda packet: not packet.is_keyframe, packets(source))
        first = next(found, None)
        if first is None or first.pts is None:
            break
        if first.pts <= ticks:
            return itertools.chain([first], found)
        target -= step
        step = 2 * step if step > 1 else math.ceil(_SEEK_BACK_S / source.time_base)
    raise UnusualClip("found no key frame before the window")


def _place(path: str, container: InputContainer, spec: FrameSpec) -> Source:
    stream = max(container.streams.video, key=_weight, default=None)  # the first of equals
    if stream is None or stream.time_base is None:
        raise ClipError(path, "holds no video")
    if not stream.codec_context:
        raise ClipError(path, "holds video that no decoder here reads")
    for other in container.streams:
        if other is not stream:
            other.discard = Discard.all
    stream.codec_context.thread_count = 1
    start_us, end_us = _us(spec.start_s or 0.0), None if spec.end_s is None else _us(spec.end_s)
    whole_us = container.duration or 0
    if spec.start_s is not None and whole_us and start_us >= whole_us:
        raise ClipError(path, f"the window begins at {spec.start_s} s, the clip ends at {whole_us / _US_PER_S} s")
    stop_us = min((time_us for time_us in (whole_us, end_us) if time_us), default=0)
    return Source(
        path=path,
        container=container,
        stream=stream,
        start_ticks=_to_ticks((container.start_time or 0) + start_us, stream.time_base),
        end_ticks=None if end_us is None else _to_ticks(end_us - start_us, stream.time_base),
        duration_us=max(0, stop_us - start_us),
        is_windowed=spec.start_s is not None or spec.end_s is not None,
    )


def _weight(stream: VideoStream) -> int:
    """By which FFmpeg's program takes a stream: its size, marked as default, no cover picture.

    Source: map_auto_video in fftools/ffmpeg_mux_init.c.
    """
    if Disposition.attached_pic & stream.disposition:
        return 1
    context = stream.codec_context  # None where there is no decoder
    size = context.width * context.height if context else 0
    return size + _DEFAULT_WEIGHT * bool(Disposition.default & stream.disposition)


def _us(seconds: float) -> int:
    return round(seconds * _US_PER_S)


def _to_ticks(time_us: int, time_base: Fraction) -> int:
    return round_half_away(time_us * time_base.denominator, _US_PER_S * time_base.numerator)
