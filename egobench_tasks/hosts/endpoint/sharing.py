"""Questions of a journal on which other runs may be at work too: each is asked once, by whoever claims it first."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from egobench_tasks.runs.claims import Claims
from egobench_tasks.servers.client import SILENCE_S, ServerClient, tell
from egobench_tasks.servers.rounds import Outcome, ask_all

_LOOK_AGAIN_S = 1.0
"""How often to look whether another run has answered what it has claimed."""

Item = TypeVar("Item")


async def ask_shared(
    ask_one: Callable[[Item], Awaitable[Outcome]],
    items: Sequence[Item],
    client: ServerClient,
    claims: Claims,
    key: Callable[[Item], str],
    is_answered: Callable[[Item], bool],
) -> list[Item]:
    """Ask all items but those that other runs are asking, and wait for theirs; return those that were given up.

    Args:
        ask_one: asks one item whose claim is held.
        items: in the order in which they are to be asked.
        client: of the server.
        claims: the journal's.
        key: an item's claim.
        is_answered: whether an item has its answer by now, another run's counted.
    """
    left: list[Item] = []

    async def claimed(item: Item) -> Outcome:
        with claims.claim(key(item)) as is_ours:
            if not is_ours:
                left.append(item)
                return Outcome.NOT_ASKED
            return Outcome.ALIVE if is_answered(item) else await ask_one(item)

    while items:
        given_up = await ask_all(claimed, items, client)
        if given_up:
            return given_up + left
        items, left = await _let_go(left, claims, key, is_answered), []
    return []


async def _let_go(
    items: Sequence[Item], claims: Claims, key: Callable[[Item], str], is_answered: Callable[[Item], bool]
) -> list[Item]:
    """Wait for other runs' answers until there are all, or a claim is free again; return the items without one."""
    waited_s = 0.0
    while True:
        items = [item for item in items if not is_answered(item)]
        if not items or any(claims.is_free(key(item)) for item in items):
            return list(items)
        if waited_s % SILENCE_S == 0:
            tell(f"{len(items)} questions are being asked by {claims.holder(key(items[0]))}; waiting for its answers")
        await asyncio.sleep(_LOOK_AGAIN_S)
        waited_s += _LOOK_AGAIN_S
