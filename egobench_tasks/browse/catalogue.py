"""The list of questions: what each can be filtered by, and which of them pass. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

FACETS: Mapping[str, str] = MappingProxyType(
    {
        "config": "Config",
        "unit": "Unit",
        "question_type": "Question type",
        "category": "Category",
        "status": "Status",
    }
)
"""What questions are filtered by, as column and title."""


class Verdict(StrEnum):
    """What became of a question in a run.

    NO_ANSWER is the model's failure and scores as wrong (PROTOCOL 1.3). NO_VERDICT: a judge's is missing,
    neither right nor wrong (PROTOCOL 2). LOST: no answer for a reason that is not the model's; the run is
    partial. NOT_ASKED: the run holds no answers to the question's config.
    """

    RIGHT = "right"
    WRONG = "wrong"
    NO_ANSWER = "no answer"
    NO_VERDICT = "no verdict"
    LOST = "lost"
    NOT_ASKED = "not asked"


_PASSES: Mapping[str, frozenset[Verdict]] = {
    verdict.value: frozenset({verdict}) for verdict in Verdict if verdict is not Verdict.WRONG
} | {Verdict.WRONG.value: frozenset({Verdict.WRONG, Verdict.NO_ANSWER})}


@dataclass(frozen=True, slots=True)
class Entry:
    """A question in the list. ``facets`` has a value for each of `FACETS` that the dataset knows;
    ``verdicts`` has one for every run, in the runs' order."""

    question_id: str
    question: str
    facets: Mapping[str, str]
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Filters:
    """What is asked for: a value by facet, and a verdict by run. What is not named is not filtered by."""

    facets: Mapping[str, str] = field(default_factory=dict)
    verdicts: Mapping[str, str] = field(default_factory=dict)


def matching(entries: Iterable[Entry], filters: Filters) -> list[Entry]:
    """Return the entries that pass every filter, in their order.

    "wrong" takes in the questions without an answer: they score as wrong.
    """
    verdicts = {run: _PASSES[wanted] for run, wanted in filters.verdicts.items()}
    return [
        entry
        for entry in entries
        if all(entry.facets.get(facet) == value for facet, value in filters.facets.items())
        and all(entry.verdicts[run] in passing for run, passing in verdicts.items())
    ]


def facet_values(entries: Iterable[Entry], facet: str) -> list[str]:
    """Return the values that a facet has, sorted."""
    return sorted({value for entry in entries if (value := entry.facets.get(facet)) is not None})


def verdict_values(entries: Iterable[Entry], run: str) -> list[str]:
    """Return the verdicts to filter a run by, in the order of `Verdict`; "wrong" stands for "no answer" too."""
    found = {entry.verdicts[run] for entry in entries}
    return [verdict.value for verdict in Verdict if _PASSES[verdict.value] & found]


def counts(entries: Sequence[Entry], run: str) -> tuple[int, int]:
    """Return how many of the entries a run has right, and how many of them are decided."""
    verdicts = [entry.verdicts[run] for entry in entries]
    n_decided = sum(verdict in (Verdict.RIGHT, Verdict.WRONG, Verdict.NO_ANSWER) for verdict in verdicts)
    return verdicts.count(Verdict.RIGHT), n_decided


def n_lost(entries: Iterable[Entry], run: str) -> int:
    """Return how many of the entries a run has no answer to for reasons that are not the model's."""
    return sum(entry.verdicts[run] is Verdict.LOST for entry in entries)
