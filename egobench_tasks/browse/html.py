"""The list, a question and its frames as HTML. Whatever a dataset or a run holds is escaped; nothing is fetched
but clips from this server."""

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import quote

from jinja2 import Environment

from egobench_tasks.browse.catalogue import FACETS, PAGE_SIZE, Entry, Verdict, counts, n_lost, page_of
from egobench_tasks.browse.question import QuestionPage, ShownClip, split_reasoning
from egobench_tasks.browse.strips import Strip
from egobench_tasks.report.analyse.terms import in_words
from egobench_tasks.report.show.templating import page_templates

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


def behaviour() -> str:
    """What the list does in a browser: clicks, keys, Back."""
    return (_ASSETS / "browse.js").read_text(encoding="utf-8")


def style() -> str:
    """The style sheet of all of them."""
    return (_ASSETS / "browse.css").read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Beside:
    """What stands beside a list: where runs lie, by name, and the address of their report, None where there is none."""

    folders: Mapping[str, str] = field(default_factory=dict)
    report_url: str | None = None


NOTHING_BESIDE = Beside()


def list_html(
    entries: Sequence[Entry],
    runs: Sequence[str],
    n_all: int,
    selected: str | None = None,
    page: int | None = None,
    beside: Beside = NOTHING_BESIDE,
) -> str:
    """Return a page of the list: a link a question, a mark a run, and over it how many each run has right of them all.

    ``page``: from 0; that of the selected question where it is None.
    """
    tallies = [(run, beside.folders.get(run, ""), *counts(entries, run), n_lost(entries, run)) for run in runs]
    last = max(0, (len(entries) - 1) // PAGE_SIZE)
    number = page_of(entries, selected) if page is None else min(max(page, 0), last)
    start = number * PAGE_SIZE
    return _render(
        "list.html.j2",
        entries=entries[start : start + PAGE_SIZE],
        n_matching=len(entries),
        start=start,
        page=number,
        last_page=last,
        tallies=tallies,
        n_all=n_all,
        selected=selected,
        report_url=beside.report_url,
    )


def question_html(page: QuestionPage, clip_url: ClipUrl, folders: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return a question: clips side by side, options in both orders, gold, what each run said.

    ``folders``: where each run lies, by its name.
    """
    facets = [
        (title, in_words(page.entry.facets[facet])) for facet, title in FACETS.items() if facet in page.entry.facets
    ]
    clips = [(clip, clip_address(clip, clip_url)) for clip in page.clips]
    return _render("question.html.j2", page=page, facets=facets, clips=clips, folders=folders)


def strips_html(page: QuestionPage, strips: Sequence[Strip]) -> str:
    """Return the frames, a strip a clip, each with the second it is from."""
    n_frames = sum(len(strip.jpegs) for strip in strips)
    return _render("strips.html.j2", rule=page.frames_rule, strips=strips, n_frames=n_frames)


def message_html(message: str) -> str:
    """Return a message in place of a question."""
    return _render("message.html.j2", message=message)


def clip_address(clip: ShownClip, clip_url: ClipUrl) -> str | None:
    """Return the clip's address, None where it is not here. Players start at the part of it that counts."""
    if clip.path is None:
        return None
    window = "" if clip.window_s is None else f"#t={clip.window_s[0]:g},{clip.window_s[1]:g}"
    return clip_url(clip.path) + window


def _render(template: str, **values: object) -> str:
    return _environment().get_template(template).render(**values)


@cache
def _environment() -> Environment:
    return page_templates([_ASSETS], _FILTERS)
