"""Reads walks back from decoded frames, by colour alone: the eyes of the oracle.

It shares the vocabulary of `walks` with the generator and nothing else: no script, no file, no time stamp.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from dataset_scripts.sample.walks import Colour, Event, Landmark, Lighting, Pace, Passage, Shape, Side, Turn, Walk

_STEP_PX = 2
"""Every second pixel each way is enough, and four times as fast."""
_MIN_SATURATION, _MIN_LEVEL = 0.6, 80
_MAX_DULL_SATURATION = 0.5
_MIN_LANDMARK = 0.0008  # of the picture's area: less is a speck of compression
_DAY_LEVEL = 110
_BENT = 0.07  # of the width: how far a bent path lies aside some way ahead, at the least
_RUN_BOB = 0.04  # of the short side: the spread of the horizon over a clip, more than a walk's, less than a run's
_OUTLINES = {Shape.PILLAR: (1.0, 0.29), Shape.BALL: (np.pi / 4, 1.0), Shape.CONE: (0.5, 0.5)}
_HUES_BY_60_DEGREES = (Colour.RED, Colour.YELLOW, Colour.GREEN, Colour.TURQUOISE, Colour.BLUE, Colour.PINK)


@dataclass(frozen=True, slots=True)
class Glimpse:
    """A landmark in one frame. ``area`` is in parts of the picture, ``x`` its middle from 0 (left) to 1.

    ``outline`` is the part of its bounding box that it covers, and the box's width over its height; None where the
    picture's edge cuts it.
    """

    colour: Colour
    area: float
    x: float
    outline: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Look:
    """What one frame shows.

    ``horizon`` is its height in parts of the short side, None where there is none; ``path_aside`` how far the path some
    way ahead lies to the right of the middle, in parts of the width, None where no path is seen.
    """

    lighting: Lighting
    horizon: float | None
    path_aside: float | None
    glimpses: tuple[Glimpse, ...]


def look_at(frame: Image.Image) -> Look:
    """Read one RGB frame of any size."""
    pixels = np.asarray(frame)[::_STEP_PX, ::_STEP_PX].transpose(2, 0, 1).astype(np.int16)
    red, green, blue = pixels
    level = np.maximum(np.maximum(red, green), blue)
    spread = level - np.minimum(np.minimum(red, green), blue)
    vivid = (spread > _MIN_SATURATION * level) & (level > _MIN_LEVEL)
    dull = spread < _MAX_DULL_SATURATION * level
    horizon_row = _horizon_row(green, blue)
    return Look(
        lighting=Lighting.DAY if np.median(blue[: len(blue) // 8 + 1]) > _DAY_LEVEL else Lighting.NIGHT,
        horizon=None if horizon_row is None else horizon_row / min(vivid.shape),
        path_aside=None if horizon_row is None else _path_aside(pixels, dull, horizon_row),
        glimpses=tuple(_glimpses(pixels, vivid)),
    )


def walk_seen(frames: Sequence[Image.Image]) -> Walk:
    """Read the frames of one clip, in the order given, as a walk; no event where they show none."""
    return walk_of([look_at(frame) for frame in frames])


def walk_of(looks: Sequence[Look]) -> Walk:
    """See `walk_seen`: the same of frames that were looked at already."""
    horizons = [look.horizon for look in looks if look.horizon is not None]
    # Percentiles, since a far tree in a bend may hide the horizon for a moment.
    bob = float(np.ptp(np.percentile(horizons, (10, 90)))) if horizons else 0.0
    by_day = sum(look.lighting is Lighting.DAY for look in looks)
    timed_events: list[tuple[float, Event]] = [*_passages(looks), *_turns(looks)]
    return Walk(
        events=tuple(event for _, event in sorted(timed_events, key=lambda timed: timed[0])),
        lighting=Lighting.DAY if by_day * 2 > len(looks) else Lighting.NIGHT,
        pace=Pace.RUN if bob > _RUN_BOB else Pace.WALK,
    )


def _passages(looks: Sequence[Look]) -> list[tuple[float, Passage]]:
    """Each colour's landmark with the index of the last frame that shows it."""
    glimpses: dict[Colour, list[tuple[int, Glimpse]]] = defaultdict(list)
    for index, look in enumerate(looks):
        for glimpse in look.glimpses:
            glimpses[glimpse.colour].append((index, glimpse))
    passages: list[tuple[float, Passage]] = []
    for colour, seen in glimpses.items():
        whole = [glimpse for _, glimpse in seen if glimpse.outline is not None]
        if whole:
            last_index, last = seen[-1]
            side = Side.LEFT if last.x < 0.5 else Side.RIGHT
            passages.append((float(last_index), Passage(Landmark(colour, _shape(whole)), side)))
    return passages


