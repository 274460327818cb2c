"""A question as a model gets it, as a picture: ``python -m dataset_scripts.sample.picture DATASET PNG``."""

import sys
import textwrap
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from egobench_tasks.asking.choice import ShownQuestion, show_choice
from egobench_tasks.asking.messages import jpeg_parts
from egobench_tasks.asking.prompts import load_choice_templates
from egobench_tasks.benchmarks import EGOGEARS
from egobench_tasks.data import load_rows, parse_location
from egobench_tasks.frames.lazy import open_jpeg

_WIDTH_PX, _MARGIN_PX, _GAP_PX = 1200, 24, 4
_FRAMES_A_ROW = 11
_FONT = ImageFont.load_default(size=16)
_LINE_PX = 22
_CHARACTERS_A_LINE = 140
_N_CLIPS = 2


def draw(shown: ShownQuestion) -> Image.Image:
    """Return the whole message: text as text, each label on its line, each frame small, in order."""
    page = Image.new("RGB", (_WIDTH_PX, 4000), "white")
    top = _MARGIN_PX
    for part in _grouped(jpeg_parts(shown.segments, shown.frames)):
        top = _write(page, part, top) if isinstance(part, str) else _paste(page, part, top)
    return page.crop((0, 0, _WIDTH_PX, top + _MARGIN_PX))


def _grouped(parts: list[str | bytes]) -> list[str | list[bytes]]:
    """Frames that follow each other as one list."""
    grouped: list[str | list[bytes]] = []
    for part in parts:
        if isinstance(part, str):
            grouped.append(part)
        elif grouped and isinstance(grouped[-1], list):
            grouped[-1].append(part)
        else:
            grouped.append([part])
    return grouped


def _write(page: Image.Image, text: str, top: int) -> int:
    for line in text.rstrip("\n").split("\n"):
        for piece in textwrap.wrap(line, _CHARACTERS_A_LINE) or [""]:
            ImageDraw.Draw(page).text((_MARGIN_PX, top), piece, fill="black", font=_FONT)
            top += _LINE_PX
    return top + _GAP_PX


def _paste(page: Image.Image, jpegs: list[bytes], top: int) -> int:
    width_px = (_WIDTH_PX - 2 * _MARGIN_PX) // _FRAMES_A_ROW - _GAP_PX
    height_px = 0
    for number, jpeg in enumerate(jpegs):
        frame = open_jpeg(jpeg)
        height_px = round(width_px * frame.height / frame.width)
        row, column = divmod(number, _FRAMES_A_ROW)
        place = (_MARGIN_PX + column * (width_px + _GAP_PX), top + row * (height_px + _GAP_PX))
        page.paste(frame.resize((width_px, height_px), Image.Resampling.LANCZOS), place)
    return top + -(-len(jpegs) // _FRAMES_A_ROW) * (height_px + _GAP_PX)


def main(dataset: str, png: str) -> None:
    """Draw the first question of two clips."""
    rows = load_rows(parse_location(dataset, where="DATASET"), "multi")
    row = next(row for row in rows if len(row["videos"]) == _N_CLIPS)
    shown = show_choice(row, load_choice_templates(), EGOGEARS.frames_per_question, EGOGEARS.min_frames_per_clip)
    draw(shown).save(Path(png), optimize=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
