"""The list, a question and its frames as HTML. Whatever a dataset or a run holds is escaped; nothing is fetched
but clips from this server."""

import base64
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from egobench_tasks.browse.catalogue import FACETS, Entry, Verdict, counts, n_lost
from egobench_tasks.browse.question import QuestionPage, ShownClip, split_reasoning
from egobench_tasks.browse.strips import Strip

_ASSETS = Path(__file__).parent / "assets"
_MARKS = {
    Verdict.RIGHT: "✓",
    Verdict.WRONG: "✗",
    Verdict.NO_ANSWER: "∅",
    Verdict.NO_VERDICT: "?",
    Verdict.LOST: "◌",
    Verdict.NOT_ASKED: "–",
}

_FILTERS: dict[str, Callable[..., Any]] = {
    "mark": _MARKS.__getitem__,
    "slug": lambda verdict: str(verdict).replace(" ", "-"),
    "jpeg_uri": lambda jpeg: f"data:image/jpeg;base64,{base64.b64encode(jpeg).decode()}",
    "question_url": lambda question_id: f"?question={quote(question_id, safe='')}",
    "probe_url": lambda question_id, probe: f"?question={quote(question_id, safe='')}&probe={quote(probe, safe='')}",
    "split_reasoning": split_reasoning,
    "seconds": lambda seconds: f"{seconds:.1f} s",
}

ClipUrl = Callable[[str], str]
"""From a clip's local path to the address it plays from."""


def style() -> str:
    """The style sheet of all of them."""
    return (_ASSETS / "browse.css").read_text(encoding="utf-8")


def list_html(entries: Sequence[Entry], runs: Sequence[str], n_all: int, selected: str | None = None) -> str:
    """Return the list: a link a question, a mark a run, and over it how many each run has right of those listed."""
    tallies = [(run, *counts(entries, run), n_lost(entries, run)) for run in runs]
    return _render("list.html.j2", entries=entries, tallies=tallies, n_all=n_all, selected=selected)


def question_html(page: QuestionPage, clip_url: ClipUrl) -> str:
    """Return a question: clips side by side, options in both orders, gold, what each run said."""
    facets = [(title, page.entry.facets[facet]) for facet, title in FACETS.items() if facet in page.entry.facets]
    clips = [(clip, _clip_url(clip, clip_url)) for clip in page.clips]
    return _render("question.html.j2", page=page, facets=facets, clips=clips)


def strips_html(page: QuestionPage, strips: Sequence[Strip]) -> str:
    """Return the frames, a strip a clip, each with the second it is from."""
    n_frames = sum(len(strip.jpegs) for strip in strips)
    return _render("strips.html.j2", rule=page.frames_rule, strips=strips, n_frames=n_frames)


def message_html(message: str) -> str:
    """Return a message in place of a question."""
    return _render("message.html.j2", message=message)


def _clip_url(clip: ShownClip, clip_url: ClipUrl) -> str | None:
    """The clip's address, with the part of it that counts: players then start there."""
    if clip.path is None:
        return None
    window = "" if clip.window_s is None else f"#t={clip.window_s[0]:g},{clip.window_s[1]:g}"
    return clip_url(clip.path) + window


def _render(template: str, **values: object) -> str:
    return _environment().get_template(template).render(**values)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_ASSETS),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= _FILTERS
    return environment
