"""`egobench overlaps` as a user runs it, on clips cut anew from a few recordings, and what a report makes of it."""

import hashlib
import io
import os
import subprocess
import sys
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image
from planted import multi_row, plant, single_row

from egobench_tasks.frames.overlap import footage_path, read_footage
from egobench_tasks.report.read.choice_questions import clustered_together, load_split

WIDTH_PX, HEIGHT_PX, FPS, LENGTH_S = 160, 90, 4, 16

pytestmark = pytest.mark.slow


def street(seed):
    """A long picture of soft blobs: what a camera passes."""
    small = np.random.default_rng(seed).integers(0, 256, (6, 90), dtype=np.uint8)
    return np.asarray(Image.fromarray(small).resize((WIDTH_PX * 12, HEIGHT_PX), Image.Resampling.BICUBIC))


def cut(seed, start_s):
    """A clip of the recording ``seed``: a camera that moves by a twentieth of the picture a second."""
    recording, file = street(seed), io.BytesIO()
    with av.open(file, "w", format="mp4") as container:
        stream = container.add_stream("libx264", rate=FPS)
        stream.width, stream.height, stream.pix_fmt = WIDTH_PX, HEIGHT_PX, "yuv420p"
        for number in range(LENGTH_S * FPS):
            left = round((start_s + number / FPS) * WIDTH_PX / 20)
            grey = np.repeat(recording[:, left : left + WIDTH_PX, None], 3, axis=2)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(np.ascontiguousarray(grey), format="rgb24")))
        container.mux(stream.encode())
    return file.getvalue()


SINGLE = {"s0": (1, 0.0), "s1": (2, 0.0), "s2": (9, 0.0), "s3": (1, 60.0)}
MULTI = {"m0": [(1, 8.4), (3, 0.0)], "m1": [(3, 9.3)], "m2": [(4, 0.0)], "m3": [(9, 7.6)]}
NAMES = {"s0": "P01", "s1": "P02", "s2": "P03", "s3": "P01"}  # s3 is of s0's recording, and shows none of its footage


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    clips = {config: {} for config in ("single", "multi")}

    def kept(config, place):
        content = cut(*place)
        clips[config][name := f"videos/{place[0]}_{place[1]}.mp4"] = content
        return name, hashlib.sha256(content).hexdigest()

    rows = {"single": [], "multi": []}
    for number, (question_id, place) in enumerate(SINGLE.items()):
        name, digest = kept("single", place)
        about = {"question_id": question_id, "recording": NAMES[question_id], "duration_s": float(LENGTH_S)}
        rows["single"].append({**single_row(number, 4, "A"), **about, "file_name": name, "sha256": digest})
    for number, (question_id, places) in enumerate(MULTI.items()):
        names, digests = zip(*(kept("multi", place) for place in places), strict=True)
        about = {"question_id": question_id, "file_name": names[0], "file_names": list(names)}
        about |= {"clip_sha256": list(digests), "clip_duration_s": [float(LENGTH_S)] * len(names)}
        rows["multi"].append({**multi_row(number, 4, "A", n_clips=len(names)), **about})
    return plant(tmp_path_factory.mktemp("footage") / "egogears", rows, clips)


def overlaps(folder, cache):
    command = [str(Path(sys.executable).parent / "egobench"), "overlaps", str(folder), "--workers", "2"]
    return subprocess.run(
        command, env=os.environ | {"EGOBENCH_CACHE": str(cache)}, capture_output=True, text=True, timeout=300
    )


@pytest.fixture(scope="module")
def found(dataset, tmp_path_factory):
    cache = tmp_path_factory.mktemp("cache")
    done = overlaps(dataset.location.path, cache)
    assert done.returncode == 0, done.stderr
    return cache, done.stdout


def test_it_says_what_it_found_in_each_split_and_in_both(found, dataset):
    cache, said = found
    single, multi, both = said.splitlines()
    assert single.startswith("single: 4 clips, 0 pairs that overlap, 3 stretches of footage, the largest of 2 clips")
    assert multi.startswith("multi: 5 clips, 1 pairs that overlap, 4 stretches of footage, the largest of 2 clips")
    assert both == "single and multi: 2 stretches of footage stand in both"
    digests = [row["sha256"] for row in dataset.rows["single"]]
    assert read_footage(footage_path(digests, cache)).keys() == set(digests)


def clusters_of(splits):
    rows = [row for split in splits.values() for row in split.attributes.to_dict("records")]
    return {row["question_id"]: row["cluster"] for row in rows}


def test_footage_of_one_recording_in_both_splits_is_one_cluster(found, dataset, monkeypatch):
    """Single's clusters and multi's had nothing to do with each other."""
    monkeypatch.setenv("EGOBENCH_CACHE", str(found[0]))
    apart = {config: load_split(dataset.location, config) for config in ("single", "multi")}
    of = clusters_of(clustered_together(apart))
    # s0 overlaps m0's first clip, whose second overlaps m1; s3 is named as s0's recording; s2 overlaps m3.
    assert of["s0"] == of["s3"] == of["m0"] == of["m1"]
    assert of["s2"] == of["m3"]
    assert len({of[one] for one in ("s0", "s1", "s2", "m2")}) == 4
    assert not any(split.attributes["recording_unknown"].any() for split in apart.values())


def test_before_it_ran_the_recordings_are_unknown(dataset, monkeypatch, tmp_path):
    monkeypatch.setenv("EGOBENCH_CACHE", str(tmp_path))
    assert load_split(dataset.location, "multi").attributes["recording_unknown"].all()


def test_a_second_time_nothing_is_decoded_and_all_is_said_again(found, dataset):
    cache, said = found
    before = {path: path.stat().st_ino for path in cache.rglob("*.frames")}  # what is decoded is written anew
    assert len(before) == 9
    again = overlaps(dataset.location.path, cache)
    assert (again.returncode, again.stdout) == (0, said)
    assert {path: path.stat().st_ino for path in cache.rglob("*.frames")} == before


def test_a_folder_that_is_no_dataset_is_bad_input(tmp_path):
    done = overlaps(tmp_path, tmp_path / "cache")
    assert done.returncode == 2 and str(tmp_path) in done.stderr and "Traceback" not in done.stderr
    assert done.stdout == ""
