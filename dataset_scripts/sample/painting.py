"""Draws a scene in simple perspective: what the walker's camera sees at a given time, and the clip that this makes.

Only landmarks are bright and saturated. The sky is bluer than green, the ground greener than blue, the path redder
than green, by day and by night: `sight` finds landmarks, horizon and path by that alone.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import av
import numpy as np
from PIL import Image, ImageDraw

from dataset_scripts.sample.scene import SIGHT_M, Scene
from dataset_scripts.sample.walks import Colour, Landmark, Lighting, Shape, Side

FRAMES_PER_S = 8

_FOCAL = 0.7  # of the width
_EYE_M = 1.6
_NEAR_M, _FAR_M = 0.8, 60.0
_PATH_HALF_M = 1.2
_PATH_SLICES_M = (60.0, 40.0, 28.0, 20.0, 14.0, 9.0, 6.0, 3.0, 0.8)
_BEND = 0.5  # of the width: how far the far end of a bent path lies aside
_LANDMARK_ASIDE_M = 2.0
_TREE_EVERY_M, _TREE_ASIDE_M, _TREE_SIGHT_M = 7.0, 5.0, 45.0
_SIZE_M = {Shape.PILLAR: (0.7, 2.4), Shape.BALL: (1.5, 1.5), Shape.CONE: (1.2, 2.4)}  # width, height

Rgb = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class _Palette:
    sky: Rgb
    hills: Rgb
    ground: Rgb
    path: Rgb
    trunk: Rgb
    crown: Rgb
    landmark_level: int


_PALETTES = {
    Lighting.DAY: _Palette(
        sky=(165, 195, 230),
        hills=(128, 150, 176),
        ground=(110, 130, 90),
        path=(200, 182, 158),
        trunk=(104, 104, 96),
        crown=(96, 116, 86),
        landmark_level=230,
    ),
    Lighting.NIGHT: _Palette(
        sky=(22, 26, 46),
        hills=(14, 18, 34),
        ground=(26, 36, 20),
        path=(74, 62, 46),
        trunk=(30, 30, 26),
        crown=(22, 32, 18),
        landmark_level=185,
    ),
}
_CHANNELS = {
    Colour.RED: (1, 0, 0),
    Colour.YELLOW: (1, 1, 0),
    Colour.GREEN: (0, 1, 0),
    Colour.TURQUOISE: (0, 1, 1),
    Colour.BLUE: (0, 0, 1),
    Colour.PINK: (1, 0, 1),
}


def write_clip(scene: Scene, path: Path) -> None:
    """Render a scene as an H.264 mp4 of ``FRAMES_PER_S``; the same scene gives the same pixels."""
    with av.open(str(path), "w", format="mp4", options={"movflags": "+faststart", "fflags": "+bitexact"}) as container:
        # One thread and no macroblock tree (whose SIMD code gave other bytes in every other run, measured on PyAV
        # 18.1's x264): the stream then depends on the pictures alone.
        options = {"preset": "veryfast", "crf": "28", "mbtree": "0", "threads": "1", "g": str(5 * FRAMES_PER_S)}
        stream = container.add_stream("libx264", rate=FRAMES_PER_S, options=options)
        stream.width, stream.height, stream.pix_fmt = scene.width_px, scene.height_px, "yuv420p"
        for picture in pictures(scene):
            container.mux(stream.encode(av.VideoFrame.from_ndarray(np.asarray(picture), format="rgb24")))
        container.mux(stream.encode())


def pictures(scene: Scene) -> Iterator[Image.Image]:
    """All RGB pictures of a clip in time order."""
    return (draw(scene, index / FRAMES_PER_S) for index in range(scene.duration_s * FRAMES_PER_S))


def draw(scene: Scene, time_s: float) -> Image.Image:
    """Draw the RGB picture at a time after the clip's start."""
    view = _View(scene, time_s)
    palette = _PALETTES[scene.lighting]
    image = Image.new("RGB", (scene.width_px, scene.height_px), palette.sky)
    pen = ImageDraw.Draw(image)
    pen.polygon(view.hills(), fill=palette.hills)
    pen.rectangle((0, view.horizon_px, scene.width_px, scene.height_px), fill=palette.ground)
    pen.polygon(view.path(), fill=palette.path)
    for ahead_m, right_m in view.trees():
        _draw_tree(pen, view, ahead_m, right_m, palette)
    for ahead_m, right_m, landmark in view.landmarks():
        _draw_landmark(pen, view.box(ahead_m, right_m, *_SIZE_M[landmark.shape]), landmark, palette.landmark_level)
    return image