def _shape(whole: Sequence[Glimpse]) -> Shape:
    outline = max(whole, key=lambda glimpse: glimpse.area).outline
    assert outline is not None
    return min(Shape, key=lambda shape: math.dist(_OUTLINES[shape], outline))


def _turns(looks: Sequence[Look]) -> list[tuple[float, Turn]]:
    """A turn to each side that the path bends to, with the mean index of the frames that show it."""
    turns: list[tuple[float, Turn]] = []
    for side, sign in ((Side.LEFT, -1), (Side.RIGHT, 1)):
        bent = [
            index for index, look in enumerate(looks) if look.path_aside is not None and look.path_aside * sign > _BENT
        ]
        if bent:
            turns.append((float(np.mean(bent)), Turn(side)))
    return turns


def _horizon_row(green: NDArray[np.int16], blue: NDArray[np.int16]) -> int | None:
    """The topmost row that is greener than blue in the very middle, where no landmark and hardly a tree comes."""
    width = green.shape[1]
    middle = slice(int(width * 0.46), int(width * 0.54) + 1)
    greener = np.flatnonzero(np.median(green[:, middle], axis=1) > np.median(blue[:, middle], axis=1))
    return int(greener[0]) if greener.size else None


def _path_aside(pixels: NDArray[np.int16], dull: NDArray[np.bool_], horizon_row: int) -> float | None:
    """Where the path is in a strip some way below the horizon: far enough to bend aside, near enough to be broad."""
    width = dull.shape[1]
    strip = slice(horizon_row + width // 23, horizon_row + width // 13)
    red, green, blue = pixels[:, strip]
    columns = np.nonzero(dull[strip] & (red > green + 5) & (green > blue))[1]
    return float(np.median(columns) / width - 0.5) if columns.size else None


def _glimpses(pixels: NDArray[np.int16], vivid: NDArray[np.bool_]) -> list[Glimpse]:
    height, width = vivid.shape
    rows, columns = np.nonzero(vivid)
    if not rows.size:
        return []
    hues = _nearest_hues(pixels[:, rows, columns])
    found = []
    for number, colour in enumerate(_HUES_BY_60_DEGREES):
        ys, xs = rows[hues == number], columns[hues == number]
        area = ys.size / vivid.size
        if area < _MIN_LANDMARK:
            continue
        top, bottom, left, right = ys.min(), ys.max(), xs.min(), xs.max()
        cut = top == 0 or left == 0 or bottom == height - 1 or right == width - 1
        box_height, box_width = int(bottom - top) + 1, int(right - left) + 1
        outline = None if cut else (ys.size / (box_height * box_width), box_width / box_height)
        found.append(Glimpse(colour, area, float(xs.mean() / width), outline))
    return found


def _nearest_hues(colours: NDArray[np.int16]) -> NDArray[np.int64]:
    """The nearest multiple of 60° (0 to 5) to the hue of each column of red, green and blue."""
    red, green, blue = colours.astype(np.float64)
    # The hue circle's two axes, so that no case distinction by the largest channel is needed.
    degrees = np.degrees(np.arctan2(np.sqrt(3) * (green - blue), 2 * red - green - blue))
    nearest: NDArray[np.int64] = np.rint(degrees / 60).astype(np.int64) % 6
    return nearest
