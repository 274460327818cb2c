"""Documents that are asked several times: each repeat is a document of its own until all are answered."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from lighteval.tasks.requests import Doc

from egobench_tasks.hosts.lighteval.generation import Generation, repeated
from egobench_tasks.runs.repeats import keyed_rows

_REPEAT = "repeat"


def with_repeats(docs: Sequence[Doc], n_repeats: int) -> list[Doc]:
    """Return every document ``n_repeats`` times: all of them once, then all again."""
    again = (replace(doc, specific={**doc.specific, _REPEAT: n}) for n in range(1, n_repeats) for doc in docs)
    return [*docs, *again]


def joined(generations: Sequence[Generation], n_docs: int) -> list[Generation]:
    """Return one response a document, from those of `with_repeats`."""
    return [repeated(generations[place::n_docs]) for place in range(n_docs)]


def repeat_of(doc: Doc) -> int:
    """Which repeat of its question a document is, from 0."""
    return int(doc.specific.get(_REPEAT, 0))


def key_rows(doc: Doc) -> list[Any]:
    """What a document's journal key is made of, beside model and frames."""
    return keyed_rows(doc.specific["segments"], repeat_of(doc))
