"""Hashing and probing of clips, whole files and stretches of a tar alike."""

import hashlib
import io
import tarfile

import av
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataset_scripts.repository.clips import ClipSource, check_clip
from egobench_tasks.errors import InputError


@pytest.fixture(scope="module")
def clip(tmp_path_factory, make_clip):
    return make_clip(tmp_path_factory.mktemp("clips") / "a.mp4", 3)


def test_a_clip_is_hashed_and_measured(clip):
    facts = check_clip(ClipSource(clip))
    assert facts.sha256 == hashlib.sha256(clip.read_bytes()).hexdigest()
    assert facts.size_bytes == clip.stat().st_size
    assert facts.duration_s == pytest.approx(3)


def test_a_clip_in_a_tar_has_the_same_facts(clip, tmp_path):
    with tarfile.open(tmp_path / "b.tar", "w") as tar:
        tar.addfile(tarfile.TarInfo("empty"))
        tar.add(clip, "media/a.mp4")
    with tarfile.open(tmp_path / "b.tar") as tar:
        member = tar.getmember("media/a.mp4")
    source = ClipSource(tmp_path / "b.tar", member.offset_data, member.size, member.name)
    assert check_clip(source) == check_clip(ClipSource(clip))
    assert "b.tar: member media/a.mp4" in str(source)


@given(
    data=st.binary(max_size=60),
    before=st.binary(max_size=20),
    steps=st.lists(st.tuples(st.integers(0, 70), st.integers(0, 70))),
)
def test_a_stretch_reads_like_a_file_of_its_own(tmp_path_factory, data, before, steps):
    path = tmp_path_factory.mktemp("stretch") / "file"
    path.write_bytes(before + data + b"after")
    alone = io.BytesIO(data)
    with ClipSource(path, len(before), len(data)).open() as stretch:
        for position, count in steps:
            assert stretch.seek(position) == alone.seek(position)
            assert stretch.read(count) == alone.read(count)
        assert stretch.seek(0, io.SEEK_END) == len(data)


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda data: b"", "decodes"),
        (lambda data: b"not a video at all" * 50, "decodes"),
        (lambda data: b"#EXTM3U\n#EXTINF:2,\nother.mp4\n#EXT-X-ENDLIST\n", "decodes"),
        (lambda data: data[: len(data) // 2], "packet"),
        (lambda data: data[:-3], "packet is cut off"),
    ],
)
def test_a_damaged_clip_is_named_with_its_defect(clip, tmp_path, damage, reason):
    damaged = tmp_path / "damaged.mp4"
    damaged.write_bytes(damage(clip.read_bytes()))
    with pytest.raises(InputError, match=rf"damaged\.mp4.*{reason}"):
        check_clip(ClipSource(damaged))


def test_a_file_with_sound_only_is_no_clip(tmp_path):
    with av.open(str(tmp_path / "sound.mp4"), "w") as target:
        stream = target.add_stream("aac", rate=8000, layout="mono")
        silence = av.AudioFrame.from_ndarray(np.zeros((1, 8000), np.float32), format="fltp", layout="mono")
        silence.sample_rate = 8000
        target.mux(stream.encode(silence))
        target.mux(stream.encode(None))
    with pytest.raises(InputError, match="no video track"):
        check_clip(ClipSource(tmp_path / "sound.mp4"))
