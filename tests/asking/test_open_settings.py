"""EgoTempo's settings on a real clip (PROTOCOL 2)."""

import io
import subprocess
from dataclasses import replace

import imageio_ffmpeg
import pytest
from PIL import Image

from egobench_tasks.asking.open import windowed
from egobench_tasks.asking.open_settings import open_settings
from egobench_tasks.frames.decode import decode_jpegs

FRAME_S = 0.1
N_FRAMES = 247


@pytest.fixture(scope="module")
def clip(tmp_path_factory):
    """24.7 s, ten frames a second, 960x540."""
    path = tmp_path_factory.mktemp("open") / "clip.mp4"
    source = f"testsrc2=s=960x540:r=10:d={N_FRAMES * FRAME_S}"
    program = [imageio_ffmpeg.get_ffmpeg_exe(), "-nostdin", "-loglevel", "error", "-f", "lavfi", "-i", source]
    subprocess.run([*program, "-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", path], check=True)
    return str(path)


def shown(clip, name, window_s=None):
    """The positions of the frames that a setting shows, in the order in which it shows them."""
    return [round(time_s / FRAME_S) for time_s in decode_jpegs(clip, windowed(open_settings()[name], window_s)).times_s]


@pytest.mark.parametrize(
    ("name", "positions"),
    [
        ("center", [123]),
        ("f4", [0, 82, 164, 246]),
        ("fps0.1", [0, 246]),
        ("fps0.5", [0, 22, 44, 67, 89, 111, 134, 156, 178, 201, 223, 246]),
    ],
)
def test_the_last_frame_of_the_clip_is_among_those_shown(name, positions, clip):
    assert shown(clip, name) == positions


def test_a_rate_is_a_number_of_frames_of_the_window(clip):
    assert shown(clip, "fps0.1", (3.0, 7.0)) == [20], "one frame: that in the middle of 40"
    assert shown(clip, "fps0.5", (3.0, 13.0)) == [0, 24, 49, 74, 99]


def test_random_and_shuffled_frames_follow_the_same_number(clip):
    in_order = shown(clip, "fps0.5")
    shuffled, drawn = shown(clip, "fps0.5_shuffled"), shown(clip, "fps0.5_random")
    assert shuffled != in_order == sorted(shuffled)
    assert len(set(drawn)) == len(in_order)
    assert drawn == sorted(drawn) != in_order


def test_a_clip_of_540_lines_keeps_its_size(clip):
    (jpeg,) = decode_jpegs(clip, open_settings()["center"]).frames
    with Image.open(io.BytesIO(jpeg)) as image:
        assert image.size == (960, 540)


def test_every_setting_shows_its_rules_in_its_key():
    specs = [spec for spec in open_settings().values() if spec is not None]
    assert all("max_short_side_px=540,jpeg=libjpeg-95" in spec.key() for spec in specs)
    assert len({spec.key() for spec in specs}) == len(specs)
    assert replace(specs[0], max_short_side_px=360).key() != specs[0].key()
