import io
import pickle
from fractions import Fraction

import av
import fsspec
import numpy as np
import pytest
from fsspec.implementations.memory import MemoryFileSystem
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from PIL import Image

from egobench_tasks.errors import EgobenchError
from egobench_tasks.frames import decode, gop, plain
from egobench_tasks.frames.clock import FrameClock
from egobench_tasks.frames.decode import ClipError, decode_frames, decode_jpegs
from egobench_tasks.frames.gop import comes_out_in_order
from egobench_tasks.frames.picture import RgbPictures
from egobench_tasks.frames.source import open_source
from egobench_tasks.frames.spec import FrameSpec

BUDGET = FrameSpec(sampling="budget", count=16)


@st.composite
def windowed_specs(draw):
    """Any way of choosing among the frames of a three-second clip."""
    fields = draw(
        st.sampled_from(
            [
                {"sampling": "budget", "count": 1},
                {"sampling": "budget", "count": 7},
                {"sampling": "budget", "count": 200},
                {"sampling": "rate", "rate_fps": 0.7},
                {"sampling": "rate", "rate_fps": 11.0, "count": 5},
                {"sampling": "uniform", "count": 4},
                {"sampling": "central"},
                {"sampling": "random", "count": 3, "seed": 8},
                {"sampling": "budget", "count": 9, "shuffled": True, "seed": 2},
            ]
        )
    )
    if draw(st.booleans()):
        start_s = draw(st.integers(0, 14)) / 10
        fields = fields | {"start_s": start_s, "end_s": start_s + draw(st.integers(2, 30)) / 10}
    return FrameSpec(max_width_px=160, **fields)


