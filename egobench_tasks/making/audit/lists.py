"""Open questions that name what to choose from or to put in order: what that alone gives away, or leaves out."""

import re
from collections.abc import Iterator, Sequence

from rapidfuzz import fuzz

from egobench_tasks.making.audit.finding import Finding, Rule
from egobench_tasks.making.audit.question import AuditedQuestion

NAMED = 75.0
"""Similarity in percent (rapidfuzz's ``partial_ratio``) from which an answer names a thing: "eat" for "eating"."""
_ORDER = re.compile(r"\b(?:order|sequence)\b", re.IGNORECASE)
_LIST = re.compile(r"(?:: *|\bwith (?:the )?|\bhandle (?:the )?)([^:?]+,[^:?]+)\?* *$")
_BETWEEN = re.compile(r",| and ")
_LEADING = re.compile(r"^(?:and |or )?(?:the |a |an )?")
_EITHER_OR = re.compile(
    r"\bbefore or after\b|\bfirst\b[^?]* or |^(?:does|do|did|is|are|was|were|will|has|have)\b[^?]* or ", re.IGNORECASE
)
_THREE_OR_MORE = re.compile(r",(?! or )")


def incomplete_lists(questions: Sequence[AuditedQuestion]) -> Iterator[Finding]:
    """Answers to "in which order: a, b, c?" that leave out one of them: no answer can be right then."""
    for question, listed in _lists(questions):
        missing = [name for name in listed if fuzz.partial_ratio(name, question.answer.lower()) < NAMED]
        if 0 < len(missing) < len(listed) - 1:  # an answer without most of them is worded otherwise
            message = f"lists {', '.join(map(repr, missing))}, which its answer {question.answer!r} leaves out"
            yield Finding(question.question_id, Rule.LIST_INCOMPLETE, message, (), {"missing": missing})


def lists_in_order(questions: Sequence[AuditedQuestion]) -> Iterator[Finding]:
    """Questions that list things in the very order that is asked for: reading them aloud is right."""
    for question, listed in _lists(questions):
        places = [question.answer.lower().find(name) for name in listed]
        if min(places) >= 0 and places == sorted(places):
            message = f"lists {', '.join(map(repr, listed))} in the order of its answer {question.answer!r}"
            yield Finding(question.question_id, Rule.LIST_IN_ORDER, message, (), {"listed": listed})


def either_or(questions: Sequence[AuditedQuestion]) -> Iterator[Finding]:
    """Open questions that name their two answers: half of all guesses are right."""
    for question in questions:
        text = question.question
        if not question.options and _EITHER_OR.search(text) and not _THREE_OR_MORE.search(text):
            message = f"offers two answers in its own words: {text!r} (answer {question.answer!r})"
            yield Finding(question.question_id, Rule.EITHER_OR, message)


def _lists(questions: Sequence[AuditedQuestion]) -> Iterator[tuple[AuditedQuestion, list[str]]]:
    """Open questions that ask for an order, with the three things or more that they list, in lower case."""
    for question in questions:
        match = _LIST.search(question.question) if not question.options and _ORDER.search(question.question) else None
        parts = _BETWEEN.split(match[1].lower()) if match else []
        listed = [name for part in parts if (name := _LEADING.sub("", part.strip(" .")).strip())]
        if len(listed) >= 3:
            yield question, listed
