import asyncio
import time

from egobench_tasks.servers.pace import Pace, backoff_s


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
