import platform
import subprocess
import sys

import pytest

GROWTH = """
import resource, sys
from egobench_tasks.malloc import give_back_large_buffers
MB = 1 << 20

def resident_mb():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / MB

if sys.argv[1] == "given back":
    give_back_large_buffers()
del_this = bytearray(b"x") * (20 * MB)
del del_this
before, buffers, lasting = resident_mb(), [], []
for _ in range(32):
    buffers.append(bytearray(b"x") * MB)
    lasting.append(bytearray(b"x") * 4000)
del buffers
print(resident_mb() - before)
"""


def growth_mb(how):
    return float(subprocess.run([sys.executable, "-c", GROWTH, how], capture_output=True, text=True, check=True).stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="of glibc's malloc")
def test_memory_does_not_stay_with_a_run_when_its_requests_are_gone():
    assert growth_mb("as it is") > 25  # else glibc has changed, and there is nothing to mend
    assert growth_mb("given back") < 5
