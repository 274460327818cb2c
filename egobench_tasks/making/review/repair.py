"""A repaired question read from a form's fields. Pure."""

import math
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from egobench_tasks.errors import InputError
from egobench_tasks.making.review.decision import Content, Span
from egobench_tasks.texts import well_formed

MIN_OPTIONS = 2
Fields = Mapping[str, Sequence[str]]
"""A form's, by name: ``question``, ``option_A`` …, ``answer`` (letters, or the text), ``evidence_clip``,
``evidence_start``, ``evidence_end``."""


@dataclass(frozen=True, slots=True)
class Repair:
    """What was changed; None where it stays."""

    content: Content | None
    evidence: Span | None


def field(fields: Fields, name: str) -> str:
    """Return a field's text without blanks at its ends; empty where there is none."""
    values = fields.get(name) or ("",)
    return well_formed(str(values[0])).strip()


def read_repair(fields: Fields, shown: Content, durations_s: Sequence[float | None]) -> Repair:
    """Read a form. An option whose text was emptied is removed, and those after it move up.

    ``durations_s``: of the question's clips, None where it is not known. Raises ``InputError`` saying what a person is
    to mend: an empty text, too few options, no right one, evidence outside its clip, nothing changed.
    """
    content = _content(fields, shown)
    evidence = _evidence(fields, durations_s)
    if content == shown and evidence is None:
        raise InputError("nothing is changed: change the words, the answer or the evidence, or confirm")
    return Repair(None if content == shown else content, evidence)


def _content(fields: Fields, shown: Content) -> Content:
    question = field(fields, "question")
    if not question:
        raise InputError("the question is empty")
    if not shown.options:
        answer = field(fields, "answer")
        if not answer:
            raise InputError("the answer is empty")
        return Content(question, (), (answer,))
    texts = {letter: field(fields, f"option_{letter}") for letter in string.ascii_uppercase}
    kept = {letter: text for letter, text in texts.items() if text}
    if len(kept) < MIN_OPTIONS:
        raise InputError(f"a question needs {MIN_OPTIONS} options at least")
    if len(set(kept.values())) < len(kept):
        raise InputError("two options have the same text")
    new_letter = dict(zip(kept, string.ascii_uppercase, strict=False))
    right = {str(letter) for letter in fields.get("answer") or ()}
    if lost := sorted(right - set(kept)):
        raise InputError(f"{', '.join(lost)}: is right, and has no text")
    if not right:
        raise InputError("no option is right: choose one at least")
    return Content(question, tuple(kept.values()), tuple(sorted(new_letter[letter] for letter in right)))


def _evidence(fields: Fields, durations_s: Sequence[float | None]) -> Span | None:
    start, end = field(fields, "evidence_start"), field(fields, "evidence_end")
    if not start and not end:
        return None
    try:
        clip, start_s, end_s = int(field(fields, "evidence_clip") or 0), float(start), float(end)
    except ValueError:
        raise InputError("the evidence needs a start and an end, in seconds") from None
    if not (0 <= clip < len(durations_s) and math.isfinite(start_s) and 0 <= start_s < end_s):
        raise InputError("the evidence must lie in a clip, and end after its start")
    duration_s = durations_s[clip]
    if not end_s <= (math.inf if duration_s is None else duration_s + 0.05):  # what a player shows is rounded
        raise InputError(f"the evidence ends at {end_s:g} s, the clip at {duration_s:.1f} s")
    return Span(clip, start_s, end_s)
