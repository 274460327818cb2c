"""Which questions this process asks, when a run is spread over machines."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from egobench_tasks.errors import InputError

SHARD_VARIABLE = "EGOBENCH_SHARD"
"""Holds ``i/n``. A variable, so that it reaches every process of ``accelerate launch``."""

_FORM = re.compile(r"([1-9][0-9]*)/([1-9][0-9]*)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Shard:
    """Part ``index`` of ``count``, counted from 1."""

    index: int
    count: int

    def __str__(self) -> str:
        return f"{self.index}/{self.count}"

    def rows(self, question_ids: Sequence[str]) -> list[int]:
        """Return the rows of this part, ascending: every count-th question in the order of the ids.

        The parts of one count are disjoint and cover everything, whatever order the rows come in.
        """
        by_id = sorted(range(len(question_ids)), key=lambda row: question_ids[row])
        return sorted(by_id[self.index - 1 :: self.count])


def parse_shard(text: str) -> Shard:
    """Read ``i/n`` with 1 <= i <= n. Raises ``InputError`` for anything else."""
    match = _FORM.fullmatch(text.strip())
    shard = Shard(int(match[1]), int(match[2])) if match else None
    if shard is None or shard.index > shard.count:
        raise InputError(f"a shard is given as i/n with 1 <= i <= n, such as 2/4; got {text!r}")
    return shard


def current_shard(environ: Mapping[str, str] = os.environ) -> Shard | None:
    """Return the shard that ``EGOBENCH_SHARD`` names, or None where all questions are asked."""
    text = environ.get(SHARD_VARIABLE)
    return parse_shard(text) if text else None
