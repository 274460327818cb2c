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


PAGE_SIZE = 100
"""Questions that are listed at once, however many there are."""


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
    ``verdicts`` has one for every run, in the runs' order. ``options``: what else a search looks through."""

    question_id: str
    question: str
    facets: Mapping[str, str]
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    options: tuple[str, ...] = ()

    @property
    def searched(self) -> str:
        """All that a search looks through: id, question, options, without regard to case."""
        return "\n".join((self.question_id, self.question, *self.options)).casefold()


@dataclass(frozen=True, slots=True)
class Filters:
    """What is asked for: a value by facet, a verdict by run, and words that must all be there. What is not named is
    not filtered by."""

    facets: Mapping[str, str] = field(default_factory=dict)
    verdicts: Mapping[str, str] = field(default_factory=dict)
    words: str = ""


def matching(entries: Iterable[Entry], filters: Filters) -> list[Entry]:
    """Return the entries that pass every filter, in their order.

    "wrong" takes in the questions without an answer: they score as wrong.
    """
    words = filters.words.casefold().split()
    verdicts = {run: _PASSES[wanted] for run, wanted in filters.verdicts.items()}
    return [
        entry
        for entry in entries
        if all(entry.facets.get(facet) == value for facet, value in filters.facets.items())
        and all(entry.verdicts[run] in passing for run, passing in verdicts.items())
        and (not words or all(word in entry.searched for word in words))
    ]


def page_of(entries: Sequence[Entry], question_id: str | None) -> int:
    """Return the number of the list's page that holds a question, from 0; the first where none does."""
    place = next((place for place, entry in enumerate(entries) if entry.question_id == question_id), 0)
    return place // PAGE_SIZE


def neighbour(entries: Sequence[Entry], question_id: str | None, step: int) -> str | None:
    """Return the question ``step`` places after another in a list, at its ends the last or first.

    The first where the list does not hold that other; None where the list is empty.
    """
    ids = [entry.question_id for entry in entries]
    if not ids:
        return None
    if question_id not in ids:
        return ids[0]
    return ids[min(max(ids.index(question_id) + step, 0), len(ids) - 1)]


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
