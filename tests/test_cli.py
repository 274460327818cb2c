import subprocess
import sys
from pathlib import Path

import pytest

EGOBENCH = str(Path(sys.executable).parent / "egobench")


def run(*arguments, cwd):
    return subprocess.run([EGOBENCH, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, check=False)


def test_help_needs_no_heavy_import():
    heavy = {"torch", "lighteval", "datasets", "av", "pandas", "numpy"}
    code = f"import sys, egobench_tasks.cli; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_bad_input_is_one_message_and_exit_code_2(tmp_path):
    done = run("build", "egogears", "--source", tmp_path / "absent", "--out", tmp_path / "out", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("egobench: ")
    assert "absent" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


def test_an_unknown_option_is_exit_code_2(tmp_path):
    assert run("sample", tmp_path / "s", "--colour", cwd=tmp_path).returncode == 2


@pytest.mark.slow
def test_sample_builds_what_datasets_loads_and_a_second_run_changes_nothing(tmp_path):
    from datasets import List, Video, load_dataset

    assert run("sample", "s", "--questions", 12, "--seed", 3, cwd=tmp_path).returncode == 0
    features = load_dataset(str(tmp_path / "s" / "egogears"), "multi", split="test").features
    assert isinstance(features["video"], Video)
    assert features["videos"] == List(Video())
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "s").rglob("*") if path.is_file()}
    again = run("sample", "s", "--questions", 12, "--seed", 3, cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert "nothing to change" in again.stdout
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "s").rglob("*") if path.is_file()} == before
