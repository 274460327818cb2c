import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from egobench_tasks.files import sha256_of
from egobench_tasks.frames.fill import FillReport, fill_store
from egobench_tasks.frames.lazy import FrameRequest
from egobench_tasks.frames.spec import FrameSpec
from egobench_tasks.frames.store import FrameStore

SPEC = FrameSpec(sampling="budget", count=4)


def request(path, count=4):
    return FrameRequest(str(path), sha256_of(path), FrameSpec(sampling="budget", count=count))


@pytest.mark.parametrize("workers", [1, 2])
def test_filling_and_filling_again(workers, make_clip, tmp_path, capsys):
    clip = make_clip("x264 GOP 30")
    good = [request(clip, count) for count in (3, 4, 5, 6)]
    bad = [FrameRequest(str(tmp_path / name), digit * 64, SPEC) for name, digit in (("one.mp4", "1"), ("two.mp4", "2"))]
    store = FrameStore(tmp_path / "store")
    report = fill_store([bad[0], *good, *good, bad[1]], store, workers)
    assert (report.decoded, report.already_there) == (4, 0)
    assert [error.path for error in report.failed] == [bad[0].path, bad[1].path]
    assert all(store.holds(item.sha256, item.spec) for item in good)
    assert "6/6" in capsys.readouterr().err
    assert fill_store([*good, request(clip, 7)], store, workers) == FillReport(1, 4, ())


def test_nothing_to_do(tmp_path):
    assert fill_store([], FrameStore(tmp_path), workers=4) == FillReport(0, 0, ())


_ENDLESS_FILL = """
import sys
from pathlib import Path
from egobench_tasks.frames.fill import fill_store
from egobench_tasks.frames.lazy import FrameRequest
from egobench_tasks.frames.spec import FrameSpec
from egobench_tasks.frames.store import FrameStore
if __name__ == "__main__":
    requests = [
        FrameRequest(sys.argv[1], sys.argv[2], FrameSpec(sampling="budget", count=count)) for count in range(2, 5000)
    ]
    fill_store(requests, FrameStore(Path(sys.argv[3])), 2)
"""


def _children(pid):
    """The processes that a process started (Linux)."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks for processes in /proc")
def test_workers_end_when_their_parent_is_killed(make_clip, tmp_path):
    script, clip, store = tmp_path / "fill.py", make_clip("x264 GOP 30"), tmp_path / "store"
    script.write_text(_ENDLESS_FILL)
    parent = subprocess.Popen([sys.executable, script, clip, sha256_of(clip), store], stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while len(list(store.glob("frames/*/*.frames"))) < 4 and time.monotonic() < deadline:
        time.sleep(0.05)
    workers = _children(parent.pid)
    assert len(workers) >= 2
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    while any(map(_is_running, workers)) and time.monotonic() < deadline:
        time.sleep(0.05)
    left = [pid for pid in workers if _is_running(pid)]
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert not left
