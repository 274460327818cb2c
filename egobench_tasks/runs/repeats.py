"""Asking every question several times: how often, whether the answers can differ at all, and under which keys."""

import os
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from egobench_tasks.errors import InputError

_Number = TypeVar("_Number", int, float)

REPEATS_VARIABLE = "EGOBENCH_REPEATS"
"""Holds how often each question is asked. A variable, so that it reaches every process of ``accelerate launch``."""


def current_repeats(environ: Mapping[str, str] = os.environ) -> int:
    """Return how often ``EGOBENCH_REPEATS`` asks for each question; 1 where it is not set. Raises ``InputError``."""
    text = environ.get(REPEATS_VARIABLE, "1").strip() or "1"
    if not (text.isascii() and text.isdecimal() and int(text) >= 1):
        raise InputError(
            f"{REPEATS_VARIABLE}: how often each question is asked is a whole number from 1 up; got {text!r}"
        )
    return int(text)


def check_repeats(n_repeats: int, temperature: float | None, seed: int | None, remedy: str) -> None:
    """Refuse repeats that could only say the same again: several at temperature 0, without a seed to tell them apart.

    ``temperature`` None is a server's own, which is rarely 0. ``remedy`` says where a temperature is set. Raises
    ``InputError``, also for a number of repeats below 1.
    """
    if n_repeats < 1:
        raise InputError(f"each question is asked once at least; got {n_repeats} repeats")
    if n_repeats > 1 and temperature == 0 and seed is None:
        raise InputError(
            f"{n_repeats} repeats at temperature 0 would give one answer {n_repeats} times: set {remedy}, "
            "or leave repeats out"
        )


def keyed_rows(rows: Sequence[Mapping[str, Any]], repeat: int) -> list[Mapping[str, Any]]:
    """Return what the key of an answer's journal entry is made of, beside model and frames (`journal.question_key`).

    ``rows`` are the message (`asking.messages.to_record`), ``repeat`` counts from 0. The first answer's key is that of
    a question asked once: a run with repeats begins with what an earlier one has.
    """
    return [*rows] if repeat == 0 else [*rows, {"repeat": repeat}]


def total(counts: Sequence[_Number | None]) -> _Number | None:
    """Return the sum over a question's repeats; None where one of them was not counted."""
    known = [count for count in counts if count is not None]
    if not known or len(known) < len(counts):
        return None
    return sum(known[1:], start=known[0])
