"""Building EgoTempo's dataset: from the real annotations alone, and with a video that stands in for several."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import av
import datasets
import pytest

from dataset_scripts.egotempo.build import build_egotempo, download_command, missing_uids_file
from dataset_scripts.egotempo.clips import cuts_folder
from dataset_scripts.repository.build_report import BuildReport
from egobench_tasks.asking.questions import open_question
from egobench_tasks.benchmarks import EGOTEMPO
from egobench_tasks.data import DatasetLocation, fingerprint, load_rows
from egobench_tasks.errors import InputError

FPS = 10


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """`datasets` keeps what it read: in the test's own folder."""
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "hf_datasets")


def rows_of(out: Path) -> list[dict]:
    # datasets 5.2 does not notice that a local folder has changed since it was last read.
    shutil.rmtree(datasets.config.HF_DATASETS_CACHE, ignore_errors=True)
    return list(load_rows(DatasetLocation(str(out)), "default"))


def kinds(report: BuildReport) -> list[str]:
    """The findings, without those that say that this is not the whole benchmark."""
    return [finding.kind for finding in report.warnings if finding.kind != "count_differs"]


def mtimes(folder: Path) -> dict[str, int]:
    return {str(path.relative_to(folder)): path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def test_all_real_questions_build_without_a_video_and_load(shared_dir, release):
    annotations = shared_dir / "data/egotempo/egotempo_openQA.json"
    report = build_egotempo(annotations, release.out)
    assert report.summaries[0].counts["clips"] == {"there": 0, "missing": EGOTEMPO.clips}
    assert kinds(report) == ["start_clamped"] * 12
    assert not [finding for finding in report.warnings if finding.kind == "count_differs"]
    rows = datasets.load_dataset(str(release.out), split="test")
    assert rows.features["video"] == datasets.Video()
    questions = [open_question(row) for row in load_rows(DatasetLocation(str(release.out)), "default")]
    assert len(questions) == EGOTEMPO.rows
    assert {question.category for question in questions} == set(EGOTEMPO.category_codes)
    assert all(question.clip is None for question in questions)
    uids = missing_uids_file(release.out).read_text().split()
    assert len(uids) == len(set(uids)) == EGOTEMPO.videos
    assert build_egotempo(annotations, release.out).written.unchanged


def test_clips_are_cut_to_within_a_frame_equal_ones_once_and_others_keep_their_place(release, numbered_video):
    release.add("aaa", numbered_video)
    release.add("bbb", numbered_video)
    release.ask("aaa_2.34_5.61", "zzz_0_4", "bbb_-0.3_3.5", "aaa_2.34_5.61", "bbb_17.5_23.25")
    report = build_egotempo(release.annotations, release.out, videos=release.videos, workers=2)
    assert kinds(report) == ["start_clamped", "ends_past_video"]
    assert "ends 3.25 s after" in report.warnings[-1].message
    assert report.summaries[0].counts["clips"] == {"there": 3, "missing": 1}
    assert len(list((release.out / "test" / "videos").iterdir())) == 3
    assert missing_uids_file(release.out).read_text() == "zzz\n"

    rows = rows_of(release.out)
    assert [row["clip_id"] for row in rows] == [
        "aaa_2.34_5.61",
        "zzz_0_4",
        "bbb_-0.3_3.5",
        "aaa_2.34_5.61",
        "bbb_17.5_23.25",
    ]
    assert rows[1]["video"] is None and rows[1]["sha256"] is None
    assert rows[0]["video"] == rows[3]["video"]
    for row, last_s in ((rows[0], 5.61), (rows[2], 3.5), (rows[4], 20)):
        with av.open(row["video"]["path"]) as clip:
            assert clip.duration / av.time_base == pytest.approx(last_s - row["start_s"], abs=1 / FPS)
        assert row["duration_s"] == pytest.approx(last_s - row["start_s"], abs=1 / FPS)
    question = open_question(rows[0])
    assert question.clip.sha256 == rows[0]["sha256"] and question.window_s is None


def test_a_second_run_changes_nothing_and_a_new_video_is_all_that_is_cut(release, numbered_video):
    release.add("aaa", numbered_video)
    release.ask("aaa_2_5", "bbb_3_6")
    build_egotempo(release.annotations, release.out, videos=release.videos)
    before = mtimes(release.out)
    assert build_egotempo(release.annotations, release.out, videos=release.videos).written.unchanged
    assert mtimes(release.out) == before

    release.add("bbb", numbered_video)
    written = build_egotempo(release.annotations, release.out, videos=release.videos).written
    assert (written.clips_stored, written.clips_reused) == (1, 1)
    after = mtimes(release.out)
    assert all(after[name] == mtime for name, mtime in before.items() if name.endswith(".mp4"))
    assert not missing_uids_file(release.out).exists()
    # The videos may go once their clips are stored.
    assert build_egotempo(release.annotations, release.out).written.unchanged
    assert sorted(path.name for path in release.out.parent.iterdir() if "egotempo" in path.name) == ["egotempo"]


def test_trimmed_clips_are_taken_as_they_are_wherever_they_lie(release, make_clip):
    make_clip(release.videos / "v2" / "clips" / "aaa_1.5_3.5.mp4", 2)
    make_clip(release.videos / "aaa_7.25_9.mp4", 6)
    release.ask("aaa_1.5_3.5", "aaa_7.25_9.mp4")
    report = build_egotempo(release.annotations, release.out, videos=release.videos)
    assert kinds(report) == ["longer_than_window"]
    rows = rows_of(release.out)
    assert Path(rows[0]["video"]["path"]).samefile(release.videos / "v2" / "clips" / "aaa_1.5_3.5.mp4")
    assert [row["clip_id"] for row in rows] == ["aaa_1.5_3.5", "aaa_7.25_9"]


def test_without_trimming_rows_tell_their_windows_of_the_linked_video(release, numbered_video):
    video = release.add("aaa", numbered_video)
    release.ask("aaa_2.34_5.61", "aaa_-1_4", "aaa_18_30", "bbb_0_1")
    report = build_egotempo(release.annotations, release.out, videos=release.videos, trim=False)
    assert kinds(report) == ["start_clamped", "ends_past_video"]
    questions = [open_question(row) for row in rows_of(release.out)]
    assert [question.window_s for question in questions] == [(2.34, 5.61), (0.0, 4.0), (18.0, 30.0), None]
    assert all(Path(question.clip.path).samefile(video) for question in questions[:3])
    assert questions[3].clip is None
    # Trimmed afterwards, nothing of the whole video stays.
    build_egotempo(release.annotations, release.out, videos=release.videos)
    assert [open_question(row).window_s for row in rows_of(release.out)] == [None] * 4
    assert not any(path.samefile(video) for path in (release.out / "test" / "videos").iterdir())


def test_the_dataset_is_the_same_with_one_worker_and_with_three(release, numbered_video, tmp_path):
    release.add("aaa", numbered_video)
    release.ask("aaa_1_3", "aaa_5_6", "aaa_8_9.5", "aaa_12_13")
    built = [tmp_path / "one", tmp_path / "three"]
    for out, workers in zip(built, (1, 3), strict=True):
        build_egotempo(release.annotations, out, videos=release.videos, workers=workers)
    contents = [
        {path.relative_to(out): path.read_bytes() for path in out.rglob("*") if path.is_file()} for out in built
    ]
    assert contents[0] == contents[1]
    assert fingerprint(rows_of(built[0])) == fingerprint(rows_of(built[1]))


def test_videos_that_cannot_be_cut_are_named_after_all_others_are_cut(release, numbered_video):
    release.add("aaa", numbered_video)
    (release.videos / "bad.mp4").write_bytes(b"not a video")
    release.ask("bad_0_1", "aaa_1_2", "bad_3_4")
    with pytest.raises(InputError, match=r"2 clips could not be cut(.|\n)*bad\.mp4"):
        build_egotempo(release.annotations, release.out, videos=release.videos)
    assert not release.out.exists()
    assert [path.name for path in cuts_folder(release.out).iterdir()] == ["aaa_1_2.mp4"]
    (release.videos / "bad.mp4").unlink()
    build_egotempo(release.annotations, release.out, videos=release.videos)
    assert not cuts_folder(release.out).exists()


def test_a_cut_older_than_its_video_is_made_again(release, numbered_video):
    video = release.add("aaa", numbered_video)
    release.ask("aaa_1_2")
    cuts_folder(release.out).mkdir()
    stale = cuts_folder(release.out) / "aaa_1_2.mp4"
    stale.write_bytes(b"of an earlier video")
    os.utime(stale, ns=(0, video.stat().st_mtime_ns - 1))
    build_egotempo(release.annotations, release.out, videos=release.videos)
    assert rows_of(release.out)[0]["duration_s"] == pytest.approx(1)


_BUILD = """
import sys, pathlib
from dataset_scripts.egotempo.build import build_egotempo
annotations, videos, out = map(pathlib.Path, sys.argv[1:])
build_egotempo(annotations, out, videos=videos, workers=2)
"""


def test_killed_in_the_middle_what_was_cut_is_not_cut_again(release, numbered_video):
    release.add("aaa", numbered_video)
    release.ask(*(f"aaa_{number / 10}_{number / 10 + 8}" for number in range(16)))
    command = [sys.executable, "-c", _BUILD, release.annotations, release.videos, release.out]
    build = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    cuts = cuts_folder(release.out)
    while len(list(cuts.glob("aaa_*.mp4"))) < 3:
        assert build.poll() is None, "the build was done before it could be killed"
        time.sleep(0.01)
    build.send_signal(signal.SIGKILL)
    build.wait()
    assert not release.out.exists()
    before = {path.name: path.stat().st_mtime_ns for path in cuts.glob("aaa_*.mp4")}
    assert 3 <= len(before) < 16
    build_egotempo(release.annotations, release.out, videos=release.videos, workers=2)
    stored = {path.stat().st_mtime_ns for path in (release.out / "test" / "videos").iterdir()}
    assert set(before.values()) <= stored
    assert len(rows_of(release.out)) == 16 and not cuts.exists()


def test_the_card_says_that_clips_may_not_be_shared(release, make_clip):
    from huggingface_hub import DatasetCard

    make_clip(release.videos / "aaa_1.5_3.5.mp4", 2)
    release.ask("aaa_1.5_3.5", "bbb_0_1")
    build_egotempo(release.annotations, release.out, videos=release.videos)
    data = DatasetCard.load(release.out / "README.md").data
    assert data["egobench"] == {"clips": 1, "clips_may_be_shared": False}
    assert data.license == "cc-by-4.0"
    assert "1 of 2 clips" in (release.out / "README.md").read_text()


def test_the_command_for_missing_videos_is_one_the_shell_takes(release):
    out = release.out.with_name("my egotempo")
    assert download_command(out, Path("ego4d")).endswith(f"--video_uid_file '{missing_uids_file(out)}'")


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"videos": Path("none")}, "no such folder"), ({"workers": 0}, "at least 1")],
)
def test_wrong_arguments_are_refused(release, changes, message):
    release.ask("aaa_0_1")
    with pytest.raises(InputError, match=message):
        build_egotempo(release.annotations, release.out, **changes)


def test_a_folder_of_something_else_is_left_alone(release):
    release.ask("aaa_0_1")
    release.out.mkdir()
    (release.out / "thesis.txt").write_text("")
    with pytest.raises(InputError, match="did not make"):
        build_egotempo(release.annotations, release.out)
