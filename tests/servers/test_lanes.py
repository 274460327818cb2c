"""How many requests are under way at once, fixed and found out."""

import asyncio

from egobench_tasks.servers.pace import Lanes


def most_at_once(lanes, n_tasks=40):
    """Run tasks through the lanes and return how many were ever in them together."""
    lanes = lanes.of_the_same_width()  # a lane belongs to one event loop
    most = now = 0

    async def task():
        nonlocal most, now
        async with lanes.one():
            now += 1
            most = max(most, now)
            await asyncio.sleep(0.001)
            now -= 1

    async def run():
        await asyncio.gather(*(task() for _ in range(n_tasks)))

    asyncio.run(run())
    return most


def test_lanes_are_as_many_as_they_start_with():
    assert most_at_once(Lanes(most=32, at_first=4)) == 4


def test_more_while_it_goes_well_up_to_the_most():
    lanes = Lanes(most=10, at_first=4)
    for _ in range(100):
        lanes.went_well()
    assert most_at_once(lanes) == 10


def test_half_as_many_on_a_refusal_but_one_and_a_slow_way_back():
    lanes = Lanes(most=32, at_first=16)
    lanes.went_badly()
    assert most_at_once(lanes) == 8
    for _ in range(8):
        lanes.went_well()
    assert most_at_once(lanes) == 8  # a round of successes brings one back, or nearly
    lanes.went_well()
    assert most_at_once(lanes) == 9
    for _ in range(10):
        lanes.went_badly()
    assert most_at_once(lanes) == 1


def test_lanes_of_the_same_width_change_together():
    lanes = Lanes(most=8, at_first=8)
    others = lanes.of_the_same_width()
    others.went_badly()
    assert most_at_once(lanes) == most_at_once(others) == 4


def test_a_lane_that_was_given_back_is_free_again():
    lanes = Lanes(most=1, at_first=1).of_the_same_width()

    async def run():
        for _ in range(3):
            async with lanes.one():
                pass

    asyncio.run(asyncio.wait_for(run(), 5))
