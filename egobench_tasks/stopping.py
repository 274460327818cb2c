"""SIGTERM ends a run at its next question, not in the middle of one: batch systems send it before they kill.

It is noted here, and looked at wherever a run is about to ask, or waits.
"""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

from egobench_tasks.errors import EgobenchError

STOPPED_EXIT_CODE = 75
"""EX_TEMPFAIL of sysexits.h, "try again later": no shell, signal or other end of ours gives it."""

_STDERR = 2

_is_asked = False


class Stopped(EgobenchError):
    """A run ended before it was through because SIGTERM asked for it. What it has is kept."""

    exit_code = STOPPED_EXIT_CODE


@contextmanager
def ending_on_sigterm() -> Iterator[None]:
    """Within it, SIGTERM is a wish to end soon (`is_asked`). For the main thread."""
    global _is_asked
    before, _is_asked = signal.signal(signal.SIGTERM, _note), False
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
        _is_asked = False


def is_asked() -> bool:
    """Whether SIGTERM has come."""
    return _is_asked


def check() -> None:
    """Raise `Stopped` where SIGTERM has come."""
    if _is_asked:
        end()


def end() -> NoReturn:
    """Raise `Stopped` in general words."""
    raise Stopped("ended on SIGTERM; what is finished is kept, and the same command goes on from there")


def stopped(n_done: int, n_all: int, noun: str, where: object, *, fresh: bool) -> Stopped:
    """Return the error that says what is kept where, and how to go on; ``fresh``: the run was told to begin anew."""
    same = "the same command without --fresh" if fresh else "the same command"
    return Stopped(f"ended on SIGTERM: {n_done} of {n_all} {noun} are kept in {where}; {same} goes on from there")


def _note(number: int, frame: FrameType | None) -> None:
    global _is_asked
    if not _is_asked:
        # print() may be what was interrupted, and is not to be entered twice.
        os.write(_STDERR, b"\negobench: SIGTERM: ending at the next question\n")
    _is_asked = True
