"""The clips of a sample benchmark, by seed: recordings of few places, so that many questions share few clips."""

import random
from dataclasses import dataclass

from dataset_scripts.sample.scene import Scene, Speed
from dataset_scripts.sample.walks import Colour, Event, Landmark, Lighting, Passage, Shape, Side, Turn, way_back

_SINGLE_S = 60
_PORTRAIT_PX = (180, 320)
_EXCERPT_LANDMARKS, _ROUTE_LANDMARKS = 3, 4  # few, so that clips are short and can be compared


@dataclass(frozen=True, slots=True)
class Clip:
    """A stretch of a recording, from ``start_s`` on for as long as its scene lasts."""

    recording: str
    start_s: int
    scene: Scene

    @property
    def end_s(self) -> int:
        """The second of the recording at which the clip ends."""
        return self.start_s + self.scene.duration_s


@dataclass(frozen=True, slots=True)
class World:
    """All clips that questions may ask about.

    ``singles`` are 60 s each but one that ends early; another is portrait. ``excerpts[r][i]`` is the i-th stretch of
    recording r: the i-th stretches of all recordings show the same landmarks, in other orders. ``routes[r]`` are
    recordings of one route in both directions. ``runs`` are short and independent; one is portrait.
    """

    singles: tuple[Clip, ...]
    excerpts: tuple[tuple[Clip, ...], ...]
    routes: tuple[tuple[Clip, ...], ...]
    runs: tuple[Clip, ...]


_SINGLE_RECORDINGS = (
    ("P01_Running_Night_Traj03", Speed.RUN, Lighting.NIGHT),
    ("P02_SlowWalk_Day_Trial03", Speed.SLOW_WALK, Lighting.DAY),
    ("P03_FastWalk_Night_Traj02_Trial01", Speed.FAST_WALK, Lighting.NIGHT),
    ("Lindenweg_laufen_schnell", Speed.FAST_WALK, Lighting.DAY),
    ("P01_FastWalk_Day_Traj01_Trial02", Speed.FAST_WALK, Lighting.DAY),
    ("P02_Running_Day_Traj02_Trial01", Speed.RUN, Lighting.DAY),
)
_SINGLE_LANDMARKS = {Speed.RUN: 6, Speed.FAST_WALK: 5, Speed.SLOW_WALK: 4}
_SINGLE_TURNS = {Speed.RUN: 2, Speed.FAST_WALK: 1, Speed.SLOW_WALK: 1}
_PORTRAIT_RECORDING = "riverside_path_slow"
_SHORT_RECORDING = "Muehlbach_joggen"


def make_world(seed: int) -> World:
    """Return the world of a seed; the same on every machine."""
    rng = random.Random(f"sample world {seed}")
    first_set = [Landmark(colour, rng.choice(list(Shape))) for colour in Colour]
    stretches = [rng.sample(_reshaped(first_set, steps), _EXCERPT_LANDMARKS) for steps in range(len(Shape))]
    route_landmarks = rng.sample(first_set, _ROUTE_LANDMARKS)
    return World(
        singles=_singles(rng),
        excerpts=tuple(
            _excerpts(rng, stretches, f"long-{number}", speed, lighting)
            for number, (speed, lighting) in enumerate(
                ((Speed.FAST_WALK, Lighting.DAY), (Speed.SLOW_WALK, Lighting.NIGHT), (Speed.RUN, Lighting.DAY))
            )
        ),
        routes=tuple(_route(rng, route_landmarks, f"route-{number}") for number in range(2)),
        runs=tuple(_run(rng, route_landmarks, number) for number in range(10)),
    )


def _reshaped(landmarks: list[Landmark], steps: int) -> list[Landmark]:
    shapes = list(Shape)
    return [
        Landmark(landmark.colour, shapes[(shapes.index(landmark.shape) + steps) % len(shapes)])
        for landmark in landmarks
    ]


