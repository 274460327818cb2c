"""How much memory making a batch takes, and how much there is."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import psutil

_SAMPLED_EACH_S = 0.01
_CGROUPS = Path("/sys/fs/cgroup")
_OWN_CGROUP = Path("/proc/self/cgroup")

_Made = TypeVar("_Made")


def with_peak(make: Callable[[], _Made]) -> tuple[_Made, int]:
    """Return what ``make`` returns, and by how many bytes the memory of this process grew at most meanwhile.

    The highest that the system keeps would not do: it is of the whole life of the process.
    """
    process = psutil.Process()
    before = peak = process.memory_info().rss
    over = threading.Event()

    def watch() -> None:
        nonlocal peak
        while not over.wait(_SAMPLED_EACH_S):
            peak = max(peak, process.memory_info().rss)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        made = make()
    finally:
        over.set()
        watcher.join()
    return made, max(peak, process.memory_info().rss) - before


def available_bytes() -> int:
    """Return what this process and those it starts may still fill: the machine's free memory, or what a job's limit
    (SLURM's, a container's) leaves of it."""
    return max(0, min([psutil.virtual_memory().available, *_left_in_cgroups(_CGROUPS, _OWN_CGROUP)]))


def _left_in_cgroups(root: Path, own: Path) -> Iterator[int]:
    """What each limit leaves that holds for this process: its own control group's, and those of all above it.

    Only version 2 of control groups is read, which has one tree. Pages of files can be given back, so they are free.
    """
    try:
        lines = own.read_text().splitlines()
    except OSError:
        return
    path = next((line.removeprefix("0::") for line in lines if line.startswith("0::")), None)
    if path is None:
        return
    group = root / path.lstrip("/")
    for folder in [group, *group.parents]:
        if not folder.is_relative_to(root):
            return
        try:
            limit = (folder / "memory.max").read_text().strip()
            used = int((folder / "memory.current").read_text())
            statistics = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
        except OSError:
            continue  # the root has none
        if limit != "max":
            yield int(limit) - used + int(statistics.get("inactive_file", 0))
