"""Clips of one recording are found by their pictures, though each was cut anew; others are not."""

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from egobench_tasks.errors import InputError
from egobench_tasks.frames.overlap import (
    ClipHashes,
    find_footage,
    footage_path,
    frame_hash,
    read_footage,
    write_footage,
)

WIDTH_PX, HEIGHT_PX = 480, 270


def street(seed: int) -> np.ndarray:
    """A long picture of soft blobs: what a camera passes."""
    generator = np.random.default_rng(seed)
    small = Image.fromarray(generator.integers(0, 256, (6, 90), dtype=np.uint8))
    return np.asarray(small.resize((WIDTH_PX * 12, HEIGHT_PX), Image.Resampling.BICUBIC))


def cut(recording: np.ndarray, start_s: float, name: str, n_frames: int = 16, every_s: float = 1.0) -> ClipHashes:
    """A clip: a camera that moves by a twentieth of the picture a second, each frame noisy and compressed."""
    generator, times_s, hashes = np.random.default_rng(len(name)), [], []
    for index in range(n_frames):
        left = round((start_s + index * every_s) * WIDTH_PX / 20)
        pixels = recording[:, left : left + WIDTH_PX] + generator.normal(0, 6, (HEIGHT_PX, WIDTH_PX))
        file = io.BytesIO()
        Image.fromarray(pixels.clip(0, 255).astype(np.uint8)).save(file, "JPEG", quality=70)
        number = frame_hash(file.getvalue())
        assert number is not None
        times_s.append(index * every_s)
        hashes.append(number)
    return ClipHashes(name, tuple(times_s), tuple(hashes))


def test_clips_cut_anew_from_one_recording_are_joined_and_others_are_not():
    one, other = street(1), street(2)
    clips = [
        cut(one, 0.0, "a"),
        cut(one, 8.4, "bb"),  # overlaps a, at frames between its own
        cut(one, 20.3, "ccc"),  # overlaps bb alone
        cut(other, 0.0, "dddd"),
        cut(one, 60.0, "eeeee"),  # of the first recording, of other footage: nobody can tell
    ]
    found = find_footage(clips)
    assert set(found.pairs) == {("a", "bb"), ("bb", "ccc")}
    assert found.recordings == {"a": "a", "bb": "a", "ccc": "a", "dddd": "dddd", "eeeee": "eeeee"}


def test_clips_of_one_name_are_of_one_recording_whatever_they_show():
    one, other = street(1), street(2)
    clips = [cut(one, 0.0, "a"), cut(one, 8.4, "bb"), cut(other, 0.0, "dddd"), cut(street(3), 0.0, "eeeee")]
    found = find_footage(clips, {"dddd": "walk", "bb": "walk", "elsewhere": "walk"})
    assert found.recordings == {"a": "a", "bb": "a", "dddd": "a", "eeeee": "eeeee"}
    assert found.pairs == (("a", "bb"),)


def test_what_is_found_of_all_is_told_of_some():
    one = street(1)
    found = find_footage([cut(one, 0.0, "a"), cut(one, 8.4, "bb"), cut(one, 14.0, "ccc")])
    part = found.of(["bb", "ccc"])
    assert part.recordings == {"bb": "a", "ccc": "a"}  # under the name that it has among all
    assert part.pairs == (("bb", "ccc"),)


def test_near_equal_frames_at_scattered_offsets_are_no_overlap():
    """Two walks past one advertisement, at different paces."""
    places = [0x1234_5678_9ABC_DEF0, 0x0F1E_2D3C_4B5A_6978, 0xFFFF_0000_FFFF_0000]
    fast = ClipHashes("fast", (0.0, 2.0, 4.0), tuple(places))
    slow = ClipHashes("slow", (0.0, 10.0, 20.0), tuple(places))
    same = ClipHashes("same", (5.0, 7.0, 9.0), tuple(places))
    assert find_footage([fast, slow]).pairs == ()
    assert find_footage([fast, same]).pairs == (("fast", "same"),)


def test_one_frame_that_matches_many_counts_once():
    waiting = ClipHashes("waiting", tuple(map(float, range(9))), (5,) * 9)
    passing = ClipHashes("passing", (0.0, 1.0, 2.0), (5, 2**63 + 2**40 - 1, 2**50 - 1))
    assert find_footage([waiting, passing]).pairs == ()


def test_a_dark_frame_has_no_hash():
    file = io.BytesIO()
    Image.fromarray(np.full((270, 480), 9, dtype=np.uint8)).save(file, "JPEG")
    assert frame_hash(file.getvalue()) is None


def test_the_table_comes_back_and_belongs_to_these_clips(tmp_path: Path):
    found = find_footage([cut(street(1), 0.0, "a"), cut(street(1), 4.0, "bb")])
    path = footage_path(found.recordings, tmp_path)
    assert read_footage(path) == {}
    write_footage(path, found)
    assert read_footage(path) == dict(found.recordings)
    assert footage_path([*found.recordings, "new"], tmp_path) != path
    path.write_text("{}")
    with pytest.raises(InputError, match="egobench overlaps"):
        read_footage(path)
