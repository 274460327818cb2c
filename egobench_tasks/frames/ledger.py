"""Pictures in against pictures out: which packets gave the decoder a picture that never came out of it.

Decoders drop what they cannot decode, and say nothing of it. Some pictures may be missing all the same: those
ahead of the first key picture, or shown before it, and those that are coded but not to be shown.
"""

from collections import Counter
from dataclasses import dataclass, field

from av.packet import Packet
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

# An MPEG-4 picture of no more bytes is a header that says "as the one before": decoders show nothing anew.
_MPEG4_NOT_CODED_BYTES = 24


@dataclass(slots=True)
class PictureLedger:
    """The pictures that went into a decoder for ``codec`` and have not come out; times in the stream's ticks.

    ``untimed``: how many of them have no time.
    """

    codec: str
    untimed: int = 0
    _due: Counter[int] = field(default_factory=Counter, repr=False)
    _key_time: int | None = None
    _has_key: bool = False
    _latest: int | None = None
    _interlaced: int = 0

    def enter(self, packet: "Packet[VideoStream]") -> None:
        """Note a packet on its way into the decoder."""
        if packet.is_keyframe and not self._has_key:
            self._has_key, self._key_time = True, packet.pts
        if not self._has_key or packet.is_discard or not shows_picture(self.codec, packet):
            return
        if packet.pts is None:
            self.untimed += 1
        elif self._key_time is None or packet.pts >= self._key_time:
            self._due[packet.pts] += 1

    def leave(self, frame: VideoFrame) -> bool:
        """Note a frame that came out; return whether it was due."""
        self._interlaced += frame.interlaced_frame
        if frame.pts is None:
            self.untimed -= 1
            return self.untimed >= 0
        self._latest = frame.pts if self._latest is None else max(self._latest, frame.pts)
        self._due[frame.pts] -= 1
        if self._due[frame.pts] > 0:
            return True
        return self._due.pop(frame.pts) == 0

    def lost(self, *, drained: bool) -> int:
        """Return how many pictures were lost: all that are still due where the decoder is ``drained``, else those
        that others have overtaken.

        An interlaced frame may come of two packets, a field each.
        """
        overtaken = (
            n for time, n in self._due.items() if drained or (self._latest is not None and time < self._latest)
        )
        lost = sum(overtaken) + (max(0, self.untimed) if drained else 0)
        return max(0, lost - self._interlaced)


def shows_picture(codec: str, packet: "Packet[VideoStream]") -> bool:
    """Return whether a packet holds a picture that is shown, as far as its first byte or its size says.

    Sources: VP8, RFC 6386 9.1 (show_frame); VP9 bitstream 6.2 and annex B (a superframe's last picture is shown).
    """
    if not packet.size:
        return False
    if codec == "mpeg4":
        return packet.size > _MPEG4_NOT_CODED_BYTES
    if codec == "vp8":
        return bool(memoryview(packet)[0] >> 4 & 1)
    if codec == "vp9":
        data = memoryview(packet)
        is_superframe = data[-1] & 0xE0 == 0xC0
        flags = data[0] >> 1 if data[0] >> 4 & 3 != 3 else data[0]  # profile 3 has a reserved bit ahead of them
        shows_existing, shows = flags >> 2 & 1, flags & 1
        return bool(is_superframe or shows_existing or shows)
    return True
