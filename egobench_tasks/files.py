"""Files and folders: nothing half written under its final name, nothing of a user's open to others by accident."""

import contextlib
import errno
import hashlib
import os
import stat
import time
import uuid
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import BinaryIO

from filelock import FileLock, SoftFileLease, Timeout

from egobench_tasks.errors import InputError

_NO_LOCKS = frozenset({errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP})
_LOCK_LEASE_S = 60.0
_ONLY_OWNER, _GROUP_WRITES = 0o700, 0o020


@contextmanager
def write_atomically(path: Path) -> Iterator[BinaryIO]:
    """Open a temporary file beside ``path``; on success sync it and rename it to ``path``.

    On an exception, or a kill, ``path`` stays as it was.
    """
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")
    try:
        with temporary.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):  # what failed is what to hear of, and not that this fails too
            temporary.unlink(missing_ok=True)
        raise


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, as 64 hex digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def inside(name: str) -> str:
    """Return a name with slashes as a relative path that stays below where it is put: ``../../x`` is ``x``."""
    return "/".join(part for part in name.split("/") if part not in ("", ".", "..")) or "unnamed"


def is_shared(folder: Path) -> bool:
    """Whether a folder was opened to its group on purpose: the group may write it (``chmod g+ws``).

    A folder in which anybody may write his own (``/tmp``) is not meant.
    """
    mode = folder.stat().st_mode
    return bool(mode & _GROUP_WRITES) and not mode & stat.S_ISVTX


def make_folder(folder: Path) -> None:
    """Make a folder and what is missing above it. In a shared folder it is as open as that one, whatever the umask."""
    _make(folder, stat.S_IRWXU | stat.S_IRWXG | stat.S_IRWXO)


def make_private_folder(folder: Path) -> None:
    """Make a folder for this user alone, unless it is made in a shared one; one that is there stays as it is."""
    _make(folder, _ONLY_OWNER)


def _make(folder: Path, mode: int) -> None:
    if folder.is_dir():
        return
    make_folder(folder.parent)
    try:
        folder.mkdir(mode)
    except FileExistsError:
        if not folder.is_dir():
            raise
        return  # another process was faster
    if is_shared(folder.parent):
        folder.chmod(stat.S_IMODE(folder.parent.stat().st_mode))


def create_private(path: Path) -> BinaryIO:
    """Create a file to append to, for this user alone, or for the group of a shared folder.

    Raises ``FileExistsError`` where there is one.
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o600)
    if is_shared(path.parent):
        os.fchmod(handle, stat.S_IMODE(path.parent.stat().st_mode) & 0o666)
    return os.fdopen(handle, "ab+")


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
    return SoftFileLease(lease, lease_duration=_LOCK_LEASE_S, mode=mode).acquire(timeout=timeout_s)


def check_output_folder(folder: Path) -> None:
    """Write for a moment where a folder is, or will be made. Raises ``InputError`` where that fails.

    Called before the work whose results are to lie there: a full or read-only disk must not show after a night.
    """
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    probe = there / f".{uuid.uuid4().hex}.tmp"
    try:
        with probe.open("xb") as file:
            file.write(b"x" * 4096)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise InputError(
            f"{folder}: results cannot be written there ({error.strerror or error}); name another folder"
        ) from error
    finally:
        with contextlib.suppress(OSError):
            probe.unlink(missing_ok=True)
