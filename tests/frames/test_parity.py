"""Frames equal those of FFmpeg's program in number and in every pixel."""

import io

import numpy as np
import pytest
from PIL import Image

from egobench_tasks.frames.choice import chooses_by_position, count_frames, make_selector
from egobench_tasks.frames.decode import decode_frames, decode_jpegs
from egobench_tasks.frames.picture import RgbPictures
from egobench_tasks.frames.selective import decode_selectively
from egobench_tasks.frames.source import UnusualClip, open_source
from egobench_tasks.frames.spec import FrameSpec

BUDGET = FrameSpec(sampling="budget", count=64)
BUDGET_AVAILABLE = FrameSpec(sampling="budget", count=64, tail="available")
SOME = ("x264 pyramid", "x264 full range", "x264 lossless 4:4:4", "x264 10 bit", "rotated 90", "VP9", "MPEG-4 AVI")
SPREAD = (
    "x264 GOP 12",
    "x264 many GOPs",
    "x264 variable frame rate, MKV",
    "x264 start above zero",
    "x265 pyramid",
    "AV1",
)


def selectively(path, spec):
    """The frames that the selective decoder gives, without the others to fall back to."""
    frames = []
    pictures = RgbPictures(spec)
    with open_source(str(path), spec) as source:
        count = count_frames(str(path), spec) if chooses_by_position(spec) else None
        selector = make_selector(source, spec, count)
        decode_selectively(
            source, selector, lambda frame, _, repeats: frames.extend([pictures.render(frame)] * repeats)
        )
    return frames


def assert_equal(frames, reference):
    assert len(frames) == len(reference)
    for index, (ours, theirs) in enumerate(zip(frames, reference, strict=True)):
        assert np.array_equal(ours, theirs), f"frame {index} differs"


def test_budget_over_the_matrix(case_name, is_selective, is_whole, make_clip, program_frames, budget_filter):
    path = make_clip(case_name)
    if is_selective:
        frames = selectively(path, BUDGET)
    else:
        with pytest.raises(UnusualClip):
            selectively(path, BUDGET)
        frames = decode_frames(str(path), BUDGET if is_whole else BUDGET_AVAILABLE).frames
    reference = program_frames(path, budget_filter(path, 64), frames[0].shape, count=64)
    assert_equal(frames, reference)


@pytest.mark.parametrize("name", ["x264 open GOP", "x265 open GOP", "x264 pyramid", "x264 many GOPs"])
def test_one_frame_around_the_end_of_a_group(name, make_clip, program_frames):
    """The frame is settled before the next group is read: it must have been looked at all the same."""
    path = make_clip(name)
    everything = None
    for half_way in range(6, 20):  # the frame shown in the middle of the window; groups of 12 begin here
        spec = FrameSpec(sampling="budget", count=1, start_s=0, end_s=(2 * half_way + 1) / 30)
        clip = decode_frames(str(path), spec)
        if everything is None:
            everything = program_frames(path, "null", clip.frames[0].shape)
        assert_equal(clip.frames, everything[half_way : half_way + 1])


def test_budget_of_real_footage(real_clip, program_frames, budget_filter):
    frames = selectively(real_clip, BUDGET)
    reference = program_frames(real_clip, budget_filter(real_clip, 64), frames[0].shape, count=64)
    assert_equal(frames, reference)


@pytest.mark.parametrize("name", SPREAD)
@pytest.mark.parametrize(
    "spec",
    [
        FrameSpec(sampling="uniform", count=5),
        FrameSpec(sampling="uniform", count=500),
        FrameSpec(sampling="central"),
        FrameSpec(sampling="random", count=7, seed=3),
        FrameSpec(sampling="rate", rate_fps=1.5),
        FrameSpec(sampling="rate", rate_fps=0.01),
        FrameSpec(sampling="random", rate_fps=1.5, seed=4),
    ],
    ids=lambda spec: spec.key(),
)
def test_positions(name, spec, make_clip, program_frames):
    path = make_clip(name)
    clip = decode_frames(str(path), spec)
    everything = program_frames(path, "null", clip.frames[0].shape)
    with open_source(str(path), spec) as source:
        wanted = sorted(make_selector(source, spec, len(everything)).wanted)
    assert_equal(clip.frames, everything[wanted])
    assert list(clip.times_s) == sorted(clip.times_s)


@pytest.mark.parametrize("name", [*SPREAD, "x264 open GOP", "x264 intra refresh", "MPEG-4 AVI", "VP9"])
@pytest.mark.parametrize("window", [(0.5, 1.5), (1.0, 1.2), (1.9, 99.0)])
def test_window(name, window, make_clip, program_frames, printed_s):
    start_s, end_s = window
    path = make_clip(name)
    clip = decode_frames(str(path), FrameSpec(sampling="budget", count=12, start_s=start_s, end_s=end_s))
    span_s = min(end_s, printed_s(path)) - start_s
    # The program decodes from the clip's start here: after a seek (-ss) it may itself miss frames.
    filters = f"trim=start={start_s}:end={end_s},setpts=PTS-{start_s}/TB,fps={12 / span_s:.6f}"
    reference = program_frames(path, filters, clip.frames[0].shape, count=12)
    assert_equal(clip.frames, reference)
    assert all(0 <= time_s < end_s - start_s for time_s in clip.times_s)


@pytest.mark.parametrize("name", SOME)
def test_jpegs_decode_to_the_programs_pixels(name, make_clip, ffmpeg, tmp_path, budget_filter):
    path = make_clip(name)
    clip = decode_jpegs(str(path), FrameSpec(sampling="budget", count=8))
    filters = rf"{budget_filter(path, 8)},scale=w=min(480\,iw):h=-2"
    ffmpeg(
        "-i", path, "-an", "-vf", filters, "-frames:v", 8, "-fps_mode", "passthrough", "-q:v", 3, tmp_path / "%03d.jpg"
    )
    theirs = [file.read_bytes() for file in sorted(tmp_path.glob("*.jpg"))]
    assert len(theirs) == len(clip.frames) == 8
    for ours, reference in zip(clip.frames, theirs, strict=True):
        assert np.array_equal(np.asarray(Image.open(io.BytesIO(ours))), np.asarray(Image.open(io.BytesIO(reference))))
        assert scan_of(ours) == scan_of(reference)


def scan_of(jpeg):
    """A JPEG's compressed data: all behind the comment that names the encoder."""
    return jpeg[jpeg.index(b"\xff\xda") :]
