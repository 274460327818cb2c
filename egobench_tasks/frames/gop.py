"""Reading a clip one closed group of pictures (GOP) at a time, checking that each is what its packets claim."""

import heapq
import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from av.packet import Packet
from av.video.stream import VideoStream

from egobench_tasks.frames.bitstream import PacketFacts, make_scanner
from egobench_tasks.frames.choice import is_indexed
from egobench_tasks.frames.plain import ends_early
from egobench_tasks.frames.select import IndexSelector, RateSelector, Selector
from egobench_tasks.frames.source import Source, UnusualClip, packets, packets_before

# A group is held in memory as it is in the file; recordings with one key frame in all would fill it.
_MAX_GOP_BYTES = 256 * 2**20
_CHANGES = ("new_extradata", "param_change")


@dataclass(frozen=True, slots=True)
class CodedPicture:
    """One packet. ``time``: when it is shown, in ticks from the source's start; ``dts``: the stream's decoding time."""

    packet: "Packet[VideoStream]"
    time: int
    dts: int | None
    facts: PacketFacts


@dataclass(frozen=True, slots=True)
class Gop:
    """A closed group of pictures, in decoding order.

    ``disposable``: for each picture, whether no other refers to it. ``until``: when the last one shown
    gives way to the next group's first (or to nothing), in ticks from the source's start.
    """

    pictures: Sequence[CodedPicture]
    disposable: Sequence[bool]
    until: int

    def times(self) -> list[int]:
        """Return when the pictures are shown, in order of display."""
        return sorted(picture.time for picture in self.pictures)

    def needed_for(self, wanted: set[int]) -> list[CodedPicture]:
        """Return the pictures that those shown at the ``wanted`` times need, themselves included."""
        last = max(index for index, picture in enumerate(self.pictures) if picture.time in wanted)
        candidates = zip(self.pictures[: last + 1], self.disposable, strict=False)
        return [picture for picture, disposable in candidates if not disposable or picture.time in wanted]


