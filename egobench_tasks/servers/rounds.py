"""Many questions of one server: several at a time, each taken by one worker, given up where the server is down."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from enum import Enum, auto
from typing import TypeVar

from egobench_tasks import stopping
from egobench_tasks.servers.client import ServerClient

GIVE_UP_AFTER = 16
"""So many outages in a row, each tried again ``max_retries`` times, and the server is down or misconfigured: trying
all other questions too would take hours of timeouts."""

Item = TypeVar("Item")


class Outcome(Enum):
    """What asking one question says of the server."""

    ALIVE = auto()  # it replied, if only to refuse this one question
    OUTAGE = auto()
    NOT_ASKED = auto()  # a clip that cannot be read, a question that another run asks


async def ask_all(
    ask_one: Callable[[Item], Awaitable[Outcome]], items: Iterable[Item], client: ServerClient
) -> list[Item]:
    """Run ``ask_one`` on all items, in as many lanes as the client allows; return those that were given up unasked.

    After SIGTERM no further item is taken, and those under way are waited for, unless they only wait themselves.

    Raises the first error that is none of a request: a defect, or a full disk.
    """
    waiting = list(items)
    waiting.reverse()
    outages_in_a_row = 0
    give_up_after = give_up_limit(client)

    def is_over() -> bool:
        return not waiting or outages_in_a_row >= give_up_after or stopping.is_asked()

    async def work() -> None:
        nonlocal outages_in_a_row
        while not is_over():
            async with client.lane():
                if is_over():
                    return
                item = waiting.pop()
                try:
                    outcome = await ask_one(item)
                except stopping.Stopped:
                    waiting.append(item)
                    return
            if outcome is Outcome.OUTAGE:
                outages_in_a_row += 1
            elif outcome is Outcome.ALIVE:
                outages_in_a_row = 0

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(client.settings.most_at_once, len(waiting))):
                group.create_task(work())
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None
    return waiting[::-1]


def give_up_limit(client: ServerClient) -> int:
    """How many outages in a row end a round: as many as are under way at once may be one and the same."""
    concurrency = client.settings.concurrency
    return max(GIVE_UP_AFTER, concurrency) if isinstance(concurrency, int) else GIVE_UP_AFTER
