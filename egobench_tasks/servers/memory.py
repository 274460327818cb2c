"""Large buffers go back to the system when they are freed: a request's images are megabytes, and thousands are sent."""

import contextlib
import ctypes

_M_MMAP_THRESHOLD = -3  # of glibc's <malloc.h>
_OWN_PAGES_BYTES = 128 * 1024  # glibc's first value


def give_back_large_buffers() -> None:
    """Have glibc give buffers of 128 KiB and more pages of their own for good; elsewhere nothing happens.

    glibc does so at first, and raises the size with every such buffer that is freed (mallopt(3), M_MMAP_THRESHOLD). The
    next ones then lie between small lasting ones, in memory that is never given back, and a run grows
    (`tests/bench/endpoint.py` measures it).
    """
    with contextlib.suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, _OWN_PAGES_BYTES)
