"""The `egobench` commands that work on whole datasets and runs, as a user types them."""

import json
import shutil
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow


def scores_of(folder):
    (path,) = Path(folder).rglob("results_*.json")
    return json.loads(path.read_text())["results"]


def test_frames_fills_the_store_once_and_goes_on(run_program, sample_folder, tmp_path):
    cache = {"EGOBENCH_CACHE": str(tmp_path / "cache")}
    first = run_program("egobench", "frames", sample_folder / "egogears", "--workers", 2, **cache)
    assert "0 there already, 0 failed" in first.stdout
    again = run_program("egobench", "frames", sample_folder / "egogears", **cache)
    assert again.stdout.startswith("0 clips decoded")
    other = run_program("egobench", "frames", sample_folder / "egogears", "--spec", "f8", **cache)
    assert "0 there already" in other.stdout


def test_frames_lists_clips_that_do_not_decode(run_program, sample_folder, tmp_path):
    folder = shutil.copytree(sample_folder / "egogears", tmp_path / "egogears")
    broken = sorted((folder / "single" / "videos").iterdir())[0]
    broken.unlink()
    broken.write_bytes(b"no video")
    done = run_program(
        "egobench", "frames", folder, "--workers", 2, check=False, EGOBENCH_CACHE=str(tmp_path / "cache")
    )
    assert done.returncode == 1
    assert broken.name in done.stderr
    assert "1 failed" in done.stdout


def test_an_unknown_spec_is_bad_input(run_program, sample_folder):
    done = run_program("egobench", "frames", sample_folder / "egogears", "--spec", "f7x", check=False)
    assert (done.returncode, "f7x" in done.stderr) == (2, True)


def test_shards_merge_into_the_whole_run_and_are_reported(run_program, sample_folder, tiny_llava, tmp_path):
    settings = {"EGOGEARS_DATA": str(sample_folder / "egogears")}
    command = ["egobench", "run", "transformers", f"model_name={tiny_llava},generation_size=64", "egogears"]
    run_program(*command, "--output-dir", tmp_path / "whole", "--save-details", **settings)
    for index in (1, 2):
        run_program(*command, "--shard", f"{index}/2", "--output-dir", tmp_path / f"part{index}", **settings)
    parts = [tmp_path / "part1", tmp_path / "part2"]
    run_program("egobench", "merge", *parts, "--out", tmp_path / "merged", **settings)
    assert scores_of(tmp_path / "merged") == scores_of(tmp_path / "whole")
    incomplete = run_program("egobench", "merge", parts[0], "--out", tmp_path / "half", check=False, **settings)
    assert incomplete.returncode == 1

    done = run_program("egobench", "report", tmp_path / "whole", "--out", tmp_path / "report", **settings)
    assert str(tmp_path / "report" / "report.html") in done.stdout.split()
    assert (tmp_path / "report" / "csv" / "overall.csv").is_file()
    compared = run_program("egobench", "compare", tmp_path / "whole", tmp_path / "merged", **settings)
    assert "exact_set" in compared.stdout
    wrong = run_program("egobench", "report", tmp_path / "whole", "--format", "pdf", check=False, **settings)
    assert (wrong.returncode, "pdf" in wrong.stderr) == (2, True)
