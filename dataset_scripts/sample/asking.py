"""The sample's questions: what is asked, and which statement an option's text makes under that question.

``str`` and ``read`` of a question are each other's inverse, and so are ``option_text`` and ``read_option``.
"""

import re
from dataclasses import dataclass

from dataset_scripts.sample.statements import (
    LABEL,
    LANDMARK,
    SIDE,
    SUBJECT,
    AfterTurn,
    InOrder,
    Label,
    LeadsBack,
    OnSides,
    Start,
    Statement,
    read_landmark,
    read_sentence,
    read_subject,
    subject,
)
from dataset_scripts.sample.walks import Landmark, Side, Turn


@dataclass(frozen=True, slots=True)
class WhichStatements:
    """Which statements are true? The options are whole sentences."""

    def __str__(self) -> str:
        return "Which of these statements match what the footage shows?"

    @classmethod
    def read(cls, text: str) -> "WhichStatements | None":
        """Read what ``str`` writes; None for other text."""
        return cls() if text == str(cls()) else None

    def option_text(self, statement: Statement) -> str:
        """The option that makes the statement."""
        assert isinstance(statement, InOrder | OnSides | Start | LeadsBack)
        text = str(statement)
        return text[0].upper() + text[1:]

    def read_option(self, text: str) -> Statement | None:
        """The statement that an option makes, or None for text of another kind."""
        return read_sentence(text) or read_sentence(text[:1].lower() + text[1:])


@dataclass(frozen=True, slots=True)
class WhichOrder:
    """In which order are landmarks passed in one clip? The options are lists of landmarks."""

    label: Label

    def __str__(self) -> str:
        return f"In which order does {subject(self.label)} show these landmarks?"

    @classmethod
    def read(cls, text: str) -> "WhichOrder | None":
        """Read what ``str`` writes; None for other text."""
        match = re.fullmatch(rf"In which order does ({SUBJECT}) show these landmarks\?", text)
        return cls(read_subject(match[1])) if match else None

    def option_text(self, statement: Statement) -> str:
        """The option that makes the statement."""
        assert isinstance(statement, InOrder) and statement.label == self.label
        return ", ".join(str(landmark) for landmark in statement.landmarks)

    def read_option(self, text: str) -> Statement | None:
        """The statement that an option makes, or None for text of another kind."""
        if not re.fullmatch(rf"{LANDMARK}(?:, {LANDMARK})+", text):
            return None
        return InOrder(self.label, tuple(map(read_landmark, text.split(", "))))


@dataclass(frozen=True, slots=True)
class WhichClips:
    """Which clips show one landmark before another? The options are labels."""

    first: Landmark
    second: Landmark

    def __str__(self) -> str:
        return f"Which of these clips show the {self.first} before the {self.second}?"

    @classmethod
    def read(cls, text: str) -> "WhichClips | None":
        """Read what ``str`` writes; None for other text."""
        match = re.fullmatch(rf"Which of these clips show the ({LANDMARK}) before the ({LANDMARK})\?", text)
        return cls(read_landmark(match[1]), read_landmark(match[2])) if match else None

    def option_text(self, statement: Statement) -> str:
        """The option that makes the statement."""
        assert isinstance(statement, InOrder) and statement.landmarks == (self.first, self.second)
        return subject(statement.label)

    def read_option(self, text: str) -> Statement | None:
        """The statement that an option makes, or None for text of another kind."""
        return InOrder(text, (self.first, self.second)) if re.fullmatch(LABEL, text) else None


@dataclass(frozen=True, slots=True)
class WhichAfterTurn:
    """Which landmarks are passed after the turn? The options are landmarks."""

    label: Label
    turn: Turn

    def __str__(self) -> str:
        return f"Which of these landmarks does {subject(self.label)} show after the turn to the {self.turn.side}?"

    @classmethod
    def read(cls, text: str) -> "WhichAfterTurn | None":
        """Read what ``str`` writes; None for other text."""
        match = re.fullmatch(rf"Which of these landmarks does ({SUBJECT}) show after the turn to the ({SIDE})\?", text)
        return cls(read_subject(match[1]), Turn(Side(match[2]))) if match else None

    def option_text(self, statement: Statement) -> str:
        """The option that makes the statement."""
        assert isinstance(statement, AfterTurn)
        return f"The {statement.landmark}"

    def read_option(self, text: str) -> Statement | None:
        """The statement that an option makes, or None for text of another kind."""
        match = re.fullmatch(rf"The ({LANDMARK})", text)
        return AfterTurn(self.label, self.turn, read_landmark(match[1])) if match else None


Asking = WhichStatements | WhichOrder | WhichClips | WhichAfterTurn


def read_asking(text: str) -> Asking | None:
    """Return what a line of text asks, or None where it asks none of ours."""
    return WhichStatements.read(text) or WhichOrder.read(text) or WhichClips.read(text) or WhichAfterTurn.read(text)
