"""The script of a clip: what stands where along the path, and how and when it is walked.

The path is cut into cells of equal length, each of which holds one event or none: a bend, or a landmark near the
cell's end. So no frame shows two landmarks, none stands in a bend, and a clip that ends with a cell shows no
landmark that it does not pass.
"""

import math
import random
from dataclasses import dataclass
from enum import Enum

from dataset_scripts.sample.walks import Event, Lighting, Pace, Passage, Side, Turn, Walk

CELL_M = 19.5
SIGHT_M = 16.0
"""How near a landmark must be to be seen; less than its distance from the start of its cell."""
MAX_FRAME_GAP_S = 2.9
"""The largest gap between a clip's frames at which every landmark is still seen whole, even at a run."""

_LANDMARK_AT_M = (16.2, 18.6)  # from the start of its cell
_BEND_RAMP = 0.15  # of a cell: from straight to fully bent


class Speed(Enum):
    """The three speeds under upstream's names: metres a second, steps a second, bob in parts of the short side."""

    SLOW_WALK = ("SlowWalk", 1.8, 1.83, 0.008)
    FAST_WALK = ("FastWalk", 2.3, 2.17, 0.008)
    RUN = ("Running", 3.5, 2.71, 0.06)

    def __init__(self, upstream_name: str, metres_per_s: float, steps_per_s: float, bob: float) -> None:
        self.upstream_name = upstream_name
        self.metres_per_s = metres_per_s
        self.steps_per_s = steps_per_s
        self.bob = bob

    @property
    def pace(self) -> Pace:
        """What the bob of the camera tells of it."""
        return Pace.RUN if self is Speed.RUN else Pace.WALK

    def seconds_for(self, n_cells: int) -> int:
        """The whole seconds after which that many cells are walked and the next landmark is still out of sight."""
        return math.ceil(n_cells * CELL_M / self.metres_per_s)

    def cells_in(self, duration_s: int) -> int:
        """How many whole cells are walked in that time."""
        return int(duration_s * self.metres_per_s / CELL_M)


@dataclass(frozen=True, slots=True)
class Scene:
    """One clip's script. ``seed`` places what no question asks about, such as where in its cell a landmark stands."""

    cells: tuple[Event | None, ...]
    speed: Speed
    lighting: Lighting
    duration_s: int
    seed: int
    width_px: int = 320
    height_px: int = 180

    @property
    def walk(self) -> Walk:
        """What the clip shows, as questions ask about it."""
        return Walk(tuple(event for event in self.cells if event is not None), self.lighting, self.speed.pace)

    def landmarks(self) -> list[tuple[float, Passage]]:
        """The landmarks with their places, in metres from the clip's start."""
        rng = random.Random(f"landmarks {self.seed}")
        return [
            (index * CELL_M + rng.uniform(*_LANDMARK_AT_M), event)
            for index, event in enumerate(self.cells)
            if isinstance(event, Passage)
        ]

    def distance_m(self, time_s: float) -> float:
        """How far the walker has come."""
        return self.speed.metres_per_s * time_s

    def bob(self, time_s: float) -> float:
        """How far the camera is above its mean, in parts of the picture's short side.

        Two waves of no common period, so that frames at even gaps do not all meet one phase.
        """
        phase = 2 * math.pi * self.speed.steps_per_s * time_s + self.seed % 7
        return self.speed.bob * (math.sin(phase) + 0.6 * math.sin(1.37 * phase + 1))

    def bend(self, time_s: float) -> float:
        """How the path ahead bends: -1 (left) to 1 (right), 0 where it is straight."""
        event, within = self._cell(time_s)
        if not isinstance(event, Turn):
            return 0.0
        return _sign(event.side) * min(1.0, within / _BEND_RAMP, (1 - within) / _BEND_RAMP)

    def heading(self, time_s: float) -> float:
        """How far the walker has turned to the right so far, in turns of the path."""
        event, within = self._cell(time_s)
        done = self.cells[: int(self.distance_m(time_s) // CELL_M)]
        turned = sum(_sign(event.side) for event in done if isinstance(event, Turn))
        return turned + (_sign(event.side) * within if isinstance(event, Turn) else 0.0)

    def _cell(self, time_s: float) -> tuple[Event | None, float]:
        """The event of the cell that the walker is in, and how far into it, from 0 to 1."""
        index, within = divmod(self.distance_m(time_s) / CELL_M, 1)
        return (self.cells[int(index)] if index < len(self.cells) else None), within


def _sign(side: Side) -> int:
    return 1 if side is Side.RIGHT else -1
