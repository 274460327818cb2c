"""The errors a user can act on. Everything else is a defect and keeps its traceback."""

import errno
from collections.abc import Mapping


class EgobenchError(Exception):
    """A failure whose message says what went wrong, where, and what to do about it."""

    exit_code = 1


class InputError(EgobenchError):
    """What the user gave cannot be used: a file, a record, an option or a folder."""

    exit_code = 2


_REMEDIES: Mapping[int, str] = {
    errno.ENOSPC: "the disk is full: make room, or name another folder (--output-dir, EGOBENCH_CACHE)",
    errno.EDQUOT: "your quota is used up: make room, or name another folder (--output-dir, EGOBENCH_CACHE)",
    errno.EFBIG: "the file may not grow so large here: raise the limit (ulimit -f), or name another folder",
    errno.EROFS: "the file system is read-only: name another folder (--output-dir, EGOBENCH_CACHE, EGOBENCH_JOURNAL)",
    errno.EACCES: "you may not do that there: change the permissions, or name another folder (EGOBENCH_CACHE)",
    errno.EPERM: "you may not do that there: change the permissions, or name another folder (EGOBENCH_CACHE)",
    errno.ENOLCK: "the file system has no locks: name a folder on another one (EGOBENCH_CACHE, EGOBENCH_JOURNAL)",
    errno.ENOTDIR: "a file stands where a folder is needed: name another folder",
    errno.EISDIR: "a folder stands where a file is needed: name another file",
    errno.EEXIST: "it is there already, and not what is needed: name another folder",
    errno.EIO: "the disk fails: see the system's log, and name a folder on another one",
    errno.EMFILE: "this process has too many files open: raise the limit (ulimit -n 4096), or give less concurrency",
    errno.ENFILE: "this machine has too many files open: close some, or give less concurrency",
    errno.ENAMETOOLONG: "the path is too long for the file system: name a shorter one",
}


def machine_trouble(error: OSError) -> InputError | None:
    """Return a trouble of the machine's as a message that says what, where and what to do; None for any other error."""
    remedy = _REMEDIES.get(error.errno or 0)
    if remedy is None:
        return None
    where = f"{error.filename}: " if error.filename is not None else ""
    return InputError(
        f"{where}{error.strerror}; {remedy}. What is finished is kept: the same command goes on from there"
    )
