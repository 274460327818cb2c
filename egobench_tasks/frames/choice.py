"""The selector of a spec for an opened clip."""

import contextlib
from collections.abc import Iterator

import av
from av.packet import Packet
from av.video.stream import VideoStream

from egobench_tasks.frames.errors import ClipError
from egobench_tasks.frames.select import Selector, budget_selector, index_selector
from egobench_tasks.frames.source import Source, UnusualClip, open_source, packets, packets_before
from egobench_tasks.frames.spec import FrameSpec, Sampling


def chooses_by_position(spec: FrameSpec) -> bool:
    """Whether a spec chooses frames by their position among all of the clip, rather than by their times."""
    return spec.sampling is not Sampling.BUDGET


def make_selector(source: Source, spec: FrameSpec, frame_count: int | None) -> Selector:
    """Return what chooses the spec's frames; ``frame_count`` is needed by those for which `chooses_by_position` holds.

    Raises ``ClipError`` where the spec needs a duration and the container states none.
    """
    needs_duration = spec.sampling is Sampling.BUDGET or spec.rate_fps is not None
    if needs_duration and not source.duration_us:
        raise ClipError(source.path, f"states no duration, which {spec.sampling} needs; remux it (ffmpeg -c copy)")
    if not chooses_by_position(spec):
        selector = budget_selector(spec, source.duration_s, source.time_base)
        if not selector.rate:
            raise ClipError(source.path, f"states a duration of {source.duration_s:.0f} s, too long to choose from")
        return selector
    assert frame_count is not None
    return index_selector(spec, frame_count, source.duration_s)


def count_frames(path: str, spec: FrameSpec) -> int:
    """Return how many frames a clip (or the spec's window of it) has, by its packets: nothing is decoded.

    A whole MP4 says so in its tables; other files are read through. Raises ``ClipError``.
    """
    with open_source(path, spec) as source:
        if not source.is_windowed and is_indexed(source):
            return len(source.stream.index_entries)
        if source.begins_inside:
            with contextlib.suppress(UnusualClip):
                return _count_packets(source, packets_before(source, source.start_ticks))
    with open_source(path, spec) as source:
        return _count_packets(source, packets(source))


def _count_packets(source: Source, found: Iterator["Packet[VideoStream]"]) -> int:
    count = 0
    with contextlib.suppress(av.FFmpegError):  # a broken tail is the decoder's to judge
        for packet in found:
            if packet.dts is not None and source.is_past(packet.dts - source.start_ticks):
                break  # no later packet can be shown earlier
            time = packet.pts if packet.pts is not None else packet.dts
            if not packet.is_discard and (time is None or source.in_window(time - source.start_ticks)):
                count += 1
    return count


def is_indexed(source: Source) -> bool:
    """Return whether the container lists every frame: an MP4 that is not fragmented, without cutting edits."""
    entries = source.stream.index_entries
    return "mp4" in source.container.format.name and 0 < len(entries) == source.stream.frames
