"""Clips, frames and forms as HTML. Whatever a dataset, a model or a person wrote is escaped."""

import base64
import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment

from egobench_tasks.browse.app import clip_url
from egobench_tasks.browse.html import clip_address
from egobench_tasks.browse.question import QuestionPage
from egobench_tasks.browse.strips import Strip
from egobench_tasks.report.show.templating import page_templates

_MAKING = Path(__file__).parents[1]
_FOLDERS = [_MAKING / name / "assets" for name in ("pages", "review", "exam")]
_FILTERS: dict[str, Callable[..., Any]] = {
    "jpeg_uri": lambda jpeg: f"data:image/jpeg;base64,{base64.b64encode(jpeg).decode()}",
    "seconds": lambda seconds: f"{seconds:.1f} s",
    "as_json": lambda value: json.dumps(value, ensure_ascii=False),
}


def clips_html(page: QuestionPage) -> str:
    """Return a question's clips, to be played."""
    clips = [(clip, clip_address(clip, clip_url)) for clip in page.clips]
    return render("clips.html.j2", question_id=page.entry.question_id, clips=clips)


def strips_html(page: QuestionPage, strips: Sequence[Strip]) -> str:
    """Return a question's frames as models see them, without the seconds they are from."""
    return render("strips.html.j2", question_id=page.entry.question_id, strips=strips)


def clip_addresses(page: QuestionPage | None) -> list[str]:
    """Return where a question's clips play from; none for no question."""
    return [] if page is None else [address for clip in page.clips if (address := clip_address(clip, clip_url))]


def render(template: str, **values: object) -> str:
    """Fill in a template of a page's."""
    return _environment().get_template(template).render(**values)


@cache
def _environment() -> Environment:
    return page_templates(_FOLDERS, _FILTERS)
