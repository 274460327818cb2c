"""What a reviewer says of a question, as values: marks, words of their own, the look at the gold, the decision."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, TypeVar

from egobench_tasks.errors import InputError
from egobench_tasks.making.seen import Seen
from egobench_tasks.runs.values import from_json

_KIND = "kind"


class Action(StrEnum):
    """What becomes of a question (EgoGears C.5)."""

    CONFIRM = "confirm"
    REPAIR = "repair"
    DROP = "drop"


class Reason(StrEnum):
    """Why a question is repaired, dropped, or confirmed although the marks speak against it."""

    NONE = ""
    AMBIGUOUS = "ambiguous"
    WRONG_ANSWER = "wrong_answer"
    NOT_IN_CLIPS = "not_in_clips"
    WORDING = "wording"
    OPTIONS = "options"
    GIVEN_AWAY = "given_away"
    DUPLICATE = "duplicate"
    EVIDENCE = "evidence"
    OTHER = "other"


REASON_TITLES: Mapping[Reason, str] = {
    Reason.AMBIGUOUS: "can be read in several ways",
    Reason.WRONG_ANSWER: "its answer is wrong",
    Reason.NOT_IN_CLIPS: "cannot be told from the clips",
    Reason.WORDING: "its wording is wrong or unclear",
    Reason.OPTIONS: "an option is wrong, unclear or doubled",
    Reason.GIVEN_AWAY: "gives its answer away",
    Reason.DUPLICATE: "repeats another question",
    Reason.EVIDENCE: "its evidence lies elsewhere",
    Reason.OTHER: "another reason (see the note)",
}


@dataclass(frozen=True, slots=True)
class Content:
    """All of a question that can be repaired but its evidence. ``options[0]`` is the dataset's option A.

    ``answer``: original letters, sorted; of an open question, which has no options, the one text.
    """

    question: str
    options: tuple[str, ...]
    answer: tuple[str, ...]

    @property
    def digest(self) -> str:
        """16 hex digits of it."""
        content = json.dumps(asdict(self), ensure_ascii=False, sort_keys=True)
        return hashlib.sha256(content.encode("utf-8", "replace")).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Span:
    """Where the evidence is: a clip by its index, and seconds of it."""

    clip: int
    start_s: float
    end_s: float

    def overlaps(self, other: "Span") -> bool:
        """Whether any moment is in both."""
        return self.clip == other.clip and self.start_s < other.end_s and other.start_s < self.end_s


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    """``shown``: the digest of the content that the reviewer had before them. ``when_utc``: ISO 8601."""

    question_id: str
    shown: str
    reviewer: str
    when_utc: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark(_Said):
    """One option looked for in the clips: its letter in the dataset, or `GOLD` for an open question's answer."""

    option: str
    seen: Seen


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnAnswer(_Said):
    """What a reviewer would answer to an open question, before seeing the gold."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Revealed(_Said):
    """The gold was shown: what was said before was said without it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenBack(_Said):
    """What was said last of the question, and not before the gold was shown, is as if it had not been said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision(_Said):
    """What is to become of the question; a reviewer's last one counts.

    ``content`` and ``evidence`` are the repaired ones, None where they stay. ``note`` is free text, for the team: it is
    never exported. ``settles``: as a third, the decisions that were on show, by reviewer, each by its `key`; empty for
    a decision of one's own.
    """

    action: Action
    reason: Reason = Reason.NONE
    note: str = ""
    content: Content | None = None
    evidence: Span | None = None
    settles: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """16 hex digits of all of it."""
        record = json.dumps(asdict(self), ensure_ascii=False, sort_keys=True)
        return hashlib.sha256(record.encode("utf-8", "replace")).hexdigest()[:16]


GOLD = "gold"
Said = Mark | OwnAnswer | Revealed | TakenBack | Decision
_KINDS: Mapping[str, type[Said]] = {
    "mark": Mark,
    "own_answer": OwnAnswer,
    "revealed": Revealed,
    "taken_back": TakenBack,
    "decision": Decision,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}
_Value = TypeVar("_Value")


def to_record(said: Said) -> dict[str, Any]:
    """Return what is kept of it: plain JSON."""
    return {_KIND: _NAMES[type(said)], **asdict(said)}


def from_record(record: Mapping[str, Any], where: str) -> Said:
    """The inverse of `to_record`. Raises ``InputError`` naming ``where`` for a record of another form."""
    try:
        said = from_json(_KINDS[record[_KIND]], dict(record))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise InputError(
            f"{where}: holds a record that is none of a review's ({type(error).__name__}: {error}); give a folder that "
            "`egobench review` wrote, or read it with the version that did"
        ) from error
    assert isinstance(said, Said)
    return said
