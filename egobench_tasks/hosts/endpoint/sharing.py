"""Questions of a journal on which other runs may be at work too: each is asked once, by whoever claims it first."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from egobench_tasks.runs.claims import BEING_ASKED, Claims
from egobench_tasks.servers.client import ServerClient
from egobench_tasks.servers.pace import rest
from egobench_tasks.servers.rounds import Outcome, ask_all

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

    Raises `Stopped` where SIGTERM ends the waiting.

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

    def without_answer() -> list[Item]:
        return [item for item in left if not is_answered(item)]

    while items:
        given_up = await ask_all(claimed, items, client)
        if given_up:
            return given_up + left
        for pause_s in claims.pauses(lambda: list(map(key, without_answer())), BEING_ASKED.format):
            await rest(pause_s)
        items, left = without_answer(), []
    return []
