"""Memory that a worker keeps for its next batch."""

import subprocess
import sys

import pytest

_SCRIPT = """
import resource, sys
import numpy as np
from egobench_tasks.malloc import keep_freed_memory

if sys.argv[1] == "kept":
    assert keep_freed_memory()
def fill():
    return np.ones(2**27, np.uint8).sum()
first = fill()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(4):
    assert fill() == first == 2**27
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="mallopt is glibc's")
def test_large_arrays_cost_page_faults_at_every_batch():
    faults = {}
    for how in ("kept", "given back"):
        faults[how] = int(subprocess.run([sys.executable, "-c", _SCRIPT, how], capture_output=True, check=True).stdout)
    assert faults["kept"] * 5 < faults["given back"]
