import math

import pytest

from egobench_tasks.frames.picture import upright_filters


def matrix(degrees, flip_x=1, flip_y=1):
    """A display matrix that turns clockwise, mirrored as asked (av_display_rotation_set)."""
    angle = -math.radians(degrees)
    one = 1 << 16
    cos, sin = round(math.cos(angle) * one), round(math.sin(angle) * one)
    return (flip_x * cos, flip_y * -sin, 0, flip_x * sin, flip_y * cos, 0, 0, 0, 1 << 30)


@pytest.mark.parametrize(
    ("display_matrix", "filters"),
    [
        (None, []),
        (matrix(0), []),
        ((0,) * 9, []),
        (matrix(90), [("transpose", "clock")]),
        (matrix(-90), [("transpose", "cclock")]),
        (matrix(270), [("transpose", "cclock")]),
        (matrix(180), [("hflip", ""), ("vflip", "")]),
        (matrix(0, flip_x=-1), [("hflip", "")]),
        (matrix(0, flip_y=-1), [("vflip", "")]),
        (matrix(30), [("rotate", "30.000000*PI/180")]),
    ],
)
def test_filters_that_turn_a_frame_upright(display_matrix, filters):
    """As FFmpeg's program sets them up; the parity tests hold the pixels against it."""
    assert upright_filters(display_matrix) == filters
