"""How glibc's malloc treats memory that is freed (mallopt(3)); with another C library everything here does nothing."""

import contextlib
import ctypes

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_MMAP_MAX = -1, -3, -4  # of <malloc.h>
_OWN_PAGES_BYTES = 128 * 1024  # glibc's first value of M_MMAP_THRESHOLD


def give_back_large_buffers() -> bool:
    """Give buffers of 128 KiB and more pages of their own for good; returns whether the C library can.

    glibc does so at first, and raises the size with every such buffer that is freed. The next ones then lie between
    small lasting ones, in memory that is never given back, and a run that sends megabytes a request grows
    (`tests/bench/endpoint.py` measures it).
    """
    return _set(_M_MMAP_THRESHOLD, _OWN_PAGES_BYTES)


def keep_freed_memory() -> bool:
    """Let this process use freed memory again, not give it back to the system; returns whether the C library can.

    Each large tensor would be pages anew, which the kernel fills with zeros: more work than the inputs themselves.
    The process stays as large as it ever was.
    """
    return _set(_M_MMAP_MAX, 0) and _set(_M_TRIM_THRESHOLD, -1)


def _set(parameter: int, value: int) -> bool:
    with contextlib.suppress(AttributeError, OSError, TypeError):
        return bool(ctypes.CDLL(None).mallopt(parameter, value))
    return False
