"""Damaged clips are refused or marked, and what is served depends on nothing but their bytes."""

import gc
import hashlib
from fractions import Fraction

import av
import pytest
from av.packet import Packet

from egobench_tasks.frames.decode import decode_frames, decode_jpegs
from egobench_tasks.frames.errors import ClipError
from egobench_tasks.frames.ledger import PictureLedger, shows_picture
from egobench_tasks.frames.spec import FrameSpec

BUDGET = FrameSpec(sampling="budget", count=64)
AVAILABLE = FrameSpec(sampling="budget", count=64, tail="available")


def refused_and_marked(path):
    with pytest.raises(ClipError, match="decoded"):
        decode_jpegs(str(path), BUDGET)
    clip = decode_jpegs(str(path), AVAILABLE)
    assert "decoded" in clip.damage
    assert clip.frames


def test_pictures_that_never_come_out_are_missed(make_clip, tmp_path):
    """Of an AV1 clip whose second half was zeros, 18 of 64 frames were served as all there was."""
    data = bytearray(make_clip("AV1").read_bytes())
    start, end = data.index(b"mdat"), data.index(b"moov")
    middle = (start + end) // 2
    data[middle : end - 4] = bytes(end - 4 - middle)
    path = tmp_path / "clip.mp4"
    path.write_bytes(data)
    refused_and_marked(path)


@pytest.mark.parametrize("name", ["x265 closed GOP", "x265 pyramid", "VP9", "MPEG-4"])
def test_a_clip_without_every_7th_packet_is_no_whole_clip(name, make_clip, ffmpeg, tmp_path):
    path = tmp_path / f"clip{make_clip(name).suffix}"
    ffmpeg("-i", make_clip(name), "-c", "copy", "-bsf:v", r"noise=amount=0:drop=eq(mod(n\,7)\,3)", path)
    refused_and_marked(path)


def test_what_lay_in_memory_before_is_not_seen(make_clip, tmp_path):
    """HEVC's decoder fills what it could not read with nothing: how buffers were freed decided on the picture."""
    data = bytearray(make_clip("x265 closed GOP").read_bytes())
    start, end = data.index(b"mdat"), data.index(b"moov")
    digests = set()
    for position in range(start + (end - start) // 4, end, (end - start) // 5):
        harmed = data.copy()
        harmed[position] ^= 0x10
        path = tmp_path / "clip.mp4"
        path.write_bytes(harmed)
        sets = set()
        for collect in (False, True):
            gc.enable() if collect else gc.disable()
            try:
                sets.add(hashlib.sha256(b"".join(decode_jpegs(str(path), AVAILABLE).frames)).hexdigest())
            finally:
                gc.enable()
        assert len(sets) == 1, f"byte {position}"
        digests |= sets
    assert len(digests) > 1, "no harm was seen"


@pytest.mark.parametrize("name", ["x264 pyramid", "rotated 90", "VP9"])
def test_no_frame_outlives_its_rendering(name, make_clip):
    """Reading a frame's side data made a cycle: 1080p took four times, 4K six times FFmpeg's memory."""
    gc.collect()
    gc.disable()
    try:
        decode_frames(str(make_clip(name)), BUDGET)
        left = [item for item in gc.get_objects() if isinstance(item, av.VideoFrame)]
    finally:
        gc.enable()
    assert all(frame.width * frame.height <= 4 for frame in left)


def test_pictures_that_change_their_size_midway_are_refused(make_clip, ffmpeg, tmp_path):
    """640x360, then 320x180 in one stream, gave arrays of two shapes."""
    parts = []
    for name in ("x264 GOP 30", "x264 smaller than the limit"):
        parts.append(tmp_path / f"{len(parts)}.ts")
        ffmpeg("-i", make_clip(name), "-c", "copy", parts[-1])
    path = tmp_path / "clip.ts"
    path.write_bytes(b"".join(part.read_bytes() for part in parts))
    with pytest.raises(ClipError, match=r"pictures change from .*640, 360.* to .*320, 180"):
        decode_frames(str(path), AVAILABLE)


def packet(pts, *, key=False, data=b"\xff"):
    made = Packet(data)
    made.pts = made.dts = pts
    made.time_base = Fraction(1, 1000)
    made.is_keyframe = key
    return made


def frame(pts):
    made = av.VideoFrame(2, 2)
    made.pts = pts
    return made


def test_the_ledger_knows_what_was_lost():
    ledger = PictureLedger("h264")
    for pts in (-20, 0, 40, 20, 60):
        ledger.enter(packet(pts, key=pts == 0))
    assert ledger.leave(frame(0))
    assert ledger.lost(drained=False) == 0
    assert ledger.leave(frame(40))
    assert ledger.lost(drained=False) == 1, "20 was overtaken, 60 may come"
    assert not ledger.leave(frame(50))
    assert ledger.lost(drained=True) == 2
    assert ledger.leave(frame(20)), "late, but there"
    assert ledger.lost(drained=True) == 1


def test_pictures_without_a_time_are_counted_at_the_end():
    ledger = PictureLedger("mpeg4")
    for number in range(3):
        ledger.enter(packet(None, key=not number, data=b"\xff" * 100))
    ledger.enter(packet(None, data=b"\0\0\1\xb6\x50"))  # "as the one before"
    ledger.leave(frame(None))
    assert ledger.lost(drained=False) == 0
    assert ledger.untimed == ledger.lost(drained=True) == 2


@pytest.mark.parametrize(
    ("codec", "data", "shown"),
    [
        ("vp8", b"\x10\0", True),
        ("vp8", b"\x01\0", False),
        ("vp9", b"\x82\0", True),
        ("vp9", b"\x84\0", False),
        ("vp9", b"\x88\0", True),
        ("vp9", b"\x84\0\xc1", True),
        ("vp9", b"\xb1\0", True),
        ("vp9", b"\xb2\0", False),
        ("h264", b"\0", True),
    ],
)
def test_pictures_that_are_coded_but_not_shown(codec, data, shown):
    assert shows_picture(codec, packet(0, data=data)) is shown
