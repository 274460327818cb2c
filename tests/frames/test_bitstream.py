import contextlib

import av
import pytest
from hypothesis import given
from hypothesis import strategies as st

from egobench_tasks.frames.bitstream import (
    BitReader,
    H264Scanner,
    HevcScanner,
    UnusualBitstream,
    check_h264_sequence,
    make_scanner,
    nal_units,
    unescape,
)

PAYLOADS = st.lists(st.binary(min_size=2, max_size=40), max_size=8)


def packed(units, length_bytes=4):
    return memoryview(b"".join(len(unit).to_bytes(length_bytes, "big") + unit for unit in units))


@given(PAYLOADS, st.sampled_from([1, 2, 4]))
def test_units_come_out_as_they_went_in(units, length_bytes):
    assert [bytes(unit) for unit in nal_units(packed(units, length_bytes), length_bytes)] == units


@given(PAYLOADS.filter(bool), st.integers(1, 3))
def test_a_packet_cut_short_is_noticed(units, missing):
    with pytest.raises(UnusualBitstream):
        list(nal_units(packed(units)[:-missing], 4))


@given(st.binary(max_size=200))
def test_garbage_is_unusual_and_nothing_worse(data):
    for scanner in (H264Scanner(4), HevcScanner(4)):
        with contextlib.suppress(UnusualBitstream):
            scanner.scan(memoryview(data))


@given(st.sampled_from(["h264", "hevc"]), st.binary(max_size=80).map(lambda data: b"\1" + data))
def test_garbage_records_are_unusual_and_nothing_worse(codec, record):
    with contextlib.suppress(UnusualBitstream):
        make_scanner(codec, record)


@pytest.mark.parametrize(("codec", "record"), [("h264", None), ("h264", b"\0\0\0\1\x67"), ("av1", b"\1\0\0\0")])
def test_other_streams_are_unusual(codec, record):
    with pytest.raises(UnusualBitstream):
        make_scanner(codec, record)


@pytest.mark.parametrize(
    ("first_bytes", "starts", "disposable"),
    [([0x65], True, False), ([0x41], False, False), ([0x01], False, True), ([0x06, 0x01, 0x01], False, True)],
)
def test_h264_pictures(first_bytes, starts, disposable):
    facts = H264Scanner(4).scan(packed([bytes([byte, 0x80]) for byte in first_bytes]))
    assert (facts.starts_closed_gop, facts.disposable) == (starts, disposable)


@pytest.mark.parametrize("first_bytes", [[], [0x06], [0x41, 0x01], [0x65, 0x41], [0x02], [0x14], [0x0A, 0x41]])
def test_unusual_h264_packets(first_bytes):
    """Nothing shown, slices that disagree, data partitions, scalable layers, an end of sequence."""
    with pytest.raises(UnusualBitstream):
        H264Scanner(4).scan(packed([bytes([byte, 0x80]) for byte in first_bytes]))


@pytest.mark.parametrize(
    ("kind", "starts", "disposable"),
    [(0, False, True), (1, False, False), (2, False, True), (19, True, False), (20, True, False)],
)
def test_hevc_pictures(kind, starts, disposable):
    facts = HevcScanner(4).scan(packed([bytes([kind << 1, 2, 0])]))
    assert (facts.starts_closed_gop, facts.disposable, facts.temporal_layer) == (starts, disposable, 1)


@pytest.mark.parametrize("unit", [(6, 1), (8, 1), (9, 1), (16, 1), (21, 1), (36, 1), (62, 1)])
def test_unusual_hevc_packets(unit):
    """Leading pictures, open random access points, ends of sequence, what is not specified."""
    with pytest.raises(UnusualBitstream):
        HevcScanner(4).scan(packed([bytes([unit[0] << 1, unit[1], 0])]))


@pytest.mark.parametrize("layer", [1, 16, 31, 32, 63])
def test_several_hevc_layers_are_unusual(layer):
    with pytest.raises(UnusualBitstream, match="layers"):
        HevcScanner(4).scan(packed([bytes([1 << 1 | layer >> 5, (layer & 31) << 3 | 1, 0])]))


