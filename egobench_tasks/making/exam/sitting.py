"""What one person is asked and has answered: their exam's terms and their answers played back. Pure."""

import json
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any

from egobench_tasks.errors import InputError
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
class HandedIn:
    """Nothing is to be changed any more."""

    when_utc: str


Record = Terms | Given | HandedIn
_KINDS: Mapping[str, type[Record]] = {"terms": Terms, "given": Given, "handed_in": HandedIn}
_NAMES = {kind: name for name, kind in _KINDS.items()}


@dataclass(frozen=True, slots=True)
class Sitting:
    """A person's exam so far. ``answers`` by question id: the last one's text, the seconds of all looks at it."""

    terms: Terms | None = None
    answers: Mapping[str, Given] = field(default_factory=dict)
    handed_in: bool = False


def after(sitting: Sitting, record: Record) -> Sitting:
    """Return a sitting after one more record."""
    match record:
        case Terms():
            return replace(sitting, terms=record)
        case HandedIn():
            return replace(sitting, handed_in=True)
        case Given():
            before = sitting.answers.get(record.question_id)
            seconds = record.seconds + (before.seconds if before else 0.0)
            return replace(sitting, answers={**sitting.answers, record.question_id: replace(record, seconds=seconds)})


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