@settings(deadline=None, max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(spec=windowed_specs())
@example(spec=FrameSpec(sampling="budget", count=1, max_width_px=160, start_s=1.4, end_s=1.6))
@pytest.mark.parametrize(
    "name",
    [
        *("x264 pyramid", "x264 many GOPs", "x264 GOP 12", "x264 variable frame rate", "x264 fragmented", "x264 MKV"),
        *("x264 start above zero", "x265 temporal layers", "x265 closed GOP", "rotated 90"),
    ],
)
def test_all_ways_give_the_same_frames(name, spec, make_clip):
    path = str(make_clip(name))
    ways = (decode._decode_selectively, decode._decode_from_window, decode._decode_from_start)
    results = [_frames_or_refusal(way, path, spec) for way in ways]
    if any(isinstance(result, str) for result in results):
        assert len(set(map(str, results))) == 1, "a refusal is every way's, in the same words"
        return
    selective, from_window, from_start = results
    assert selective.times_s == from_window.times_s == from_start.times_s
    assert selective.asked == from_window.asked == from_start.asked
    for one, two, three in zip(selective.frames, from_window.frames, from_start.frames, strict=True):
        assert np.array_equal(one, three)
        assert np.array_equal(two, three)


def _frames_or_refusal(way, path, spec):
    try:
        return way(path, spec, RgbPictures(spec).render)
    except ClipError as error:
        return str(error)


@pytest.mark.parametrize("sampling", [{"sampling": "budget", "count": 4}, {"sampling": "central"}])
def test_a_window_in_which_no_frame_begins_is_refused_as_the_program_finds_nothing_in_it(
    sampling, make_clip, program_frames
):
    """The frame before stands on the screen all the while; cut out of the video, the window would be empty."""
    path = make_clip("x264 variable frame rate")
    assert len(program_frames(path, "trim=start=1.4:end=1.6,setpts=PTS-1.4/TB", (270, 480, 3))) == 0
    with pytest.raises(ClipError, match=r"has no frame to show between 1\.4 and 1\.6 s"):
        decode_frames(str(path), FrameSpec(start_s=1.4, end_s=1.6, **sampling))


def test_a_usual_clip_is_decoded_selectively(make_clip, monkeypatch):
    monkeypatch.setattr(plain.PlainDecoder, "frames", None)
    assert len(decode_frames(str(make_clip("x264 pyramid")), BUDGET).frames) == 16


def test_only_what_is_needed_reaches_the_decoder(make_clip, monkeypatch):
    fed = []
    needed_for = gop.Gop.needed_for
    monkeypatch.setattr(gop.Gop, "needed_for", lambda self, wanted: _noted(fed, needed_for(self, wanted)))
    decode_frames(str(make_clip("x264 all intra")), BUDGET)
    assert len(fed) == 16
    fed.clear()
    decode_frames(str(make_clip("x264 pyramid")), BUDGET)
    assert 16 < len(fed) < 70, "of 90 packets, half of them disposable"


def _noted(notes, pictures):
    notes.extend(pictures)
    return pictures


@pytest.mark.parametrize(
    "spec",
    [
        FrameSpec(sampling="central"),
        FrameSpec(sampling="uniform", count=3),
        FrameSpec(sampling="budget", count=3),
        FrameSpec(sampling="budget", count=3, start_s=6, end_s=7),
    ],
    ids=lambda spec: spec.key(),
)
def test_groups_without_wanted_frames_are_not_read(spec, make_clip, monkeypatch):
    read = []
    read_packet = gop.GopReader._read_packet
    monkeypatch.setattr(gop.GopReader, "_read_packet", lambda self: _noted(read, [read_packet(self)])[0])
    decode_frames(str(make_clip("x264 many GOPs")), spec)
    assert len(read) < 50, "of 360 packets in 60 groups"


class _CountingFileSystem(MemoryFileSystem):
    """Remote storage that counts the bytes asked of it."""

    protocol = "counting"
    bytes_read = 0

    def _open(self, path, mode="rb", **kwargs):
        file = super()._open(path, mode)
        read = file.read

        def counted(size=-1):
            data = read(size)
            _CountingFileSystem.bytes_read += len(data)
            return data

        if mode == "rb":
            file.read = counted
        return file


def test_remote_clips_are_read_by_range(make_clip):
    fsspec.register_implementation("counting", _CountingFileSystem, clobber=True)
    path = make_clip("x264 many GOPs")
    data = path.read_bytes()
    with fsspec.open("counting://clips/a.mp4", "wb") as file:
        file.write(data)
    spec = FrameSpec(sampling="central")
    _CountingFileSystem.bytes_read = 0
    clip = decode_frames("counting://clips/a.mp4", spec)
    assert 0 < _CountingFileSystem.bytes_read < len(data)
    assert np.array_equal(clip.frames[0], decode_frames(str(path), spec).frames[0])


def test_a_name_with_a_colon_is_a_file(make_clip, tmp_path, monkeypatch):
    (tmp_path / "data:odd name.mp4").write_bytes(make_clip("x264 pyramid").read_bytes())
    monkeypatch.chdir(tmp_path)
    assert len(decode_frames("data:odd name.mp4", BUDGET).frames) == 16


def test_short_clips_repeat_or_give_what_they_have(make_clip):
    path = str(make_clip("x264 3 frames"))
    assert len(decode_frames(path, FrameSpec(sampling="budget", count=64)).frames) == 64
    clip = decode_frames(path, FrameSpec(sampling="uniform", count=8))
    assert (len(clip.frames), clip.asked, clip.complete) == (3, 8, True)
    assert clip.notes == ("asked for 8 frames, got 3",)


def test_times_and_order(make_clip):
    path = str(make_clip("x264 start above zero"))
    in_order = decode_frames(path, FrameSpec(sampling="rate", rate_fps=2))
    assert in_order.times_s == pytest.approx((0, 17 / 30, 35 / 30, 53 / 30, 71 / 30, 89 / 30))
    shuffled = decode_frames(path, FrameSpec(sampling="rate", rate_fps=2, shuffled=True, seed=1))
    assert shuffled.times_s != in_order.times_s
    assert sorted(shuffled.times_s) == list(in_order.times_s)
    by_time = dict(zip(in_order.times_s, in_order.frames, strict=True))
    assert all(np.array_equal(by_time[at], frame) for at, frame in zip(shuffled.times_s, shuffled.frames, strict=True))


def test_frames_are_upright_and_small(make_clip):
    assert decode_frames(str(make_clip("rotated 90")), BUDGET).frames[0].shape == (640, 360, 3)
    assert decode_frames(str(make_clip("x264 portrait, tall")), BUDGET).frames[0].shape == (854, 480, 3)
    assert decode_frames(str(make_clip("x264 odd size")), BUDGET).frames[0].shape == (242, 427, 3)
    narrow = FrameSpec(sampling="central", max_width_px=100)
    assert decode_frames(str(make_clip("x264 pyramid")), narrow).frames[0].shape == (56, 100, 3)


@pytest.mark.parametrize(
    ("name", "short_side_px", "shape"),
    [
        ("x264 pyramid", 540, (360, 640, 3)),
        ("x264 pyramid", 360, (360, 640, 3)),
        ("x264 pyramid", 240, (240, 426, 3)),
        ("x264 odd size, wide", 540, (361, 643, 3)),
        ("x264 odd size, wide", 240, (240, 428, 3)),
        ("x264 portrait, tall", 540, (960, 540, 3)),
        ("x264 portrait, tall", 270, (480, 270, 3)),
        ("rotated 90", 240, (426, 240, 3)),
    ],
)
def test_the_short_side_is_scaled_down_and_never_up(name, short_side_px, shape, make_clip):
    spec = FrameSpec(sampling="central", max_short_side_px=short_side_px, jpeg="libjpeg-95")
    path = str(make_clip(name))
    (rgb,) = decode_frames(path, spec).frames
    assert rgb.shape == shape
    (jpeg,) = decode_jpegs(path, spec).frames
    with Image.open(io.BytesIO(jpeg)) as image:
        assert (image.height, image.width, 3) == shape
        assert image.quantization[0][:3] == [2, 1, 1], "the standard table at quality 95"
        assert image.layer[0][1:3] == (2, 2), "colours at half the size"
        assert np.abs(np.asarray(image, int)[..., 1] - rgb[..., 1]).mean() < 4


@pytest.mark.parametrize("name", ["x264 truncated", "x264 truncated, MKV", "VP9 truncated"])
def test_a_broken_tail(name, make_clip):
    path = str(make_clip(name))
    with pytest.raises(ClipError, match="cut short") as caught:
        decode_frames(path, BUDGET)
    assert caught.value.path == path
    assert 30 < caught.value.good_frames < 90
    clip = decode_frames(path, FrameSpec(sampling="budget", count=16, tail="available"))
    assert not clip.complete
    assert 8 <= len(clip.frames) < 16
    assert any("cut short" in note for note in clip.notes)
    uniform = decode_frames(path, FrameSpec(sampling="uniform", count=5, tail="available"))
    assert len(uniform.frames) == 5
    assert not uniform.complete


def test_a_broken_tail_behind_the_last_wanted_frame_does_no_harm(make_clip):
    path = str(make_clip("x264 truncated"))
    clip = decode_frames(path, FrameSpec(sampling="budget", count=4, start_s=0, end_s=1))
    assert clip.complete
    assert len(clip.frames) == 4


def test_errors_name_the_clip_and_the_reason(tmp_path, make_clip, ffmpeg):
    text = tmp_path / "notes.mp4"
    text.write_text("no video at all")
    sound = tmp_path / "sound.mp4"
    ffmpeg("-f", "lavfi", "-i", "sine=d=1", sound)
    stream = tmp_path / "raw.h264"
    ffmpeg("-i", make_clip("x264 pyramid"), "-c", "copy", stream)
    late = FrameSpec(sampling="budget", count=4, start_s=100, end_s=101)
    for path, spec, reason in (
        (tmp_path / "missing.mp4", BUDGET, "No such file"),
        (tmp_path, BUDGET, "no regular file"),
        (text, BUDGET, "is text"),
        (sound, BUDGET, "no video"),
        (stream, BUDGET, "not read here; remux"),
        (make_clip("x264 pyramid"), late, "window"),
        ("memory://missing.mp4", BUDGET, "cannot be read"),
    ):
        with pytest.raises(ClipError, match=reason) as caught:
            decode_jpegs(str(path), spec)
        assert str(path) in str(caught.value)
        assert caught.value.good_frames == 0
        assert isinstance(caught.value, EgobenchError)


def test_clip_errors_cross_processes():
    error = pickle.loads(pickle.dumps(ClipError("a.mp4", "broken", 7)))
    assert (error.path, error.reason, error.good_frames) == ("a.mp4", "broken", 7)


def test_the_order_a_decoder_lets_pictures_out():
    assert comes_out_in_order([0, 4, 2, 1, 3], reorder_depth=2)
    assert not comes_out_in_order([0, 4, 2, 1, 3], reorder_depth=1)
    assert comes_out_in_order([0, 1, 2], reorder_depth=0)
    assert not comes_out_in_order([0, 1, 1], reorder_depth=3)


def test_the_clock_guesses_as_ffmpeg_does():
    def frame(pts, dts, duration):
        made = av.VideoFrame(2, 2)
        made.pts, made.dts, made.duration = pts, dts, duration
        return made

    def clock():
        return FrameClock(Fraction(1, 1000), Fraction(25), None)

    usual = clock()
    assert [usual.time_of(frame(time, time, 40)) for time in (0, 40, 80)] == [0, 40, 80]
    assert usual.duration == 40
    timeless = clock()
    assert [timeless.time_of(frame(None, None, 0)) for _ in range(3)] == [0, 40, 80]
    by_dts = clock()
    assert [by_dts.time_of(frame(None, dts, 40)) for dts in (5, 45)] == [5, 45]
    stuck = clock()
    assert [stuck.time_of(frame(7, dts, 40)) for dts in (0, 40, 80)] == [7, 40, 80]
    made_up = clock()
    made_up.time_of(frame(0, 0, 1))
    made_up.time_of(frame(50, 50, 1))
    assert made_up.duration == 50


def test_a_source_counts_time_from_its_start(make_clip):
    with open_source(str(make_clip("x264 start above zero")), FrameSpec(sampling="central", start_s=1)) as source:
        assert float(source.start_ticks * source.time_base) == pytest.approx(6.3)
        assert source.duration_s == pytest.approx(2, abs=0.1)
        assert source.begins_inside
        assert not source.in_window(-1)
        assert source.in_window(10**9)
