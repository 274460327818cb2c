"""When the next request may start: the limit a minute, the server's own word, and how many may be under way."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from egobench_tasks import stopping

_FIRST_BACKOFF_S = 0.5
_MAX_BACKOFF_S = 60.0
_LOOK_S = 1.0


async def rest(seconds: float) -> None:
    """Sleep, but no longer than a run may: raises `Stopped` within a second of SIGTERM."""
    stopping.check()
    ends_s = asyncio.get_running_loop().time() + seconds
    while (left_s := ends_s - asyncio.get_running_loop().time()) > 0:
        await asyncio.sleep(min(left_s, _LOOK_S))
        stopping.check()


class Pace:
    """Lets requests start one after another, evenly spaced, and none before a pause is over."""

    def __init__(self, requests_per_minute: float | None) -> None:
        self._gap_s = 60 / requests_per_minute if requests_per_minute else 0.0
        self._earliest_s = 0.0
        self._queue = asyncio.Lock()

    async def turn(self) -> None:
        """Wait until the next request may start. Raises `Stopped` where the run is to end first."""
        now_s = asyncio.get_running_loop().time
        async with self._queue:
            while (wait_s := self._earliest_s - now_s()) > 0:  # again: a pause may have come meanwhile
                await rest(wait_s)
            self._earliest_s = now_s() + self._gap_s

    def pause(self, seconds: float) -> None:
        """Start nothing for so long: a server that is overloaded for one request is so for all."""
        self._earliest_s = max(self._earliest_s, asyncio.get_running_loop().time() + seconds)

    @property
    def pause_left_s(self) -> float:
        """Seconds until the next request may start; 0 where it may now."""
        return max(0.0, self._earliest_s - asyncio.get_running_loop().time())


def backoff_s(n_failures: int) -> float:
    """Seconds to wait after the n-th failure of a request: 0.5, 1, 2 … 60, each less up to a quarter at random,
    so that requests that failed together do not come back together."""
    doubled: float = _FIRST_BACKOFF_S * 2.0 ** min(n_failures - 1, 16)
    return min(doubled, _MAX_BACKOFF_S) * random.uniform(0.75, 1.0)


class Lanes:
    """How many may be under way at once: up while it goes well, half on a refusal, never over ``most``.

    The first rise is by one a success, which doubles the number a round; after the first fall it is by one a round.
    """

    def __init__(self, most: int, at_first: int) -> None:
        self._width = _Width(most, float(min(at_first, most)))
        self._open = 0
        self._changed = asyncio.Condition()

    def of_the_same_width(self) -> "Lanes":
        """Return lanes of another kind that are as many, and change with these."""
        other = Lanes(1, 1)
        other._width = self._width
        return other

    @asynccontextmanager
    async def one(self) -> AsyncIterator[None]:
        """Wait for a lane and hold it."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._open < int(self._width.now))
            self._open += 1
        try:
            yield
        finally:
            async with self._changed:
                self._open -= 1
                self._changed.notify_all()

    def went_well(self) -> None:
        """Allow more, up to the most."""
        width = self._width
        width.now = min(float(width.most), width.now + (1 / width.now if width.has_fallen else 1.0))

    def went_badly(self) -> None:
        """Allow half as many, but one."""
        self._width.has_fallen = True
        self._width.now = max(1.0, self._width.now / 2)


@dataclass(slots=True)
class _Width:
    most: int
    now: float
    has_fallen: bool = False