@given(st.lists(st.integers(0, 10**6), max_size=20))
def test_exp_golomb_numbers(numbers):
    bits = "".join("0" * ((number + 1).bit_length() - 1) + f"{number + 1:b}" for number in numbers)
    reader = BitReader(int(bits.ljust(-(-len(bits) // 8) * 8, "0") or "0", 2).to_bytes(-(-len(bits) // 8), "big"))
    assert [reader.unsigned() for _ in numbers] == numbers


def test_reading_past_the_end_is_unusual():
    with pytest.raises(UnusualBitstream, match="ends early"):
        BitReader(b"\0\0").unsigned()
    with pytest.raises(UnusualBitstream, match="ends early"):
        BitReader(b"\xff").read(9)


@pytest.mark.parametrize(
    ("scanner", "units"),
    [(H264Scanner(4), [b"\x67\x64", b"\x65\x80"]), (HevcScanner(4), [b"\x44\x01", b"\x26\x01\x80"])],
    ids=["h264", "hevc"],
)
def test_a_parameter_set_cut_short_in_a_packet_is_unusual_and_nothing_worse(scanner, units):
    with pytest.raises(UnusualBitstream, match="ends early"):
        scanner.scan(packed(units))


def ue(number):
    """A number of the kind ue(v), as a text of bits."""
    return "0" * ((number + 1).bit_length() - 1) + f"{number + 1:b}"


def from_bits(*parts):
    bits = "".join(parts) + "1"
    bits += "0" * (-len(bits) % 8)
    return int(bits, 2).to_bytes(len(bits) // 8, "big")


def sequence_set(*, profile=100, chroma_format=1, plane="", order=ue(2), gaps="0", frames_only="1"):  # noqa: B008
    """An H.264 sequence parameter set (7.3.2.1.1)."""
    chroma = (ue(chroma_format), plane, ue(0), ue(0), "0", "0") if profile >= 100 else ()
    size = (ue(39), ue(22))
    return bytes([0x67, profile, 0, 30]) + from_bits(ue(0), *chroma, ue(4), order, ue(3), gaps, *size, frames_only)


@pytest.mark.parametrize(
    "fields",
    [
        {"profile": 66},
        {"chroma_format": 0},
        {"chroma_format": 1},
        {"profile": 244, "chroma_format": 3, "plane": "0"},
        {"profile": 244, "chroma_format": 3, "plane": "1"},
        {"order": ue(0) + ue(5)},
        {"order": ue(1) + "1" + ue(2) + ue(7) + ue(3) + ue(1) + ue(0) + ue(12)},
    ],
    ids=str,
)
def test_fields_and_gaps_are_found_behind_whatever_comes_before(fields):
    check_h264_sequence(sequence_set(**fields))
    for unusual in ({"gaps": "1"}, {"frames_only": "0"}):
        with pytest.raises(UnusualBitstream, match="fields or with gaps"):
            check_h264_sequence(sequence_set(**fields, **unusual))


def picture_set(output_flag):
    """An HEVC picture parameter set up to its ``output_flag_present_flag`` (7.3.2.3.1)."""
    return bytes([34 << 1, 1]) + from_bits(ue(3), ue(1), "1", output_flag)


def sized(units):
    return b"".join(len(unit).to_bytes(2, "big") + unit for unit in units)


def hvcc(*arrays):
    """An ``hvcC`` record (ISO/IEC 14496-15, 8.3.3.1) with arrays of (NAL unit type, units)."""
    body = b"".join(bytes([kind]) + len(units).to_bytes(2, "big") + sized(units) for kind, units in arrays)
    return b"\1" + bytes(20) + b"\xff" + bytes([len(arrays)]) + body


def avcc(sequence_sets):
    """An ``avcC`` record (ISO/IEC 14496-15, 5.3.3.1)."""
    return bytes([1, 100, 0, 30, 0xFF, 0xE0 | len(sequence_sets)]) + sized(sequence_sets) + b"\0"


def test_every_parameter_set_of_a_record_is_looked_at():
    usual, gaps = sequence_set(), sequence_set(gaps="1")
    assert make_scanner("h264", avcc([usual, sequence_set(profile=66), usual])) == H264Scanner(4)
    for sets in ([gaps, usual], [usual, gaps], [usual, sequence_set(profile=66), gaps]):
        with pytest.raises(UnusualBitstream, match="gaps"):
            make_scanner("h264", avcc(sets))
    shown, hidden = picture_set("0"), picture_set("1")
    video = (32, [b"\x40\1\x0c", b"\x40\1" + bytes(30)])
    assert make_scanner("hevc", hvcc(video, (34, [shown, shown]))) == HevcScanner(4)
    for arrays in ([(34, [hidden])], [video, (34, [shown, hidden])], [(34, [shown]), video, (34 | 128, [hidden])]):
        with pytest.raises(UnusualBitstream, match="not shown"):
            make_scanner("hevc", hvcc(*arrays))


def test_a_picture_set_in_a_packet_is_looked_at():
    picture = bytes([19 << 1, 1, 0x80])
    assert HevcScanner(4).scan(packed([picture_set("0"), picture])).parameter_sets == (picture_set("0"),)
    with pytest.raises(UnusualBitstream, match="not shown"):
        HevcScanner(4).scan(packed([picture_set("1"), picture]))


def test_emulation_prevention():
    assert unescape(b"\1\0\0\3\0\0\3\1\0\0\3") == b"\1\0\0\0\0\1\0\0"


@pytest.mark.parametrize(
    ("name", "usual"), [("x264 pyramid", True), ("x264 baseline", True), ("x264 interlaced", False)]
)
def test_real_sequence_parameter_sets(name, usual, make_clip):
    with av.open(str(make_clip(name))) as container:
        record = container.streams.video[0].codec_context.extradata
    size = int.from_bytes(record[6:8], "big")
    if usual:
        check_h264_sequence(record[8 : 8 + size])
    else:
        with pytest.raises(UnusualBitstream, match="fields"):
            check_h264_sequence(record[8 : 8 + size])
