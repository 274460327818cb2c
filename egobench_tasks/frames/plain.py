"""Decoding every frame: the reference, for clips whose packets do not say what may be skipped."""

import heapq
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import av
from av.packet import Packet
from av.video.frame import PictureType, VideoFrame
from av.video.stream import VideoStream

from egobench_tasks.frames.clock import FrameClock
from egobench_tasks.frames.errors import ClipError
from egobench_tasks.frames.source import Source, UnusualClip, packets, packets_before

_GRACE_S = 0.1
_MATROSKA_DURATION = re.compile(r"(\d+):(\d\d):(\d\d(?:\.\d+)?)")


@dataclass(slots=True)
class PlainDecoder:
    """Decodes all frames of a source in order.

    ``strict``: raise ``ClipError`` at the first damage; else decode on as FFmpeg does and keep the
    first reason in ``damage``. ``from_start``: read from the clip's beginning even for a window.
    ``good_frames``: frames that came out whole so far. ``end``: when the latest frame ends, in ticks
    from the source's start.
    """

    source: Source
    strict: bool
    from_start: bool = False
    good_frames: int = 0
    end: int = 0
    damage: str | None = None
    _last_dts: int | None = field(default=None, repr=False)
    _due: list[int] = field(default_factory=list, repr=False)
    _key_time: int | None = field(default=None, repr=False)

    @property
    def _seeks(self) -> bool:
        return self.source.begins_inside and not self.from_start

    def frames(self) -> Iterator[tuple[VideoFrame, int]]:
        """Yield the frames of the window, each with its time in ticks from the source's start.

        Raises ``UnusualClip`` where decoding from the window's start does not give all of them.
        """
        source, clock = self.source, FrameClock.of(self.source.stream)
        for frame in self._decode():
            time = clock.time_of(frame) - source.start_ticks
            if self._seeks:
                self._check_seek(frame, time)
            if source.is_past(time):
                assert source.end_ticks is not None
                self.end = source.end_ticks
                break
            self.end = time + clock.duration
            if frame.is_corrupt:
                self._damaged("a frame is damaged")
            else:
                self.good_frames += 1
            if source.in_window(time):
                yield frame, time
        else:
            if ends_early(source, self._last_dts, self.end + source.start_ticks):
                self._damaged("the file is cut short")
        if self._due:
            raise UnusualClip("frames are missing after the seek")
        if source.end_ticks is not None:
            self.end = min(self.end, source.end_ticks)

    def _decode(self) -> Iterator[VideoFrame]:
        for packet in itertools.chain(self._packets(), [None]):
            try:
                yield from self.source.stream.codec_context.decode(packet)
            except av.FFmpegError as error:
                self._damaged(f"a frame cannot be decoded: {error.strerror}")

    def _packets(self) -> Iterator["Packet[VideoStream]"]:
        source = self.source
        try:
            for packet in packets_before(source, source.start_ticks) if self._seeks else packets(source):
                if packet.is_corrupt:
                    self._damaged("the file is cut short")
                self._last_dts = packet.dts
                if self._seeks:
                    self._note_due(packet)
                yield packet
        except (av.FFmpegError, OSError) as error:
            self._damaged(f"the file cannot be read on: {error.strerror or error}")

    def _note_due(self, packet: "Packet[VideoStream]") -> None:
        if packet.pts is None:
            raise UnusualClip("a packet without a time")
        time = packet.pts - self.source.start_ticks
        if self._key_time is None:
            self._key_time = time
        if self.source.in_window(time) and not packet.is_discard:
            heapq.heappush(self._due, time)

    def _check_seek(self, frame: VideoFrame, time: int) -> None:
        """After a seek, frames may be missing or wrong until the decoder has caught up (open GOPs, intra refresh)."""
        if time == self._key_time and frame.pict_type != PictureType.I:
            raise UnusualClip("the seek led to a frame that needs earlier ones")
        if self.source.in_window(time) and (not self._due or heapq.heappop(self._due) != time):
            raise UnusualClip("frames are missing after the seek")

    def _damaged(self, reason: str) -> None:
        if self.strict:
            raise ClipError(self.source.path, reason, self.good_frames)
        self.damage = self.damage or reason


def ends_early(source: Source, last_dts: int | None, last_end: int) -> bool:
    """Return whether a file read to its end holds less than its own tables promise.

    MP4 lists every sample; Matroska files usually state the duration of each track. ``last_dts``: the
    last packet's decoding time, ``last_end``: when the last frame ends; both in the stream's ticks.
    """
    entries = source.stream.index_entries
    if "mp4" in source.container.format.name:
        return len(entries) > 0 and (last_dts is None or last_dts < entries[-1].timestamp)
    stated = _MATROSKA_DURATION.fullmatch(source.stream.metadata.get("DURATION", ""))
    if stated is None or source.container.duration is None:
        return False
    hours, minutes, seconds = stated.groups()
    stated_s = int(hours) * 3600 + int(minutes) * 60 + float(seconds)
    stated_s = min(stated_s, source.container.duration / av.time_base)  # a tag may outlive a cut
    return float(last_end * source.time_base) < stated_s - _GRACE_S
