"""Who is at work on which question, so that two runs on one journal ask each once.

A claim is a lease: a small file that its holder renews. One whose holder was killed is over at once on the same
machine, and elsewhere once it has not been renewed for `LEASE_S`. Leases need neither the file system's locks nor
clocks that agree.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from filelock import Timeout

from egobench_tasks.files import make_private_folder
from egobench_tasks.locks import Lease
from egobench_tasks.servers.client import SILENCE_S, tell

LEASE_S = 60.0
BEING_ASKED = "{} questions are being asked by"
"""Words for `Claims.pauses`."""

_TORN_S = 10.0
"""How long a claim may lack its holder's name: whoever makes one writes it at once."""

_LOOK_AGAIN_S = 1.0
"""How often to look whether another run has answered what it has claimed."""


class Claims:
    """The claims of one journal or store, in a folder of their own. For use in one thread."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        # Kept between tries: how long a claim of another machine's has not been renewed is what one lease has seen.
        self._leases: dict[str, Lease] = {}
        self._empty_since_s: dict[str, float] = {}

    @contextmanager
    def claim(self, key: str) -> Iterator[bool]:
        """Hold the claim on a key, if it is free: yields whether it is held now.

        Raises ``OSError`` where the folder cannot be written.
        """
        make_private_folder(self.folder)
        lease = self._leases.setdefault(key, Lease(self._path(key), lease_duration=LEASE_S, timeout=0))
        if lease.is_locked or not _acquired(lease):  # by this run itself, or by another
            self._end_torn(key)
            yield False
            return
        try:
            yield True
        finally:
            lease.release()
            self._leases.pop(key)

    def is_free(self, key: str) -> bool:
        """Whether a key can be claimed now: nobody holds it, or whoever did has ended."""
        with self.claim(key) as is_ours:
            return is_ours

    def _end_torn(self, key: str) -> None:
        """End a claim whose holder was killed between making its file and writing into it: to filelock an empty one is
        held for ever. How long it has been empty is what this object has seen: clocks need not agree."""
        try:
            is_empty = self._path(key).stat().st_size == 0
        except OSError:
            is_empty = False
        if not is_empty:
            self._empty_since_s.pop(key, None)
        elif time.monotonic() - self._empty_since_s.setdefault(key, time.monotonic()) >= _TORN_S:
            self._path(key).unlink(missing_ok=True)
            self._empty_since_s.pop(key)

    def holder(self, key: str) -> str:
        """Who holds a key, in words for people: the process and its machine."""
        try:
            lines = self._path(key).read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            lines = []
        facts = dict(line.split("=", 1) for line in lines if "=" in line)
        return f"process {facts['pid']} on {facts['host']}" if {"pid", "host"} <= facts.keys() else "another run"

    def pauses(self, left: Callable[[], Sequence[str]], words: Callable[[int], str]) -> Iterator[float]:
        """Yield the seconds to sleep before looking again, until a key is free to be claimed, or none is left.

        Says once a minute what is waited for, and who is at it.

        Args:
            left: the keys that are still waited for.
            words: what is said of so many, before who is at it: "3 questions are being asked by".
        """
        n_waited = 0
        while (keys := left()) and not any(map(self.is_free, keys)):
            if n_waited * _LOOK_AGAIN_S % SILENCE_S == 0:
                tell(f"{words(len(keys))} {self.holder(keys[0])}; waiting for it")
            yield _LOOK_AGAIN_S
            n_waited += 1

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.claim"


def _acquired(lease: Lease) -> bool:
    try:
        lease.acquire()
    except Timeout:
        return False
    return True
