"""The documentation: it builds without a warning, and knows every setting."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
def test_the_pages_build_without_a_warning_and_every_link_leads_somewhere(tmp_path):
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}  # the theme's word on MkDocs' next version
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    pages = {path.relative_to(tmp_path / "site").as_posix() for path in (tmp_path / "site").rglob("*.html")}
    assert {"index.html", "tutorial.html", "cluster.html", "reference/command-line.html"} <= pages
    commands = (tmp_path / "site/reference/command-line.html").read_text()
    assert "egobench run endpoint" in commands
    settings = (tmp_path / "site/reference/settings.html").read_text()
    assert "max_stall_s" in settings
    assert "images_kwargs" in settings


def test_every_variable_that_the_code_reads_is_in_readme():
    code = "".join(path.read_text() for path in (ROOT / "egobench_tasks").rglob("*.py"))
    read = set(re.findall(r'"(EGOBENCH_[A-Z_]*[A-Z]|EGO(?:GEARS|TEMPO)_DATA)"', code))
    assert len(read) >= 8
    table = (ROOT / "README.md").read_text().partition("[start:settings]")[2]
    # EGOBENCH_SHARD is how a command tells its own processes; people have --shard.
    assert [name for name in sorted(read) if name not in table] == ["EGOBENCH_SHARD"]
