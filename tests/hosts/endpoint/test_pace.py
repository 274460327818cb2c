import asyncio
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from egobench_tasks.hosts.endpoint.pace import Pace, backoff_s, retry_after_s

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, None),
        ("7", 7),
        ("0.5", 0.5),
        ("-3", 0),
        ("99999", 3600),
        ("nan", None),
        ("soon", None),
        (format_datetime(NOW + timedelta(seconds=9), usegmt=True), 9),
        (format_datetime(NOW - timedelta(seconds=9), usegmt=True), 0),
    ],
)
def test_retry_after_in_both_forms(value, seconds):
    assert retry_after_s({} if value is None else {"retry-after": value}, NOW) == seconds


def test_backoff_doubles_up_to_a_minute_less_some_jitter():
    for n_failures, full_s in [(1, 0.5), (2, 1), (3, 2), (8, 60), (1000, 60)]:
        drawn = [backoff_s(n_failures) for _ in range(50)]
        assert 0.75 * full_s <= min(drawn) <= max(drawn) <= full_s
        assert len(set(drawn)) > 1


def test_a_pause_holds_back_those_who_wait_already():
    async def starts():
        pace, begun, times = Pace(600), time.monotonic(), []

        async def start():
            await pace.turn()
            times.append(time.monotonic() - begun)

        tasks = [asyncio.create_task(start()) for _ in range(4)]
        await asyncio.sleep(0.05)
        pace.pause(0.5)
        await asyncio.gather(*tasks)
        return times

    times = asyncio.run(starts())
    assert times[0] < 0.05
    for index, expected_s in enumerate([0.55, 0.65, 0.75], start=1):
        assert expected_s - 0.01 <= times[index] <= expected_s + 0.3
