"""Locks between processes, with the file system's own locks where it has them and leases where it has none.

A lease is a small file that its holder renews. One thread renews all leases of a process: filelock starts one a lease,
and where thousands are taken in a run, memory grows with the threads that come and go.
"""

import contextlib
import errno
import os
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, SoftFileLease, Timeout

from egobench_tasks.files import is_shared

_NO_LOCKS = frozenset({errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP})
_LOCK_LEASE_S = 60.0


class Lease(SoftFileLease):
    """filelock's lease, renewed by the process's one thread.

    Where a later filelock starts its threads elsewhere, it is a thread a lease again, and nothing else changes.
    """

    def _start_heartbeat(self, claim: object, fd: int, identity: tuple[int, int], token: str) -> None:
        _RENEWAL.add(token, _Held(self.lock_file, fd, identity, self._heartbeat_interval, time.monotonic()))

    def _stop_heartbeat(self) -> None:
        if self.token is not None:
            _RENEWAL.drop(self.token)


@dataclass(slots=True)
class _Held:
    """One lease that is held: its open file, and the device and inode by which it is known to be still ours."""

    path: str
    handle: int
    identity: tuple[int, int]
    interval_s: float
    renewed_s: float

    @property
    def due_s(self) -> float:
        return self.renewed_s + self.interval_s

    def renew(self) -> None:
        """Set its time to now; one that another has taken meanwhile stays as it is, and a disk may fail for once."""
        self.renewed_s = time.monotonic()
        with contextlib.suppress(OSError):
            there = os.lstat(self.path)
            if (there.st_dev, there.st_ino) == self.identity:
                os.utime(self.handle)


class _Renewal:
    """Renews every lease of this process in time, in one thread that begins with the first."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._held: dict[str, _Held] = {}
        self._wakes_s: float | None = None
        self._thread: threading.Thread | None = None

    def add(self, token: str, held: _Held) -> None:
        with self._changed:
            self._held[token] = held
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="egobench-leases", daemon=True)
                self._thread.start()
            if self._wakes_s is None or held.due_s < self._wakes_s:
                self._changed.notify()

    def drop(self, token: str) -> None:
        """Renew a lease no more. On return its file is not in use here, and can be closed."""
        with self._changed:
            self._held.pop(token, None)

    def _run(self) -> None:
        with self._changed:
            while True:
                now_s = time.monotonic()
                for held in self._held.values():
                    if held.due_s <= now_s:
                        held.renew()
                self._wakes_s = min((held.due_s for held in self._held.values()), default=None)
                self._changed.wait(None if self._wakes_s is None else self._wakes_s - time.monotonic())


def _forget_parents() -> None:
    """A forked process holds none of its parent's leases, nor has it the thread that renews them."""
    global _RENEWAL
    _RENEWAL = _Renewal()


_RENEWAL = _Renewal()
os.register_at_fork(after_in_child=_forget_parents)


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Hold the lock file ``path``, waiting for whoever holds it; a killed process holds none.

    Where the file system has no locks, a lease stands for one: it ends a minute after its holder did, on whichever
    machine that was.
    """
    with _lock(path, timeout_s=-1):
        yield


@contextmanager
def try_exclusive(path: Path) -> Iterator[bool]:
    """As `exclusive`, without waiting: yields whether the lock is held."""
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(_lock(path, timeout_s=0))
        except Timeout:
            yield False
            return
        yield True


def _lock(path: Path, timeout_s: float) -> AbstractContextManager[object]:
    mode = 0o660 if is_shared(path.parent) else 0o644
    try:
        return FileLock(path, mode=mode).acquire(timeout=timeout_s)
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
    lease = path.with_name(f"{path.name}.lease")
    with contextlib.suppress(OSError):  # whoever was killed before it wrote its name would hold it for ever
        found = lease.stat()
        if found.st_size == 0 and time.time() - found.st_mtime > _LOCK_LEASE_S:
            lease.unlink()
    return Lease(lease, lease_duration=_LOCK_LEASE_S, mode=mode).acquire(timeout=timeout_s)
