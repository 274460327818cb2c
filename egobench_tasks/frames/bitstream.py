"""What H.264 and HEVC packets say about who needs them. Pure: bytes in, facts out.

Only what the selective decoder must know is read: where closed groups of pictures begin, and which
pictures no other picture refers to. Whatever else turns up (fields, gaps, layers, parameter sets
that change) raises ``UnusualBitstream``: the clip is then decoded in full.
Sources: ITU-T H.264 7.3, 7.4.1; ITU-T H.265 7.3, 7.4.2; ISO/IEC 14496-15 for ``avcC`` and ``hvcC``.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol


class UnusualBitstream(Exception):
    """The stream holds something that the selective decoder does not vouch for."""


@dataclass(frozen=True, slots=True)
class PacketFacts:
    """One packet, one picture.

    ``starts_closed_gop``: an IDR picture: nothing after it, in decoding or display order, refers to
    or is shown before anything that came ahead of it. ``disposable``: no other picture refers to it.
    ``temporal_layer``: HEVC's TemporalId, 0 in H.264. ``parameter_sets``: those inside the packet.
    """

    starts_closed_gop: bool
    disposable: bool
    temporal_layer: int
    parameter_sets: tuple[bytes, ...]
    may_have_leading: bool = False


class Scanner(Protocol):
    """Reads the packets of one stream."""

    def scan(self, packet: memoryview) -> PacketFacts:
        """Return a packet's facts, or raise ``UnusualBitstream``."""


def make_scanner(codec: str, extradata: bytes | None) -> Scanner:
    """Return the scanner for a stream whose packets hold length-prefixed NAL units (MP4, Matroska)."""
    if not extradata or extradata[0] != 1:
        raise UnusualBitstream("no avcC or hvcC record")  # start codes, as in MPEG-TS
    try:
        if codec == "h264":
            return H264Scanner.from_avcc(extradata)
        if codec == "hevc":
            return HevcScanner.from_hvcc(extradata)
    except IndexError as error:
        raise UnusualBitstream("a record that ends early") from error
    raise UnusualBitstream(f"codec {codec}")


_H264_SLICE, _H264_IDR, _H264_SPS, _H264_PPS = 1, 5, 7, 8
_H264_HARMLESS = (6, 9, 12)  # supplemental information, access unit delimiter, filler


@dataclass(frozen=True, slots=True)
class H264Scanner:
    """``length_bytes``: the size of the length before each NAL unit."""

    length_bytes: int

    @classmethod
    def from_avcc(cls, record: bytes) -> "H264Scanner":
        """Read an ``avcC`` record and check its sequence parameter sets."""
        position, sets = 6, []
        for _ in range(record[5] & 31):
            size = int.from_bytes(record[position : position + 2], "big")
            sets.append(record[position + 2 : position + 2 + size])
            position += 2 + size
        for sequence_set in sets:
            check_h264_sequence(sequence_set)
        return cls((record[4] & 3) + 1)

    def scan(self, packet: memoryview) -> PacketFacts:
        """See `Scanner.scan`."""
        picture: tuple[int, bool] | None = None
        sets: list[bytes] = []
        for unit in nal_units(packet, self.length_bytes):
            kind = unit[0] & 31
            if kind in (_H264_SLICE, _H264_IDR):
                part = kind, unit[0] >> 5 == 0
                if picture not in (None, part):
                    raise UnusualBitstream("slices that disagree")
                picture = part
            elif kind in (_H264_SPS, _H264_PPS):
                sets.append(bytes(unit))
                if kind == _H264_SPS:
                    check_h264_sequence(bytes(unit))
            elif kind not in _H264_HARMLESS:
                raise UnusualBitstream(f"H.264 NAL unit type {kind}")
        if picture is None:
            raise UnusualBitstream("a packet without a picture")
        kind, disposable = picture
        return PacketFacts(kind == _H264_IDR, disposable, 0, tuple(sets))


_HEVC_DISPOSABLE = (0, 2, 4)  # TRAIL_N, TSA_N, STSA_N: sub-layer non-reference pictures
_HEVC_REFERENCED = (1, 3, 5)
_HEVC_IDR = (19, 20)
_HEVC_IDR_WITH_LEADING = 19
_HEVC_PICTURES = (*_HEVC_DISPOSABLE, *_HEVC_REFERENCED, *_HEVC_IDR)
_HEVC_SETS = (32, 33, 34)
_HEVC_PPS = 34
_HEVC_HARMLESS = (35, 38, 39, 40)  # access unit delimiter, filler, supplemental information


