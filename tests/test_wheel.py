"""What a user gets who installs the wheel: no checkout beside it, and yet everything is there."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import egobench_tasks

ROOT = Path(__file__).parent.parent
UNPACK = "import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extractall(sys.argv[2])"
RUN = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])  # before the checkout that the environment's packages know
import egobench_tasks, dataset_scripts
assert Path(egobench_tasks.__file__).is_relative_to(sys.argv[1]), egobench_tasks.__file__
assert Path(dataset_scripts.__file__).is_relative_to(sys.argv[1]), dataset_scripts.__file__
from egobench_tasks import cli
sys.argv = ["egobench", *sys.argv[2:]]
cli.main()
"""


def test_the_version_is_one():
    """Of the package, of its metadata's source, and of the newest heading of the changelog that has one."""
    assert "version = attr: egobench_tasks.__version__" in (ROOT / "setup.cfg").read_text()
    headings = re.findall(r"^## v?(\d+\.\d+\.\d+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert not headings or headings[0] == egobench_tasks.__version__


@pytest.mark.slow
def test_the_wheel_runs_the_sample_and_the_report_away_from_the_checkout(tmp_path):
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    tree = tmp_path / "tree"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(tree)], check=True)  # a build leaves folders behind
    subprocess.run([*pip, "--wheel-dir", str(tmp_path), str(tree)], check=True)
    (wheel,) = tmp_path.glob("egobench-*.whl")
    assert egobench_tasks.__version__ in wheel.name
    site = tmp_path / "site"
    subprocess.run([sys.executable, "-c", UNPACK, str(wheel), str(site)], check=True)

    def egobench(*words):
        command = [sys.executable, "-c", RUN, str(site), *map(str, words)]
        environment = {**os.environ, "EGOBENCH_JOURNAL": str(tmp_path / "journal"), "PYTHONSAFEPATH": "1"}
        environment["EGOGEARS_DATA"] = str(tmp_path / "s" / "egogears")
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
        return done.stdout

    assert egobench("--version").strip() == egobench_tasks.__version__
    egobench("sample", "s", "--questions", 4)
    subprocess.run(
        [sys.executable, "-m", "dataset_scripts.sample.tiny_vlm", str(tmp_path / "tiny")],
        cwd=site, check=True, capture_output=True,
    )  # fmt: skip
    said = egobench(
        "run", "transformers", f"model_name={tmp_path / 'tiny'},generation_size=16", "egogears",
        "--output-dir", "out", "--report",
    )  # fmt: skip
    assert f"next: egobench report {tmp_path / 'out'}" in said
    assert (tmp_path / "out" / "report" / "report.html").is_file()
    assert "the tested versions" in egobench("doctor")
