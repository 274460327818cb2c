"""Is it still the same model? Some kept questions are asked again, and what comes back is compared.

A name says little: a server of the same name may hold other weights. Served models are not deterministic to the bit,
even at temperature 0: batches add floats in another order, and a choice between two near-equal tokens falls the other
way. So one difference says nothing, and several of a few do. The rule: where more than a third of the questions come
back otherwise, and at least two of two or more, it is another model. Of eight, three must differ: where one answer in
twenty flips by itself that happens in 0.6 % of the checks (one in ten: 3.8 %), and two models that agree on half of the
questions are told apart in 86 %. Where a model samples (temperature above 0) its own answers vary, and more than two
thirds must differ.
"""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Generic, TypeVar

Kept = TypeVar("Kept")

_N_ASKED, _N_ASKED_IN_ALL = 8, 24


@dataclass(frozen=True, slots=True)
class Comparison(Generic[Kept]):
    """One kept item and what came back for it."""

    kept: Kept
    again: Kept
    same: bool


@dataclass(frozen=True, slots=True)
class Recheck(Generic[Kept]):
    """What asking again has shown. ``sampled``: whether the model draws its answers at random."""

    comparisons: tuple[Comparison[Kept], ...]
    sampled: bool = False

    @property
    def different(self) -> tuple[Comparison[Kept], ...]:
        """Those that came back otherwise."""
        return tuple(comparison for comparison in self.comparisons if not comparison.same)

    @property
    def another_kind(self) -> bool:
        """Whether these are another model's answers (see the module)."""
        n_asked, n_different = len(self.comparisons), len(self.different)
        return 3 * n_different > n_asked * (2 if self.sampled else 1) and n_different >= min(2, n_asked)


def n_each(n_servers: int) -> int:
    """How many of each server's answers to ask again, where those of so many are in doubt: eight, two at least."""
    return max(2, min(_N_ASKED, _N_ASKED_IN_ALL // n_servers))


def choose(kept: Mapping[str, Sequence[Kept]], key: Callable[[Kept], str], count: int) -> list[Kept]:
    """Return up to ``count`` kept items to ask again: of each session in turn, in an order that only their keys decide.

    ``kept``: items by the session that kept them.
    """

    def place(item: Kept) -> str:
        return hashlib.sha256(key(item).encode()).hexdigest()

    ordered = [sorted(kept[group], key=place) for group in sorted(kept)]
    turns = chain.from_iterable(zip_longest(*ordered))
    return [item for item in turns if item is not None][:count]


async def ask_again(
    kept: Sequence[Kept],
    ask: Callable[[Kept], Awaitable[Kept | None]],
    same: Callable[[Kept, Kept], bool],
    *,
    concurrency: int,
    sampled: bool = False,
) -> Recheck[Kept]:
    """Put kept items again, ``concurrency`` at a time, and compare; an item for which ``ask`` has None says nothing."""
    turns = asyncio.Semaphore(concurrency)

    async def compared(item: Kept) -> Comparison[Kept] | None:
        async with turns:
            again = await ask(item)
        return None if again is None else Comparison(item, again, same(item, again))

    comparisons = await asyncio.gather(*map(compared, kept))
    return Recheck(tuple(comparison for comparison in comparisons if comparison is not None), sampled)
