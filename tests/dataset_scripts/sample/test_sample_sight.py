"""What is painted is what is seen: by any time of day, pace, size, and at the sparsest frames."""

import itertools
import random

import numpy as np
import pytest
from PIL import Image

from dataset_scripts.sample.painting import FRAMES_PER_S, draw, pictures
from dataset_scripts.sample.scene import CELL_M, MAX_FRAME_GAP_S, SIGHT_M, Scene, Speed
from dataset_scripts.sample.sight import look_at, walk_seen
from dataset_scripts.sample.walks import Colour, Landmark, Lighting, Pace, Passage, Shape, Side, Turn, Walk
from dataset_scripts.sample.world import make_world


def random_scene(seed: int, speed: Speed, lighting: Lighting, size_px: tuple[int, int], turns: int = 0) -> Scene:
    rng = random.Random(seed)
    events = [
        Passage(Landmark(colour, rng.choice(list(Shape))), rng.choice(list(Side)))
        for colour in rng.sample(list(Colour), 3)
    ]
    cells = [*events[:1], *[Turn(side) for side in list(Side)[:turns]], *events[1:]]
    return Scene(tuple(cells), speed, lighting, speed.seconds_for(len(cells)), seed, *size_px)


SIZES = [(320, 180), (180, 320)]


@pytest.mark.parametrize(
    ("speed", "lighting", "size_px"), itertools.product(Speed, Lighting, SIZES), ids=lambda value: str(value)
)
def test_sparse_frames_show_the_walk(speed, lighting, size_px):
    """At the largest gap, and wherever the first frame falls."""
    for seed in range(4):
        scene = random_scene(seed, speed, lighting, size_px)
        step = int(MAX_FRAME_GAP_S * FRAMES_PER_S)
        frames = list(pictures(scene))
        for start in range(0, step, 5):
            assert walk_seen(frames[start::step]) == scene.walk, (seed, start)


@pytest.mark.parametrize("lighting", list(Lighting))
def test_turns_are_seen(lighting):
    for seed in range(3):
        scene = random_scene(seed, Speed.RUN, lighting, SIZES[0], turns=2)
        assert walk_seen(list(pictures(scene))[::FRAMES_PER_S]) == scene.walk


def test_backwards_frames_show_the_walk_backwards():
    scene = random_scene(5, Speed.SLOW_WALK, Lighting.DAY, SIZES[0])
    frames = list(pictures(scene))[::FRAMES_PER_S]
    landmarks = walk_seen(frames[::-1]).landmarks
    assert landmarks == scene.walk.played_backwards().landmarks == scene.walk.landmarks[::-1]


def test_every_landmark_is_told_from_every_other():
    seen = set()
    for colour, shape, side in itertools.product(Colour, Shape, Side):
        scene = Scene((Passage(Landmark(colour, shape), side),), Speed.SLOW_WALK, Lighting.NIGHT, 11, 1)
        walk = walk_seen([draw(scene, float(second)) for second in range(11)])
        assert walk == scene.walk
        seen.add(walk)
    assert len(seen) == len(Colour) * len(Shape) * len(Side)


@pytest.mark.parametrize(
    "frame",
    [
        Image.new("RGB", (320, 180)),
        Image.new("RGB", (320, 180), (128, 128, 128)),
        Image.new("RGB", (320, 180), (255, 0, 0)),
        Image.fromarray(np.random.default_rng(0).integers(0, 256, (180, 320, 3), dtype=np.uint8)),
        Image.new("RGB", (8, 8), (90, 200, 60)),
    ],
    ids=["black", "grey", "red", "noise", "tiny"],
)
def test_nonsense_shows_no_landmark(frame):
    assert walk_seen([frame] * 4).passages == ()


def test_no_frames_show_nothing():
    assert walk_seen([]) == Walk((), Lighting.NIGHT, Pace.WALK)


def test_look_at_one_frame():
    scene = Scene((Passage(Landmark(Colour.PINK, Shape.PILLAR), Side.LEFT),), Speed.RUN, Lighting.DAY, 6, 1)
    look = look_at(draw(scene, 3.0))
    (glimpse,) = look.glimpses
    assert glimpse.colour is Colour.PINK
    assert glimpse.x < 0.5
    assert look.lighting is Lighting.DAY
    assert look.horizon == pytest.approx(0.5 + scene.bob(3.0), abs=0.03)
    assert look.path_aside == pytest.approx(0, abs=0.02)


@pytest.mark.parametrize("speed", list(Speed))
def test_bob_tells_pace_at_every_even_gap(speed):
    """No gap between frames hides a run or makes a walk look like one."""
    frames = range(20 * FRAMES_PER_S)
    for seed, gap, start in itertools.product(range(7), range(1, int(MAX_FRAME_GAP_S * FRAMES_PER_S) + 1), (0, 3)):
        scene = Scene((), speed, Lighting.DAY, 20, seed)
        bobs = [scene.bob(frame / FRAMES_PER_S) for frame in frames[start::gap]]
        spread = np.ptp(np.percentile(bobs, (10, 90)))
        assert (spread > 0.04) == (speed.pace is Pace.RUN), (seed, gap, start, spread)


def test_no_frame_shows_two_landmarks_or_one_in_a_bend():
    world = make_world(2)
    clips = [*world.singles, *itertools.chain(*world.excerpts), *itertools.chain(*world.routes), *world.runs]
    for clip in clips:
        places = [place for place, _ in clip.scene.landmarks()]
        assert all(after - before > SIGHT_M for before, after in itertools.pairwise(places))
        for tick in range(clip.scene.duration_s * FRAMES_PER_S):
            walked_m = clip.scene.distance_m(tick / FRAMES_PER_S)
            in_sight = [place for place in places if 0 <= place - walked_m <= SIGHT_M]
            assert len(in_sight) <= 1
            assert not in_sight or clip.scene.bend(tick / FRAMES_PER_S) == 0
        assert places[-1] < clip.scene.distance_m(clip.scene.duration_s), "the last landmark is not passed"
        assert places[-1] // CELL_M == max(
            index for index, event in enumerate(clip.scene.cells) if isinstance(event, Passage)
        )
