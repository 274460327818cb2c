"""Batches made ahead of the model, so that an accelerator never waits for frames.

One thread is enough for a short run, and starts at once. Where there is much to make, processes do it: processors
hold Python's lock for much of their work, and the thread that feeds the accelerator needs it.
"""

import itertools
import logging
import multiprocessing
import os
import pickle
import shutil
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.multiprocessing  # teaches multiprocessing to send tensors by shared memory

from egobench_tasks.errors import EgobenchError
from egobench_tasks.hosts.lighteval.vision.buffers import Buffers, Lent, received
from egobench_tasks.hosts.lighteval.vision.inputs import InputMaker
from egobench_tasks.hosts.lighteval.vision.memory import available_bytes, with_peak
from egobench_tasks.hosts.lighteval.vision.pieces import make_in
from egobench_tasks.hosts.lighteval.vision.prepare import Prepared, Question, prepare
from egobench_tasks.malloc import keep_freed_memory

logger = logging.getLogger(__name__)

AHEAD_BYTES = 16 * 2**30
"""What workers' buffers may fill, in all."""

PROCESSES_ABOVE_S = 60.0
"""How long one thread would have to work before processes, each seconds in starting, are worth it."""

_MAX_WORKERS = 8
_KEPT = 1.25
"""A worker's peak over that of a process which gives freed memory back (Gemma 3 at 4 questions: 4.7 GB over 3.8)."""
_BUFFERS = 2
"""Batches that a worker holds: the one it makes, and one that waits or is in use."""
_SHARED_MEMORY = Path("/dev/shm")


@dataclass(frozen=True, slots=True)
class Cost:
    """What one batch costs: the time of one thread to make it, the bytes it fills, and those it takes while made."""

    seconds: float
    n_bytes: int
    peak_bytes: int


def measured(make: Callable[[], Prepared]) -> tuple[Prepared, Cost]:
    """Return the batch that ``make`` makes, and what it cost."""
    begun_s = time.monotonic()
    made, peak_bytes = with_peak(make)
    return made, Cost(time.monotonic() - begun_s, made.n_bytes, peak_bytes)


def workers_for(cost: Cost, n_batches: int, n_processes: int, n_cpus: int | None = None) -> int:
    """Return how many processes are to make the batches; 0 stands for one thread.

    ``n_processes``: how many processes of this run share the machine's processors and memory (accelerate's).
    """
    if cost.seconds * n_batches < PROCESSES_ABOVE_S:
        return 0
    cores = (n_cpus or len(os.sched_getaffinity(0))) // n_processes
    waiting = _room_bytes() // n_processes // max(_BUFFERS * cost.n_bytes, 1)
    # Processors hold a batch several times while they make it; its last place, counted in their peak, is a buffer here.
    a_worker_bytes = int(_KEPT * cost.peak_bytes) + (_BUFFERS - 1) * cost.n_bytes
    in_the_making = available_bytes() // n_processes // max(a_worker_bytes, 1)
    return max(0, min(cores, waiting, in_the_making, n_batches, _MAX_WORKERS))


def _room_bytes() -> int:
    """What may be held ahead. Tensors come from other processes through shared memory, which containers keep small."""
    shared = shutil.disk_usage(_SHARED_MEMORY).free // 2 if _SHARED_MEMORY.is_dir() else AHEAD_BYTES
    return min(AHEAD_BYTES, shared)


def prepared_ahead(maker: InputMaker, batches: Iterable[Sequence[Question]], workers: int) -> Iterator[Prepared]:
    """Return the batches' inputs in order, made by ``workers`` processes, or by a thread where that is 0.

    They are begun at once, and drawn as they are begun. Beside the batch in use, as many as there are workers are in
    the making or waiting; no more. Raises what making one raises, and ``EgobenchError`` where a worker is killed from
    outside.
    """
    if workers and can_travel(maker):
        executor = _processes(maker, workers)
    else:
        executor = ThreadPoolExecutor(1, initializer=_begin, initargs=(maker,))
    n_ahead = max(workers, 1)
    further = iter(batches)
    waiting = deque(executor.submit(_prepare, batch) for batch in itertools.islice(further, n_ahead))
    return _in_order(executor, waiting, further)


def _in_order(
    executor: Executor, waiting: deque[Future[Lent]], further: Iterator[Sequence[Question]]
) -> Iterator[Prepared]:
    try:
        while waiting:
            made = [received(waiting.popleft().result())]
            waiting.extend(executor.submit(_prepare, batch) for batch in itertools.islice(further, 1))
            yield made.pop()  # nothing here holds it any longer
    except BrokenProcessPool as error:
        raise EgobenchError(
            "a process that makes the model's inputs was killed, perhaps for want of memory; what was answered is "
            "kept: run it again, with a smaller batch_size"
        ) from error
    finally:
        executor.shutdown(cancel_futures=True)


def can_travel(maker: InputMaker) -> bool:
    """Whether other processes can be given the maker: a processor with code of its own may not allow it."""
    try:
        pickle.dumps(maker)
    except Exception as error:
        logger.warning(f"inputs are made in a thread, since the processor cannot be sent to processes ({error})")
        return False
    return True


def _processes(maker: InputMaker, workers: int) -> Executor:
    # Fresh processes: forking one that has run threads (torch, libav) can leave a lock held for ever. A server that
    # has imported transformers once forks them in no time.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    return ProcessPoolExecutor(workers, mp_context=context, initializer=_begin_process, initargs=(maker,))


_own = threading.local()
"""What this worker has, a thread or a process: the maker, sent once, not with every batch; a process's buffers."""


def _begin(maker: InputMaker) -> None:
    _own.maker = maker


def _begin_process(maker: InputMaker) -> None:
    keep_freed_memory()
    torch.set_num_threads(1)  # the workers are as many as the processors already
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # batch systems send it to all; the run says when it is over
    threading.Thread(target=_die_with_parent, daemon=True).start()
    _begin(maker)
    _own.buffers = Buffers()
    make_in(maker, _own.buffers.empty)


def _die_with_parent() -> None:
    """A killed run tells its workers nothing; they would wait for batches for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _prepare(batch: Sequence[Question]) -> Lent:
    buffers: Buffers | None = getattr(_own, "buffers", None)
    if buffers is None:
        return Lent(prepare(_own.maker, batch))
    buffers.begin()
    return buffers.lend(prepare(_own.maker, batch))
