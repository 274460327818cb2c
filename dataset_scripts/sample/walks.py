"""What happens on a walk: the one description that scripts state, frames show and questions ask about."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum


class Colour(StrEnum):
    """Landmark colours: six hues 60° apart, so that compression cannot turn one into another."""

    RED = "red"
    YELLOW = "yellow"
    GREEN = "green"
    TURQUOISE = "turquoise"
    BLUE = "blue"
    PINK = "pink"


class Shape(StrEnum):
    """Landmark shapes, told apart by their bounding boxes: tall and full, square, tall and half empty."""

    PILLAR = "pillar"
    BALL = "ball"
    CONE = "cone"


class Side(StrEnum):
    """A side as the walker sees it."""

    LEFT = "left"
    RIGHT = "right"

    @property
    def other(self) -> "Side":
        """The opposite side."""
        return Side.RIGHT if self is Side.LEFT else Side.LEFT


class Lighting(StrEnum):
    """When the walk was filmed."""

    DAY = "Day"
    NIGHT = "Night"


class Pace(StrEnum):
    """How the walker moves, as far as the bobbing of the camera tells."""

    WALK = "walk"
    RUN = "run"


@dataclass(frozen=True, slots=True)
class Landmark:
    """A thing beside the path. A walk holds at most one of each colour; a recording at most one of each landmark."""

    colour: Colour
    shape: Shape

    def __str__(self) -> str:
        return f"{self.colour} {self.shape}"


@dataclass(frozen=True, slots=True)
class Passage:
    """The walker passes a landmark, which leaves the picture on one side."""

    landmark: Landmark
    side: Side


@dataclass(frozen=True, slots=True)
class Turn:
    """The path bends to one side. A walk turns at most once to each."""

    side: Side


Event = Passage | Turn


@dataclass(frozen=True, slots=True)
class Walk:
    """What one clip shows: its events in time order, and the conditions that hold throughout."""

    events: tuple[Event, ...]
    lighting: Lighting
    pace: Pace

    @property
    def passages(self) -> tuple[Passage, ...]:
        """The landmarks in the order in which they are passed."""
        return tuple(event for event in self.events if isinstance(event, Passage))

    @property
    def landmarks(self) -> tuple[Landmark, ...]:
        """The landmarks without their sides, in the order in which they are passed."""
        return tuple(passage.landmark for passage in self.passages)

    def turns(self) -> Iterator[Turn]:
        """The turns in time order."""
        return (event for event in self.events if isinstance(event, Turn))

    def played_backwards(self) -> "Walk":
        """What the clip shows when its frames come in reverse: another order, the same sides."""
        return replace(self, events=self.events[::-1])


def way_back(passages: tuple[Passage, ...]) -> tuple[Passage, ...]:
    """What the same route gives walked in the opposite direction: another order and the other sides."""
    return tuple(Passage(passage.landmark, passage.side.other) for passage in reversed(passages))