@dataclass(frozen=True, slots=True)
class HevcScanner:
    """``length_bytes``: the size of the length before each NAL unit."""

    length_bytes: int

    @classmethod
    def from_hvcc(cls, record: bytes) -> "HevcScanner":
        """Read an ``hvcC`` record and check its picture parameter sets."""
        position = 23
        for _ in range(record[22]):
            kind, count = record[position] & 63, int.from_bytes(record[position + 1 : position + 3], "big")
            position += 3
            for _ in range(count):
                size = int.from_bytes(record[position : position + 2], "big")
                if kind == _HEVC_PPS:
                    check_hevc_picture_set(record[position + 2 : position + 2 + size])
                position += 2 + size
        return cls((record[21] & 3) + 1)

    def scan(self, packet: memoryview) -> PacketFacts:
        """See `Scanner.scan`. Leading pictures and other random access points than IDR are unusual."""
        picture: tuple[int, int] | None = None
        sets: list[bytes] = []
        for unit in nal_units(packet, self.length_bytes):
            kind, layer = unit[0] >> 1 & 63, (unit[0] & 1) << 5 | unit[1] >> 3
            if layer:
                raise UnusualBitstream("HEVC with several layers")
            if kind in _HEVC_PICTURES:
                part = kind, (unit[1] & 7) - 1
                if picture not in (None, part):
                    raise UnusualBitstream("slices that disagree")
                picture = part
            elif kind in _HEVC_SETS:
                sets.append(bytes(unit))
                if kind == _HEVC_PPS:
                    check_hevc_picture_set(bytes(unit))
            elif kind not in _HEVC_HARMLESS:
                raise UnusualBitstream(f"HEVC NAL unit type {kind}")
        if picture is None:
            raise UnusualBitstream("a packet without a picture")
        kind, temporal_layer = picture
        leading = kind == _HEVC_IDR_WITH_LEADING
        return PacketFacts(kind in _HEVC_IDR, kind in _HEVC_DISPOSABLE, temporal_layer, tuple(sets), leading)


def nal_units(packet: memoryview, length_bytes: int) -> Iterator[memoryview]:
    """Yield the NAL units of a packet; they must fill it exactly, none empty."""
    position, size = 0, len(packet)
    while position < size:
        start = position + length_bytes
        position = start + int.from_bytes(packet[position:start], "big")
        if position > size or position < start + 2:
            raise UnusualBitstream("NAL units that do not fill the packet")
        yield packet[start:position]


def check_h264_sequence(unit: bytes) -> None:
    """Raise ``UnusualBitstream`` for a sequence that may hold fields or gaps in its frame numbers (7.3.2.1.1)."""
    profile = unit[1]
    bits = BitReader(unescape(unit[4:]))
    bits.unsigned()  # seq_parameter_set_id
    if profile in (100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135):
        chroma_format = bits.unsigned()
        bits.skip(1 if chroma_format == 3 else 0)
        bits.unsigned()  # bit depths
        bits.unsigned()
        bits.skip(1)
        if bits.read(1):
            raise UnusualBitstream("H.264 scaling matrices")  # rare; reading past them is not worth it
    bits.unsigned()  # log2_max_frame_num
    order_type = bits.unsigned()
    if order_type == 0:
        bits.unsigned()
    elif order_type == 1:
        bits.skip(1)
        bits.unsigned()  # the offsets are signed, of the same length as unsigned ones
        bits.unsigned()
        for _ in range(bits.unsigned()):
            bits.unsigned()
    bits.unsigned()  # max_num_ref_frames
    gaps_allowed = bits.read(1)
    bits.unsigned()  # width and height
    bits.unsigned()
    frames_only = bits.read(1)
    if gaps_allowed or not frames_only:
        raise UnusualBitstream("H.264 with fields or with gaps in frame numbers")


def check_hevc_picture_set(unit: bytes) -> None:
    """Raise ``UnusualBitstream`` where pictures may be decoded without being shown (7.3.2.3.1)."""
    bits = BitReader(unescape(unit[2:]))
    bits.unsigned()  # pps_pic_parameter_set_id
    bits.unsigned()  # pps_seq_parameter_set_id
    bits.skip(1)
    if bits.read(1):
        raise UnusualBitstream("HEVC with pictures that are not shown")


def unescape(payload: bytes) -> bytes:
    """Remove the emulation prevention bytes of a NAL unit's payload."""
    return payload.replace(b"\0\0\3", b"\0\0")


class BitReader:
    """Reads bits, most significant first, and Exp-Golomb numbers. Raises ``UnusualBitstream`` past the end."""

    def __init__(self, data: bytes) -> None:
        self._bits = "".join(f"{byte:08b}" for byte in data)
        self._position = 0

    def read(self, count: int) -> int:
        """Return the next ``count`` bits as a number."""
        end = self._position + count
        if end > len(self._bits):
            raise UnusualBitstream("a parameter set that ends early")
        value = int(self._bits[self._position : end] or "0", 2)
        self._position = end
        return value

    def skip(self, count: int) -> None:
        """Leave out ``count`` bits."""
        self._position += count

    def unsigned(self) -> int:
        """Return the next number of the kind ue(v)."""
        one = self._bits.find("1", self._position)
        if one == -1:
            raise UnusualBitstream("a parameter set that ends early")
        zeros = one - self._position
        self._position = one + 1
        return (1 << zeros) - 1 + self.read(zeros)
