"""Files and folders: nothing half written under its final name, nothing of a user's open to others by accident."""

import contextlib
import hashlib
import os
import stat
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from egobench_tasks.errors import InputError

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