def _singles(rng: random.Random) -> tuple[Clip, ...]:
    clips = []
    for recording, speed, lighting in _SINGLE_RECORDINGS:
        scene = Scene(_single_cells(rng, speed), speed, lighting, _SINGLE_S, _scene_seed(rng))
        clips.append(Clip(recording, _SINGLE_S * rng.randrange(20), scene))
    slow, run = Speed.SLOW_WALK, Speed.RUN
    portrait = Scene(_single_cells(rng, slow), slow, Lighting.DAY, _SINGLE_S, _scene_seed(rng), *_PORTRAIT_PX)
    cells = _passages(rng, [Landmark(colour, rng.choice(list(Shape))) for colour in rng.sample(list(Colour), 3)])
    short = Scene(cells, run, Lighting.NIGHT, run.seconds_for(len(cells)), _scene_seed(rng))
    return (
        *clips,
        Clip(_PORTRAIT_RECORDING, _SINGLE_S * rng.randrange(20), portrait),
        Clip(_SHORT_RECORDING, _SINGLE_S * rng.randrange(20), short),
    )


def _single_cells(rng: random.Random, speed: Speed) -> tuple[Event | None, ...]:
    """Landmarks, turns and empty cells for a whole minute, a landmark before and after every turn."""
    colours = rng.sample(list(Colour), _SINGLE_LANDMARKS[speed])
    passages = _passages(rng, [Landmark(colour, rng.choice(list(Shape))) for colour in colours])
    turns = [Turn(side) for side in rng.sample(list(Side), _SINGLE_TURNS[speed])]
    middle: list[Event | None] = [*passages[1:-1], *turns]
    middle += [None] * (speed.cells_in(_SINGLE_S) - len(passages) - len(turns))
    rng.shuffle(middle)
    return (passages[0], *middle, passages[-1])


def _excerpts(
    rng: random.Random, stretches: list[list[Landmark]], recording: str, speed: Speed, lighting: Lighting
) -> tuple[Clip, ...]:
    clips: list[Clip] = []
    start_s = 10 * rng.randrange(1, 20)
    for landmarks in stretches:
        cells = _passages(rng, rng.sample(landmarks, len(landmarks)))
        scene = Scene(cells, speed, lighting, speed.seconds_for(len(cells)), _scene_seed(rng))
        clips.append(Clip(recording, start_s, scene))
        start_s = clips[-1].end_s + 5 * rng.randrange(1, 10)
    return tuple(clips)


def _route(rng: random.Random, landmarks: list[Landmark], name: str) -> tuple[Clip, ...]:
    """Four recordings of a route: out and back, by day and by night, at several speeds."""
    out = _passages(rng, rng.sample(landmarks, len(landmarks)))
    recordings = (
        ("a", out, Speed.SLOW_WALK, Lighting.DAY),
        ("b", way_back(out), Speed.RUN, Lighting.NIGHT),
        ("c", out, Speed.FAST_WALK, Lighting.NIGHT),
        ("d", way_back(out), Speed.FAST_WALK, Lighting.DAY),
    )
    return tuple(
        Clip(
            f"{name}-{letter}",
            60 * rng.randrange(10),
            Scene(cells, speed, lighting, speed.seconds_for(len(cells)), _scene_seed(rng)),
        )
        for letter, cells, speed, lighting in recordings
    )


def _run(rng: random.Random, landmarks: list[Landmark], number: int) -> Clip:
    cells = _passages(rng, rng.sample(landmarks, _EXCERPT_LANDMARKS))
    size_px = _PORTRAIT_PX if number == 0 else _PORTRAIT_PX[::-1]
    lighting = rng.choice(list(Lighting))
    scene = Scene(cells, Speed.RUN, lighting, Speed.RUN.seconds_for(len(cells)), _scene_seed(rng), *size_px)
    return Clip(f"run-{number}", 10 * rng.randrange(40), scene)


def _passages(rng: random.Random, landmarks: list[Landmark]) -> tuple[Passage, ...]:
    return tuple(Passage(landmark, rng.choice(list(Side))) for landmark in landmarks)


def _scene_seed(rng: random.Random) -> int:
    return rng.randrange(1_000_000)