class GopReader:
    """Reads a source group by group. Every method raises ``UnusualClip`` for what it cannot vouch for."""

    def __init__(self, source: Source) -> None:
        self._source = source
        context = source.stream.codec_context
        self._scanner = make_scanner(context.name, context.extradata)
        self._reorder_depth = context.reorder_depth
        self._last_dts: int | None = None
        self._cut_at_window = False
        self._packets = packets_before(source, source.start_ticks) if source.begins_inside else packets(source)
        self._peeked: CodedPicture | None = None
        self._next = self._take()
        self._parameter_sets = self._next.facts.parameter_sets if self._next else ()
        # Sample entries "avc1" and "hvc1" promise that parameter sets stand in the header alone, so
        # groups may be passed over unread (ISO/IEC 14496-15).
        self._can_skip = is_indexed(source) and context.codec_tag in ("avc1", "hvc1") and not self._parameter_sets

    def read(self) -> Gop | None:
        """Return the next group; None after the last, or after the window's end."""
        key = self._next
        if key is None or self._source.is_past(key.time):
            return None
        _check_closed(key)
        if key.facts.parameter_sets != self._parameter_sets:
            raise UnusualClip("parameter sets that change")
        pictures, size_bytes = [key], key.packet.size
        self._next = self._take()
        while self._next is not None and not (self._next.facts.starts_closed_gop or self._next.packet.is_keyframe):
            if self._next.facts.parameter_sets:
                raise UnusualClip("parameter sets inside a group of pictures")
            if self._next.dts is not None and self._source.is_past(self._next.dts - self._source.start_ticks):
                self._next, self._cut_at_window = None, True  # no later picture is shown earlier
                break
            pictures.append(self._next)
            size_bytes += self._next.packet.size
            if size_bytes > _MAX_GOP_BYTES:
                raise UnusualClip("a group of pictures too large to hold")
            self._next = self._take()
        return self._checked(pictures)

    def skip_ahead(self, selector: Selector) -> None:
        """Leave groups unread that cannot hold the next frame to be shown, where the container lists them."""
        here = self._next
        if not self._can_skip or here is None or here.dts is None:
            return
        entries, start_ticks = self._source.stream.index_entries, self._source.start_ticks
        # The list has decoding times; a key frame's lag tells when the others are shown, to be checked below.
        lag = here.time + start_ticks - here.dts
        if isinstance(selector, RateSelector):
            entry = entries.search_timestamp(selector.latest_time() + start_ticks - lag)
        elif isinstance(selector, IndexSelector) and not self._source.is_windowed:
            entry = entries.search_timestamp(entries[selector.next_wanted()].timestamp)
        else:
            return
        if entry < 0 or entries[entry].timestamp <= here.dts:
            return
        landed = self._move_to(entries[entry].timestamp, lag, not_before=here.dts)
        if isinstance(selector, IndexSelector):
            position = self._position_of(landed)
            if position > selector.next_wanted():
                raise UnusualClip("the container does not seek to where it says")
            selector.skip_to(position)
        elif not selector.may_begin_at(landed.time) and self._move_to(here.dts, lag, here.dts).dts != here.dts:
            raise UnusualClip("the container does not seek to where it says")

    def _move_to(self, dts: int, lag: int, not_before: int) -> CodedPicture:
        """Seek to a key frame and read on to ``not_before``, should the container land earlier."""
        source = self._source
        source.container.seek(dts + lag, stream=source.stream)
        self._packets, self._peeked = packets(source), None
        self._next = self._take()
        while self._next is not None and self._next.dts is not None and self._next.dts < not_before:
            self._next = self._take()
        if self._next is None or self._next.dts is None:
            raise UnusualClip("the container does not seek to where it says")
        self._last_dts = None
        return self._next

    def _position_of(self, picture: CodedPicture) -> int:
        entries = self._source.stream.index_entries
        assert picture.dts is not None
        position = entries.search_timestamp(picture.dts)
        if position < 0 or entries[position].timestamp != picture.dts:
            raise UnusualClip("a list of frames that does not match them")
        return position

    def _take(self) -> CodedPicture | None:
        """Return the next picture. Where it may have leading ones, the next is looked at: the scanner refuses those."""
        taken = self._peeked or self._read_packet()
        self._peeked = self._read_packet() if taken is not None and taken.facts.may_have_leading else None
        return taken

    def _read_packet(self) -> CodedPicture | None:
        packet = next(self._packets, None)
        if packet is None:
            return None
        if packet.pts is None or packet.is_corrupt or packet.is_discard:
            raise UnusualClip("a packet without a time, damaged, or cut by an edit list")
        if packet.dts is not None and packet.dts > packet.pts:
            raise UnusualClip("a picture shown before it is decoded")
        if any(data.data_type in _CHANGES for data in packet.iter_sidedata()):
            raise UnusualClip("parameters that change")
        facts = self._scanner.scan(memoryview(packet))
        return CodedPicture(packet, packet.pts - self._source.start_ticks, packet.dts, facts)

    def _checked(self, pictures: list[CodedPicture]) -> Gop:
        times = [picture.time for picture in pictures]
        until = self._until(pictures)
        for dts in (picture.dts for picture in pictures if picture.dts is not None):
            if self._last_dts is not None and dts <= self._last_dts:
                raise UnusualClip("decoding times that do not grow")
            self._last_dts = dts
        if min(times[1:], default=times[0] + 1) <= times[0] or until <= max(times):
            raise UnusualClip("pictures shown outside their group")
        if not comes_out_in_order(times, self._reorder_depth):
            raise UnusualClip("pictures reordered further than announced")
        top_layer = max(picture.facts.temporal_layer for picture in pictures)
        return Gop(
            pictures,
            # In HEVC a picture to which none of its own layer refers may still serve a higher one.
            [picture.facts.disposable and picture.facts.temporal_layer == top_layer for picture in pictures],
            until if self._source.end_ticks is None else min(until, self._source.end_ticks),
        )

    def _until(self, pictures: list[CodedPicture]) -> int:
        if self._next is not None:
            # An open group's first pictures would be shown before this one ends: nothing ends here then.
            _check_closed(self._next)
            return self._next.time
        last = max(pictures, key=lambda picture: picture.time)
        if self._cut_at_window:
            assert self._source.end_ticks is not None
            return max(self._source.end_ticks, last.time + 1)
        # A duration of one tick may be made up by the demuxer (see FrameClock).
        if not last.packet.duration or last.packet.duration <= 1:
            raise UnusualClip("an end that is not certain")
        end = last.time + last.packet.duration
        if ends_early(self._source, pictures[-1].dts, end + self._source.start_ticks):
            raise UnusualClip("cut short")
        return end


def _check_closed(key: CodedPicture) -> None:
    if not (key.facts.starts_closed_gop and key.packet.is_keyframe):
        raise UnusualClip("an open group of pictures, or one that is not marked")


def comes_out_in_order(times: Sequence[int], reorder_depth: int) -> bool:
    """Return whether a decoder that holds back ``reorder_depth`` pictures lets these out by growing times."""
    held: list[int] = []
    came_out: list[int] = []
    for time in times:
        heapq.heappush(held, time)
        if len(held) > reorder_depth:
            came_out.append(heapq.heappop(held))
    return all(earlier < later for earlier, later in itertools.pairwise([*came_out, *sorted(held)]))
