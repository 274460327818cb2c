"""Inputs made ahead: in order, bounded, by threads and processes, and gone with the run."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from egobench_tasks.hosts.lighteval.vision.ahead import AHEAD_BYTES, Cost, workers_for


@pytest.mark.parametrize(
    ("cost", "n_batches", "n_processes", "workers"),
    [
        (Cost(0.5, 1000, 3000), 50, 1, 0),  # over in less time than processes take to start
        (Cost(5.0, 1000, 3000), 50, 1, 8),
        (Cost(5.0, 1000, 3000), 50, 4, 4),  # four of accelerate's share sixteen processors
        (Cost(90.0, 1000, 3000), 2, 1, 2),
        (Cost(5.0, AHEAD_BYTES // 6, 0), 50, 1, 3),  # room for the buffers of three
        (Cost(5.0, 2 * 2**30, 7 * 2**30), 50, 1, 2),  # 24 GiB hold two workers, a quarter over 7 GiB, and two that wait
        (Cost(5.0, 2 * 2**30, 9 * 2**30), 50, 1, 1),
        (Cost(5.0, 2 * AHEAD_BYTES, 0), 50, 1, 0),
    ],
)
def test_as_many_processes_as_help_and_fit(monkeypatch, cost, n_batches, n_processes, workers):
    from egobench_tasks.hosts.lighteval.vision import ahead

    monkeypatch.setattr(ahead, "_room_bytes", lambda: AHEAD_BYTES)
    monkeypatch.setattr(ahead, "available_bytes", lambda: 24 * 2**30)
    assert workers_for(cost, n_batches, n_processes, n_cpus=16) == workers


@pytest.mark.parametrize("workers", [0, pytest.param(2, marks=pytest.mark.slow)])
def test_batches_come_in_order_the_same_by_a_thread_and_by_processes(vlm, docs_of, workers):
    import torch

    from egobench_tasks.hosts.lighteval.rounds import _question
    from egobench_tasks.hosts.lighteval.vision.ahead import can_travel, prepared_ahead
    from egobench_tasks.hosts.lighteval.vision.prepare import prepare

    maker = vlm()._vision.maker
    batches = [[_question(doc)] for doc in docs_of("single")]
    assert can_travel(maker)
    for batch, made in zip(batches, prepared_ahead(maker, batches, workers), strict=True):
        expected = prepare(maker, batch)
        assert made.texts == expected.texts
        assert all(torch.equal(made.inputs[name], expected.inputs[name]) for name in expected.inputs)


def test_no_more_batches_are_made_ahead_than_there_are_workers(monkeypatch):
    from egobench_tasks.hosts.lighteval.vision import ahead

    begun = []
    monkeypatch.setattr(ahead, "prepare", lambda maker, batch: begun.append(batch) or batch)
    made = ahead.prepared_ahead(None, [[number] for number in range(9)], 0)
    assert next(made) == [0]
    time.sleep(0.2)
    assert len(begun) == 2
    made.close()
    assert len(begun) == 2


_PARENT = """
import sys, time
from multiprocessing import get_context
from egobench_tasks.hosts.lighteval.vision import ahead
if __name__ == "__main__":
    pool = ahead._processes(__import__("types").SimpleNamespace(processor=None), 2)
    pids = {pool.submit(__import__("os").getpid).result() for _ in range(2)}
    print(*pids, flush=True)
    time.sleep(600)
"""


@pytest.mark.slow
def test_workers_die_with_a_parent_that_is_killed(tmp_path):
    script = tmp_path / "parent.py"
    script.write_text(_PARENT)
    parent = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True)
    workers = [int(pid) for pid in parent.stdout.readline().split()]
    assert workers
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    deadline = time.monotonic() + 20
    while any(_is_alive(pid) for pid in workers):
        assert time.monotonic() < deadline, "a worker outlived its parent"
        time.sleep(0.1)


def _is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
