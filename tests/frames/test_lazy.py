import copy
import dataclasses
import pickle
import tracemalloc

import numpy as np
import pytest
from PIL import Image

from egobench_tasks.files import sha256_of
from egobench_tasks.frames.decode import ClipError, decode_jpegs
from egobench_tasks.frames.lazy import FrameList, FrameRequest, open_jpeg
from egobench_tasks.frames.spec import FrameSpec
from egobench_tasks.frames.store import FrameStore

SPEC = FrameSpec(sampling="budget", count=4)


@pytest.fixture
def requests(make_clip):
    paths = map(make_clip, ("x264 GOP 30", "rotated 90"))
    return [FrameRequest(str(path), sha256_of(path), SPEC) for path in paths]


@pytest.fixture
def frames(requests, tmp_path):
    return FrameList(requests, FrameStore(tmp_path))


def test_frames_are_those_of_the_clips_in_order(frames, requests):
    jpegs = [jpeg for request in requests for jpeg in decode_jpegs(request.path, SPEC).frames]
    assert len(frames) == 8
    assert [clip.jpegs for clip in frames.clips()] == [tuple(jpegs[:4]), tuple(jpegs[4:])]
    for image, jpeg in zip(frames, jpegs, strict=True):
        assert image.mode == "RGB"
        assert np.array_equal(np.asarray(image), np.asarray(open_jpeg(jpeg)))
    assert frames[0].size == (480, 270)
    assert frames[-1].size == (360, 640)
    assert [image.size for image in frames[3:5]] == [(480, 270), (360, 640)]
    with pytest.raises(IndexError):
        frames[8]


def test_nothing_is_decoded_before_it_is_asked_for(tmp_path):
    missing = FrameRequest(str(tmp_path / "missing.mp4"), "0" * 64, SPEC)
    frames = FrameList([missing], FrameStore(tmp_path / "store"))
    assert repr(frames) == "FrameList(1 clips)"
    assert not (tmp_path / "store").exists()
    with pytest.raises(ClipError):
        len(frames)


def test_nothing_decoded_stays_alive(frames):
    len(frames)
    tracemalloc.start()
    for image in frames:
        assert isinstance(image, Image.Image)
    del image
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 100_000


def test_a_saved_question_holds_references(frames, requests):
    """lighteval turns every question into a dict, and deep-copies what is not a list."""

    @dataclasses.dataclass
    class Doc:
        images: FrameList

    saved = dataclasses.asdict(Doc(frames))["images"]
    assert saved == copy.deepcopy(frames)
    assert [reference["clip"] for reference in saved] == [request.path.split("/")[-1] for request in requests]
    assert [reference["spec"] for reference in saved] == [SPEC.key()] * 2
    assert not isinstance(frames, list | tuple)


def test_a_benchmark_of_lists_is_small(tmp_path):
    tracemalloc.start()
    store = FrameStore(tmp_path)
    spec = FrameSpec(sampling="budget", count=16)
    lists = [
        FrameList([FrameRequest(f"/data/{number}-{clip}.mp4", f"{number:064x}", spec) for clip in range(4)], store)
        for number in range(1487)
    ]
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert taken < 3_000_000
    assert len(pickle.dumps(lists)) < 2_000_000


def test_lists_cross_processes(frames):
    again = pickle.loads(pickle.dumps(frames))
    assert again.requests == frames.requests
    assert again.clips() == frames.clips()
