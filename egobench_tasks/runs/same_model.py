"""Is the model behind an old name still the one whose work is kept? What has changed around it says whether to ask.

A served model is known by a name alone. Where its address, what the server says of it, or the day is another than when
its answers were kept, some of their questions are asked again (`recheck`): a server that came back elsewhere loses
nothing, and another model behind the name is not believed.
"""

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from egobench_tasks.errors import EgobenchError, InputError
from egobench_tasks.runs.recheck import Comparison, Recheck, ask_again, choose, n_each
from egobench_tasks.runs.record import utc_now
from egobench_tasks.runs.sessions import Place, Session, believed
from egobench_tasks.servers.models import read_model_list

Kept = TypeVar("Kept")

_SHOWN_CHARACTERS = 60
_RECENT_S, _SECOND_LOOK_S = 24 * 3600, 1.1


@dataclass(frozen=True, slots=True)
class Work(Generic[Kept]):
    """What a model's kept work is: answers, or a judge's verdicts.

    ``noun`` in the plural; ``key`` tells items apart; ``title`` and ``shown`` are of an item, for people; ``same``:
    whether two items of one question are as alike as one model's are. ``ways``: how a user can go on, a line each.
    """

    noun: str
    key: Callable[[Kept], str]
    title: Callable[[Kept], str]
    shown: Callable[[Kept], str]
    same: Callable[[Kept, Kept], bool]
    ways: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Model:
    """Who stands behind the name now: ``place``. ``concurrency``: requests at once; ``sampled``: see `recheck`."""

    name: str
    place: Place
    concurrency: int
    sampled: bool


async def find_place(look: Callable[[], Awaitable[str | None]], base_url: str, model: str) -> Place | None:
    """Say who serves a model, where and when; None where the server cannot be reached.

    ``look`` returns the body of ``GET /models``, empty where the server offers none, None where it is not there.
    """
    place, body = Place(address=base_url.rstrip("/"), day=utc_now()[:10]), await look()
    if body is None:
        return None
    served = read_model_list(body, model)
    if served.created_s is not None and abs(time.time() - served.created_s) < _RECENT_S:
        await asyncio.sleep(_SECOND_LOOK_S)  # many servers give the time of the look
        if read_model_list(await look() or "", model) != served:
            served = replace(served, created_s=None)
    return replace(place, served=served)


async def check_same_model(
    model: Model,
    work: Work[Kept],
    sessions: Mapping[str, Session],
    kept: Mapping[str, Sequence[Kept]],
    ask: Callable[[Kept], Awaitable[Kept | None]],
) -> tuple[frozenset[str], int]:
    """Return the sessions whose work is this model's, and how many kept items were asked again to see it.

    Args:
        model: who is there now.
        work: what is kept.
        sessions: those that kept it.
        kept: what this run would take, by its session.
        ask: puts an item again; None where that fails.

    Raises ``InputError`` where some are another model's, ``EgobenchError`` where none of a session can be asked again.
    """
    trusted = believed(sessions, model.place)
    doubted: dict[Place | None, dict[str, Sequence[Kept]]] = {}
    for stem, items in kept.items():
        if stem not in trusted:
            known = sessions[stem].place if stem in sessions else None
            doubted.setdefault(known.server if known else None, {})[stem] = items
    rechecks: dict[Place | None, Recheck[Kept]] = {}
    for server, items_of in doubted.items():
        chosen = choose(items_of, work.key, n_each(len(doubted)))
        print(
            f"asking for {len(chosen)} kept {work.noun} again: is {model.name} still the same model?", file=sys.stderr
        )
        rechecks[server] = await ask_again(chosen, ask, work.same, concurrency=model.concurrency, sampled=model.sampled)
        if not rechecks[server].comparisons:
            raise EgobenchError(
                f"{model.name} at {model.place} gives none of {len(chosen)} kept {work.noun} again; whether it is the "
                "model that gave them cannot be seen. Look at the server, and run the same command again"
            )
    if any(recheck.another_kind for recheck in rechecks.values()):
        raise InputError(_what_differs(model, work, {server: _count(doubted[server]) for server in doubted}, rechecks))
    return trusted | {stem for items_of in doubted.values() for stem in items_of}, sum(
        len(recheck.comparisons) for recheck in rechecks.values()
    )


def _count(items_of: Mapping[str, Sequence[Kept]]) -> int:
    return sum(map(len, items_of.values()))


def _what_differs(
    model: Model, work: Work[Kept], n_kept: Mapping[Place | None, int], rechecks: Mapping[Place | None, Recheck[Kept]]
) -> str:
    """Which work is whose, an example of how it differs, and how to go on."""
    lines = [f"{model.name} at {model.place} is another model than the one whose {work.noun} are kept under this name:"]
    for server, recheck in rechecks.items():
        says = "come back otherwise" if recheck.another_kind else "come back otherwise, no more than one model's own"
        lines.append(
            f"  {n_kept[server]} {work.noun} of {server or 'a server not written down'}: of {len(recheck.comparisons)} "
            f"asked again {len(recheck.different)} {says}"
        )
    example: Comparison[Kept] = next(
        item for recheck in rechecks.values() if recheck.another_kind for item in recheck.different
    )
    lines += [
        f"  such as {work.title(example.kept)}: kept {work.shown(example.kept)}, now {work.shown(example.again)}",
        f"None of the kept {work.noun} was taken for this model's, and none is lost. To go on:",
        "  serve the earlier model again, or",
        *(f"  {way}" for way in work.ways),
    ]
    return "\n".join(lines)


def in_short(text: str) -> str:
    """Return a text in quotes, its beginning where it is long."""
    text = text.strip()
    return repr(text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "…")
