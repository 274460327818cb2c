"""Filling a store before a run: every clip once, on several processes."""

import multiprocessing
import os
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass

from tqdm import tqdm

from egobench_tasks.errors import EgobenchError
from egobench_tasks.frames.errors import ClipError
from egobench_tasks.frames.lazy import FrameRequest
from egobench_tasks.frames.store import FrameStore


@dataclass(frozen=True, slots=True)
class FillReport:
    """What a fill did: clips decoded now, clips that were there already, and those that do not decode."""

    decoded: int
    already_there: int
    failed: tuple[ClipError, ...]


def fill_store(requests: Iterable[FrameRequest], store: FrameStore, workers: int) -> FillReport:
    """Decode every clip that the store lacks; equal requests count once.

    A second run goes on where one was interrupted. A clip that does not decode is listed in the
    report, in the order of the requests, and stops nothing. Raises ``EgobenchError`` where a worker is
    killed from outside.
    """
    unique = list({(request.sha256, request.spec): request for request in requests}.values())
    missing = [request for request in unique if not store.holds(request.sha256, request.spec)]
    outcomes = dict(tqdm(_outcomes(missing, store, workers), total=len(missing), desc="frames", unit="clip"))
    failed = [outcomes[request] for request in missing]
    errors = tuple(error for error in failed if error is not None)
    return FillReport(len(missing) - len(errors), len(unique) - len(missing), errors)


def _outcomes(
    requests: list[FrameRequest], store: FrameStore, workers: int
) -> Iterator[tuple[FrameRequest, ClipError | None]]:
    if workers <= 1 or len(requests) <= 1:
        for request in requests:
            yield request, _fill_one(request, store)
        return
    # Fresh processes: forking one that has run threads (torch, libav) can leave a lock held for ever.
    pool = ProcessPoolExecutor(
        min(workers, len(requests)), mp_context=multiprocessing.get_context("spawn"), initializer=_end_with_parent
    )
    try:
        futures = {pool.submit(_fill_one, request, store): request for request in requests}
        for future in as_completed(futures):
            yield futures[future], future.result()
    except BrokenProcessPool as error:
        raise EgobenchError(
            f"{store.root}: a process that fills it was killed, perhaps for want of memory; "
            "what is finished stays: run it again, with fewer workers"
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


def _end_with_parent() -> None:
    """End this worker as soon as its parent has: a pool's workers would wait for ever for one that was killed."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _fill_one(request: FrameRequest, store: FrameStore) -> ClipError | None:
    try:
        store.get(request.path, request.sha256, request.spec)
    except ClipError as error:
        return error
    return None
