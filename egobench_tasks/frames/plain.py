"""Decoding every frame: the reference, for clips whose packets do not say what may be skipped."""

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
from egobench_tasks.frames.ledger import PictureLedger
from egobench_tasks.frames.picture import properties
from egobench_tasks.frames.source import Source, UnusualClip, fail_on_errors, packets, packets_before

_GRACE_S = 0.1
_MATROSKA_DURATION = re.compile(r"(\d+):(\d\d):(\d\d(?:\.\d+)?)")


@dataclass(slots=True)
class PlainDecoder:
    """Decodes all frames of a source in order.

    ``strict``: raise ``ClipError`` at the first damage that the decoder notices; else decode on as FFmpeg does and
    keep the first reason in ``damage``. ``from_start``: read from the clip's beginning even for a window.
    ``good_frames``: frames that came out whole so far. ``end``: when the latest frame ends, in ticks
    from the source's start.
    """

    source: Source
    strict: bool
    from_start: bool = False
    good_frames: int = 0
    end: int = 0
    damage: str | None = None
    _ledger: PictureLedger = field(init=False, repr=False)
    _last_dts: int | None = field(default=None, repr=False)
    _key_time: int | None = field(default=None, repr=False)
    _properties: tuple[object, ...] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        self._ledger = PictureLedger(self.source.stream.codec_context.name)
        if self.strict:
            fail_on_errors(self.source)

    @property
    def may_stop(self) -> bool:
        """Whether `check_pictures` can tell before the clip's end: pictures without a time are counted there."""
        return not self._ledger.untimed

    @property
    def _seeks(self) -> bool:
        return self.source.begins_inside and not self.from_start

    def frames(self) -> Iterator[tuple[VideoFrame, int]]:
        """Yield the frames of the window, each with its time in ticks from the source's start.

        Raises ``UnusualClip`` where decoding from the window's start does not give all of them, and ``ClipError``
        where pictures change their size or colours on the way, or (if strict) are damaged or lost.
        """
        source, clock = self.source, FrameClock.of(self.source.stream)
        for frame in self._decode():
            time = clock.time_of(frame) - source.start_ticks
            self._check_frame(frame, time)
            if source.is_past(time):
                assert source.end_ticks is not None
                self.end = source.end_ticks
                self.check_pictures()
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
            self.check_pictures(drained=True)
        if source.end_ticks is not None:
            self.end = min(self.end, source.end_ticks)

    def check_pictures(self, *, drained: bool = False) -> None:
        """Note pictures that went into the decoder and are lost; ``drained``: all of the clip has been decoded."""
        if lost := self._ledger.lost(drained=drained):
            self._damaged(f"{lost} of its pictures cannot be decoded")

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
                    self._check_packet(packet)
                self._ledger.enter(packet)
                yield packet
        except (av.FFmpegError, OSError) as error:
            self._damaged(f"the file cannot be read on: {error.strerror or error}")

    def _check_packet(self, packet: "Packet[VideoStream]") -> None:
        if packet.pts is None:
            raise UnusualClip("a packet without a time")
        if self._key_time is None:
            self._key_time = packet.pts - self.source.start_ticks

    def _check_frame(self, frame: VideoFrame, time: int) -> None:
        """After a seek, frames may be missing or wrong until the decoder has caught up (open GOPs, intra refresh)."""
        was_due = self._ledger.leave(frame)
        if self._seeks and time == self._key_time and frame.pict_type != PictureType.I:
            raise UnusualClip("the seek led to a frame that needs earlier ones")
        if self._seeks and self.source.in_window(time) and not was_due:
            raise UnusualClip("another frame came out than went in")
        found = properties(frame)
        if self._properties not in (None, found):
            # FFmpeg's program begins to choose anew from there: neither its frames nor ours are evenly spaced.
            raise ClipError(
                self.source.path, f"its pictures change from {self._properties} to {found}", self.good_frames
            )
        self._properties = found

    def _damaged(self, reason: str) -> None:
        if self._seeks:
            raise UnusualClip(reason)  # for want of what came before the seek, perhaps
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
