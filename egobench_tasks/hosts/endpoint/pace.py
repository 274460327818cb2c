"""When the next request may start: the limit a minute, the server's own word, and backoff."""

import asyncio
import math
import random
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_FIRST_BACKOFF_S = 0.5
_MAX_BACKOFF_S = 60.0
_MAX_RETRY_AFTER_S = 3600.0


class Pace:
    """Lets requests start one after another, evenly spaced, and none before a pause is over."""

    def __init__(self, requests_per_minute: float | None) -> None:
        self._gap_s = 60 / requests_per_minute if requests_per_minute else 0.0
        self._earliest_s = 0.0
        self._queue = asyncio.Lock()

    async def turn(self) -> None:
        """Wait until the next request may start."""
        now_s = asyncio.get_running_loop().time
        async with self._queue:
            while (wait_s := self._earliest_s - now_s()) > 0:  # again: a pause may have come meanwhile
                await asyncio.sleep(wait_s)
            self._earliest_s = now_s() + self._gap_s

    def pause(self, seconds: float) -> None:
        """Start nothing for so long: a server that is overloaded for one request is so for all."""
        self._earliest_s = max(self._earliest_s, asyncio.get_running_loop().time() + seconds)


def backoff_s(n_failures: int) -> float:
    """Seconds to wait after the n-th failure of a request: 0.5, 1, 2 … 60, each less up to a quarter at random,
    so that requests that failed together do not come back together."""
    doubled: float = _FIRST_BACKOFF_S * 2.0 ** min(n_failures - 1, 16)
    return min(doubled, _MAX_BACKOFF_S) * random.uniform(0.75, 1.0)


def retry_after_s(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Seconds that a Retry-After header asks for, given as a number or as a date; None without a usable one.

    More than an hour is cut to one: the next run asks again.
    """
    value = headers.get("retry-after")
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            date = parsedate_to_datetime(value)
        except ValueError:
            return None
        seconds = ((date if date.tzinfo else date.replace(tzinfo=UTC)) - (now or datetime.now(UTC))).total_seconds()
    return None if math.isnan(seconds) else min(max(seconds, 0.0), _MAX_RETRY_AFTER_S)
