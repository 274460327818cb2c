"""What one person is asked and has answered: their exam's terms and their answers played back. Pure."""

import json
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any

from egobench_tasks.errors import InputError
from egobench_tasks.making.undo import without_last
from egobench_tasks.runs.values import from_json

_KIND = "kind"


class Shown(StrEnum):
    """What a person sees of the clips: the clips themselves, or the frames that models see."""

    CLIPS = "clips"
    FRAMES = "frames"


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """How an exam is asked: everything but the person. ``sample``: how many questions, None for all of them; ``seed``
    draws them. ``dataset``: the fingerprint of its questions."""

    dataset: str
    shown: Shown = Shown.CLIPS
    sample: int | None = None
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """One answer, in the words in which a model's would be read. ``seconds``: how long the question was to be seen
    before it; ``when_utc``: ISO 8601. A later one replaces it."""

    question_id: str
    text: str
    seconds: float
    when_utc: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenBack:
    """The answer given last to a question is as if it had not been given; the seconds were spent all the same."""

    question_id: str
    when_utc: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HandedIn:
    """Nothing is to be changed any more."""

    when_utc: str


Record = Terms | Given | TakenBack | HandedIn
_KINDS: Mapping[str, type[Record]] = {
    "terms": Terms,
    "given": Given,
    "taken_back": TakenBack,
    "handed_in": HandedIn,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}


@dataclass(frozen=True, slots=True)
class Sitting:
    """A person's exam so far. ``answers`` by question id: the last one's text, the seconds of all looks at it.

    ``given``: all answers that stand or were replaced, in the order given. ``spent_s``: seconds by question id.
    """

    terms: Terms | None = None
    answers: Mapping[str, Given] = field(default_factory=dict)
    handed_in: bool = False
    given: tuple[Given, ...] = ()
    spent_s: Mapping[str, float] = field(default_factory=dict)


def after(sitting: Sitting, record: Record) -> Sitting:
    """Return a sitting after one more record."""
    match record:
        case Terms():
            return replace(sitting, terms=record)
        case HandedIn():
            return replace(sitting, handed_in=True)
        case Given():
            seconds = record.seconds + sitting.spent_s.get(record.question_id, 0.0)
            spent_s = {**sitting.spent_s, record.question_id: seconds}
            return _standing(replace(sitting, given=(*sitting.given, record), spent_s=spent_s), record.question_id)
        case TakenBack():
            given = without_last(sitting.given, lambda one: one.question_id == record.question_id)
            return _standing(replace(sitting, given=given), record.question_id)


def _standing(sitting: Sitting, question_id: str) -> Sitting:
    """A sitting in which a question's last answer, if any, is the one that counts."""
    answers = {one: answer for one, answer in sitting.answers.items() if one != question_id}
    own = [one for one in sitting.given if one.question_id == question_id]
    if own:
        answers[question_id] = replace(own[-1], seconds=sitting.spent_s[question_id])
    return replace(sitting, answers=answers)


def replay(records: Iterable[Record]) -> Sitting:
    """Play one person's records back, in the order written."""
    sitting = Sitting()
    for record in records:
        sitting = after(sitting, record)
    return sitting


def to_record(record: Record) -> dict[str, Any]:
    """Return what is kept of it: plain JSON."""
    return {_KIND: _NAMES[type(record)], **asdict(record)}


def from_record(record: Mapping[str, Any], where: str) -> Record:
    """The inverse of `to_record`. Raises ``InputError`` naming ``where`` for a record of another form."""
    try:
        read = from_json(_KINDS[record[_KIND]], dict(record))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise InputError(
            f"{where}: holds a record that is none of an exam's ({type(error).__name__}: {error}); give a folder that "
            "`egobench exam` wrote, or read it with the version that did"
        ) from error
    assert isinstance(read, Record)
    return read


def draw(question_ids: Sequence[str], terms: Terms) -> tuple[str, ...]:
    """Return the questions of an exam, in the order asked: all in the dataset's, or a sample in the order drawn.

    The same seed draws the same for everybody, whatever the dataset's order. Raises ``InputError`` for a sample that is
    larger than the dataset.
    """
    if terms.sample is None:
        return tuple(question_ids)
    if terms.sample > len(question_ids):
        raise InputError(f"--sample {terms.sample}: the dataset has {len(question_ids)} questions")
    return tuple(random.Random(terms.seed).sample(sorted(question_ids), terms.sample))


def choice_text(letters: Iterable[str]) -> str:
    """Return chosen letters, as shown, in the form that models are asked for (PROTOCOL 1.2)."""
    return json.dumps({"answer": sorted(letters)})


def chosen_letters(text: str) -> list[str]:
    """The inverse of `choice_text`."""
    return list(json.loads(text)["answer"])