class _View:
    """Where things are in the picture at one time. Distances ahead are in metres, results in pixels."""

    def __init__(self, scene: Scene, time_s: float) -> None:
        self.scene = scene
        self.walked_m = scene.distance_m(time_s)
        self.heading = scene.heading(time_s)
        self.bend_px = scene.bend(time_s) * _BEND * scene.width_px
        short_side_px = min(scene.width_px, scene.height_px)
        self.horizon_px = scene.height_px / 2 + scene.bob(time_s) * short_side_px

    def point(self, ahead_m: float, right_m: float, up_m: float) -> tuple[float, float]:
        """The place in the picture of a point that far ahead, right of the path's middle and above the ground."""
        scale_px = _FOCAL * self.scene.width_px / ahead_m
        middle_px = self.scene.width_px / 2 + self.bend_px * ahead_m / _FAR_M
        return middle_px + scale_px * right_m, self.horizon_px + scale_px * (_EYE_M - up_m)

    def box(self, ahead_m: float, right_m: float, width_m: float, height_m: float) -> tuple[float, ...]:
        """The left, top, right and bottom of a thing that stands on the ground."""
        left, top = self.point(ahead_m, right_m - width_m / 2, height_m)
        right, bottom = self.point(ahead_m, right_m + width_m / 2, 0.0)
        return left, top, right, bottom

    def path(self) -> list[tuple[float, float]]:
        left = [self.point(ahead_m, -_PATH_HALF_M, 0.0) for ahead_m in _PATH_SLICES_M]
        right = [self.point(ahead_m, _PATH_HALF_M, 0.0) for ahead_m in _PATH_SLICES_M]
        return left + right[::-1]

    def hills(self) -> list[tuple[float, float]]:
        """A far ridge, which moves sideways as the walker turns."""
        width_px, seed = self.scene.width_px, self.scene.seed % 100
        ridge = []
        for x in range(0, width_px + 8, 8):
            bearing = x / width_px + self.heading
            rise = 0.05 + 0.02 * math.sin(5.1 * bearing + seed) + 0.015 * math.sin(13.7 * bearing + 2 * seed)
            ridge.append((float(x), self.horizon_px - rise * self.scene.height_px))
        return [(0.0, self.horizon_px), *ridge, (float(width_px), self.horizon_px)]

    def trees(self) -> Iterator[tuple[float, float]]:
        """The trees ahead as (ahead, right) in metres, the farthest first."""
        first = math.ceil((self.walked_m + _NEAR_M) / _TREE_EVERY_M)
        last = int((self.walked_m + _TREE_SIGHT_M) // _TREE_EVERY_M)
        for number in range(last, first - 1, -1):
            jitter_m = math.sin(12.9898 * number + self.scene.seed % 1000)
            ahead_m = number * _TREE_EVERY_M - self.walked_m
            yield ahead_m, (_TREE_ASIDE_M + jitter_m) * (1 if number % 2 else -1)

    def landmarks(self) -> Iterator[tuple[float, float, Landmark]]:
        """The landmarks in sight as (ahead, right, landmark): one at most, by the scene's cells."""
        for place_m, passage in self.scene.landmarks():
            ahead_m = place_m - self.walked_m
            if _NEAR_M <= ahead_m <= SIGHT_M:
                aside_m = _LANDMARK_ASIDE_M if passage.side is Side.RIGHT else -_LANDMARK_ASIDE_M
                yield ahead_m, aside_m, passage.landmark


def _draw_tree(pen: ImageDraw.ImageDraw, view: _View, ahead_m: float, right_m: float, palette: _Palette) -> None:
    pen.rectangle(view.box(ahead_m, right_m, 0.4, 2.5), fill=palette.trunk)
    left, top, right, _ = view.box(ahead_m, right_m, 2.4, 4.4)
    _, bottom = view.point(ahead_m, right_m, 1.8)
    pen.ellipse((left, top, right, bottom), fill=palette.crown)


def _draw_landmark(pen: ImageDraw.ImageDraw, box: tuple[float, ...], landmark: Landmark, level: int) -> None:
    left, top, right, bottom = box
    red, green, blue = (level if on else level // 12 for on in _CHANNELS[landmark.colour])
    if landmark.shape is Shape.PILLAR:
        pen.rectangle((left, top, right, bottom), fill=(red, green, blue))
    elif landmark.shape is Shape.BALL:
        pen.ellipse((left, top, right, bottom), fill=(red, green, blue))
    else:
        pen.polygon([((left + right) / 2, top), (right, bottom), (left, bottom)], fill=(red, green, blue))
