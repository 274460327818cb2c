"""The making commands on EgoGears' raw release: all as on the dataset built from it."""

import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from egobench_tasks.cli import app
from egobench_tasks.commands.release import dataset_or_release
from egobench_tasks.errors import InputError
from egobench_tasks.making.audit.question import load_audited
from egobench_tasks.making.exam.questions import load_questions
from egobench_tasks.making.review.contents import load_contents


def call(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def both(folder):
    """The raw release as the commands take it, and the dataset built from it."""
    return [dataset_or_release(str(folder / name)) for name in ("raw", "egogears")]


def test_an_audit_of_the_raw_release_reads_what_one_of_the_dataset_does(sample_folder, tmp_path):
    result = call("audit", sample_folder / "raw", "--out", tmp_path / "audit")
    assert result.exit_code == 0, result.output
    raw, built = ([*load_audited(one)[2]] for one in both(sample_folder))
    assert raw == built and len(raw) == 12


def test_clips_of_a_raw_release_are_not_copied(sample_folder, tmp_path, monkeypatch):
    monkeypatch.setenv("EGOBENCH_CACHE", str(sample_folder / "cache"))
    clips = list(Path(dataset_or_release(str(sample_folder / "raw")).path).glob("single/videos/*"))
    assert clips and all(clip.stat().st_nlink > 1 for clip in clips)


def test_a_release_with_a_clip_missing_is_refused_by_its_question(sample_folder, tmp_path):
    shutil.copytree(sample_folder / "raw", tmp_path / "raw")
    next((tmp_path / "raw" / "single_video_567").rglob("*.mp4")).unlink()
    with pytest.raises(InputError, match="is missing"):
        dataset_or_release(str(tmp_path / "raw"))


def test_review_and_exam_of_the_raw_release_are_of_the_same_questions(sample_folder):
    raw, built = both(sample_folder)
    assert load_contents(raw) == load_contents(built)
    assert load_questions(raw).fingerprint == load_questions(built).fingerprint
