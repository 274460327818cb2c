"""`egobench publish`, killed at random moments: nothing is sent twice, and in the end all is there."""

import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow


def test_four_ends_of_a_publication(hub, hub_environment, gears):
    program = str(Path(sys.executable).parent / "egobench")
    command = [program, "publish", str(gears), "--repo-id", "org/gears", "--tag", "v1.0"]
    moments = random.Random(17)
    hub.fail = lambda method, path: time.sleep(0.05)  # a Hub that takes its time, and fails at nothing
    n_ended = 0
    for number in [signal.SIGKILL] * 3 + [signal.SIGTERM]:
        n_requests = len(hub.requests)
        process = subprocess.Popen(command, env=hub_environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None and len(hub.requests) == n_requests:
            time.sleep(0.01)
        time.sleep(moments.uniform(0, 1.5))
        process.send_signal(number)
        n_ended += process.wait(30) != 0
    assert n_ended >= 2  # a fast machine may have published before a later end
    done = subprocess.run(command, env=hub_environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert set(Counter(hub.received).values()) == {1}
    files = {path.relative_to(gears).as_posix(): path.read_bytes() for path in gears.rglob("*") if path.is_file()}
    there = dict(hub.files("org/gears", "v1.0"))
    there.pop(".gitattributes")
    assert there == files
