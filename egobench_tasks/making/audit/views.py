"""How an audit shows a question: words alone, options alone, one frame, all of it, and each option by itself."""

import string
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

from egobench_tasks.asking.choice import readable, show_choice
from egobench_tasks.asking.open import OPEN_ANSWER_TOKENS, show_open
from egobench_tasks.asking.open_settings import DEFAULT_SETTING, TEXT_ONLY, open_settings
from egobench_tasks.asking.probes import find_probe
from egobench_tasks.asking.prompts import ClipFrames, Segment, Text, choice_templates, open_templates
from egobench_tasks.benchmarks import EGOGEARS
from egobench_tasks.hosts.endpoint.questions import EndpointQuestion

_STATEMENT_FILE = Path(__file__).parents[2] / "templates" / "audit.toml"
STATEMENT_TOKENS = 512


class View(StrEnum):
    """What a model is shown of a question."""

    WORDS = "words"
    OPTIONS = "options"
    ONE_FRAME = "one_frame"
    FULL = "full"


CHOICE_PROBES: Mapping[View, str | None] = {
    View.WORDS: "blind",
    View.OPTIONS: "optionsonly",
    View.ONE_FRAME: "center",
    View.FULL: None,
}
OPEN_SETTINGS: Mapping[View, str] = {View.WORDS: TEXT_ONLY, View.ONE_FRAME: "center", View.FULL: DEFAULT_SETTING}


@dataclass(frozen=True, slots=True)
class AskedView:
    """A question in one view, ready to be asked. ``facts`` are what scoring needs (`ShownQuestion.facts`)."""

    view: View
    asked: EndpointQuestion
    facts: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class AskedStatement:
    """One option of a question put to the clips alone. ``option`` is its index in the dataset."""

    question_id: str
    option: int
    asked: EndpointQuestion


def choice_views(row: Mapping[str, Any]) -> list[AskedView]:
    """Return a row of EgoGears in every view, through the probes that runs use."""
    shown = {
        view: show_choice(
            row,
            choice_templates(),
            EGOGEARS.frames_per_question,
            EGOGEARS.min_frames_per_clip,
            find_probe(probe) if probe else None,
        )
        for view, probe in CHOICE_PROBES.items()
    }
    return [AskedView(view, _question(one, view, EGOGEARS.max_new_tokens), one.facts()) for view, one in shown.items()]


def open_views(row: Mapping[str, Any]) -> list[AskedView]:
    """Return a row of EgoTempo in every view; it has no options. Without a clip, its words are all there is."""
    settings = open_settings()
    views = OPEN_SETTINGS if row["video"] is not None else {View.WORDS: TEXT_ONLY}
    shown = {view: show_open(row, open_templates(), settings[name]) for view, name in views.items()}
    return [AskedView(view, _question(one, view, OPEN_ANSWER_TOKENS), one.facts()) for view, one in shown.items()]


def statements(row: Mapping[str, Any]) -> list[AskedStatement]:
    """Return each option of a row of EgoGears as a statement about the clips, shown as in the question itself."""
    shown = show_choice(row, choice_templates(), EGOGEARS.frames_per_question, EGOGEARS.min_frames_per_clip)
    clips = [part for part in shown.segments[1:] if isinstance(part, Text | ClipFrames)]
    asked = []
    for index, option in enumerate(shown.question.options):
        words = _statement().substitute(question=shown.question.question, statement=option)
        segments: tuple[Segment, ...] = (*clips, Text(f"\n{words.strip()}\n"))
        question = EndpointQuestion(
            question_id=shown.question.question_id,
            task=f"audit_statement_{index}",
            prompt=readable(segments, shown.frames),
            segments=segments,
            frames=shown.frames,
            budget_tokens=STATEMENT_TOKENS,
        )
        asked.append(AskedStatement(shown.question.question_id, index, question))
    return asked


def _question(shown: Any, view: View, budget_tokens: int) -> EndpointQuestion:
    return EndpointQuestion(
        question_id=shown.question.question_id,
        task=f"audit_{view}",
        prompt=shown.readable(),
        segments=shown.segments,
        frames=shown.frames,
        budget_tokens=budget_tokens,
    )


def _statement() -> string.Template:
    return string.Template(_wording()["statement"])


@cache
def _wording() -> Mapping[str, str]:
    return tomllib.loads(_STATEMENT_FILE.read_text(encoding="utf-8"))
