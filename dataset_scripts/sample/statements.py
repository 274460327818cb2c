"""The finite English of the sample's options: statements about labelled walks, true or false.

The generator judges a statement against the script, the oracle against what it saw. For every kind, ``str`` and
``read`` are each other's inverse.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from dataset_scripts.sample.walks import Colour, Event, Landmark, Lighting, Pace, Shape, Side, Turn, Walk, way_back

Label = str | None
"""The label of a clip; None in the single split, whose one clip has none."""

Walks = Mapping[Label, Sequence[Walk]]
"""The walks of a question by label. What several excerpts under one label show is true if one of them shows it."""

LABEL = r"(?:CLIP|VIDEO)_[A-Z0-9]+"
LANDMARK = rf"(?:{'|'.join(Colour)}) (?:{'|'.join(Shape)})"
SIDE = "|".join(Side)
SUBJECT = rf"the clip|{LABEL}"

_LIGHTING_WORDS = {Lighting.DAY: "by day", Lighting.NIGHT: "at night"}
_LIGHTING_OF_WORDS = {words: lighting for lighting, words in _LIGHTING_WORDS.items()}


@dataclass(frozen=True, slots=True)
class InOrder:
    """The landmarks, two or more, are all passed, in this order."""

    label: Label
    landmarks: tuple[Landmark, ...]

    def holds(self, walks: Walks) -> bool:
        """Whether it is true of the walks."""
        return any(_in_order(self.landmarks, walk.landmarks) for walk in walks.get(self.label, ()))

    def __str__(self) -> str:
        first, *others = self.landmarks
        return f"{subject(self.label)} shows the {first}{''.join(f', later the {landmark}' for landmark in others)}."

    @classmethod
    def read(cls, text: str) -> "InOrder | None":
        """Read what ``str`` writes; None for other text."""
        match = re.fullmatch(rf"({SUBJECT}) shows the ({LANDMARK}(?:, later the {LANDMARK})+)\.", text)
        if match is None:
            return None
        return cls(read_subject(match[1]), tuple(map(read_landmark, match[2].split(", later the "))))


@dataclass(frozen=True, slots=True)
class OnSides:
    """Two landmarks are passed in this order, on these sides."""

    label: Label
    first: Landmark
    first_side: Side
    second: Landmark
    second_side: Side

    def holds(self, walks: Walks) -> bool:
        """Whether it is true of the walks."""
        wanted = ((self.first, self.first_side), (self.second, self.second_side))
        return any(
            _in_order(wanted, [(passage.landmark, passage.side) for passage in walk.passages])
            for walk in walks.get(self.label, ())
        )

    def __str__(self) -> str:
        return (
            f"{subject(self.label)} shows the {self.first} on the {self.first_side} "
            f"before the {self.second} on the {self.second_side}."
        )

    @classmethod
    def read(cls, text: str) -> "OnSides | None":
        """Read what ``str`` writes; None for other text."""
        match = re.fullmatch(
            rf"({SUBJECT}) shows the ({LANDMARK}) on the ({SIDE}) before the ({LANDMARK}) on the ({SIDE})\.", text
        )
        if match is None:
            return None
        label, first, first_side, second, second_side = match.groups()
        return cls(
            read_subject(label), read_landmark(first), Side(first_side), read_landmark(second), Side(second_side)
        )


@dataclass(frozen=True, slots=True)
class Start:
    """The conditions of a walk and the landmark that it passes first."""

    label: Label
    lighting: Lighting
    pace: Pace
    first: Landmark

    def holds(self, walks: Walks) -> bool:
        """Whether it is true of the walks."""
        return any(
            (walk.lighting, walk.pace, walk.landmarks[:1]) == (self.lighting, self.pace, (self.first,))
            for walk in walks.get(self.label, ())
        )

    def __str__(self) -> str:
        return (
            f"{subject(self.label)} was filmed {_LIGHTING_WORDS[self.lighting]} at a {self.pace}, "
            f"and its first landmark is the {self.first}."
        )

    @classmethod
    def read(cls, text: str) -> "Start | None":
        """Read what ``str`` writes; None for other text."""
        match = re.fullmatch(
            rf"({SUBJECT}) was filmed ({'|'.join(_LIGHTING_OF_WORDS)}) at a ({'|'.join(Pace)}), "
            rf"and its first landmark is the ({LANDMARK})\.",
            text,
        )
        if match is None:
            return None
        return cls(read_subject(match[1]), _LIGHTING_OF_WORDS[match[2]], Pace(match[3]), read_landmark(match[4]))


@dataclass(frozen=True, slots=True)
class LeadsBack:
    """One clip walks the whole route of another in the opposite direction."""

    label: str
    other: str

    def holds(self, walks: Walks) -> bool:
        """Whether it is true of the walks."""
        return any(
            bool(walk.passages) and walk.passages == way_back(other.passages)
            for walk in walks.get(self.label, ())
            for other in walks.get(self.other, ())
        )

    def __str__(self) -> str:
        return f"{self.label} leads back along the route of {self.other}."

    @classmethod
    def read(cls, text: str) -> "LeadsBack | None":
        """Read what ``str`` writes; None for other text."""
        match = re.fullmatch(rf"({LABEL}) leads back along the route of ({LABEL})\.", text)
        return cls(match[1], match[2]) if match else None


@dataclass(frozen=True, slots=True)
class AfterTurn:
    """A landmark is passed after the turn to one side. Never a whole sentence: the turn stands in the question."""

    label: Label
    turn: Turn
    landmark: Landmark

    def holds(self, walks: Walks) -> bool:
        """Whether it is true of the walks."""
        return any(
            _in_order((self.turn, self.landmark), [_turn_or_landmark(event) for event in walk.events])
            for walk in walks.get(self.label, ())
        )


Sentence = InOrder | OnSides | Start | LeadsBack
Statement = Sentence | AfterTurn


def read_sentence(text: str) -> Sentence | None:
    """Return the statement that a sentence makes, or None where it makes none of ours."""
    return InOrder.read(text) or OnSides.read(text) or Start.read(text) or LeadsBack.read(text)


def subject(label: Label) -> str:
    """How a sentence names the clip or clips under a label."""
    return "the clip" if label is None else label


def read_subject(text: str) -> Label:
    """The inverse of `subject`."""
    return None if text == subject(None) else text


def read_landmark(text: str) -> Landmark:
    """The inverse of ``str(landmark)``. Raises ``ValueError`` for other text."""
    colour, shape = text.split(" ")
    return Landmark(Colour(colour), Shape(shape))


def _in_order(wanted: Iterable[object], given: Iterable[object]) -> bool:
    """Whether ``wanted`` is a subsequence of ``given``."""
    remaining = iter(given)
    return all(item in remaining for item in wanted)


def _turn_or_landmark(event: Event) -> Turn | Landmark:
    return event if isinstance(event, Turn) else event.landmark
