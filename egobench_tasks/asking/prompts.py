"""Templates and questions become a list of segments: text, or the frames of a clip (PROTOCOL 1.2, 2).

Hosts turn segments into their own message format and do nothing else, so that every model is
asked in the same words and the same order.
"""

import json
import os
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from egobench_tasks.asking.questions import ChoiceQuestion, Clip
from egobench_tasks.asking.wording import (
    LAYOUT_KEYS,
    Layout,
    Order,
    check_keys,
    check_placeholders,
    fingerprint,
    layout_of,
    read_file,
    say_what_is_ours,
    text_of,
    users_file,
)
from egobench_tasks.errors import InputError

PROMPTS_VARIABLE = "EGOBENCH_PROMPTS"
"""Names a file of wording in place of ours."""

_TEMPLATES = Path(__file__).parent.parent / "templates"
CHOICE_TEMPLATES = _TEMPLATES / "choice.toml"
OPEN_CHOICE_TEMPLATES = _TEMPLATES / "open_choice.toml"
OPEN_CHOICE_TEXT_TEMPLATES = _TEMPLATES / "open_choice_text.toml"
OPEN_TEMPLATES = _TEMPLATES / "open.toml"

# Where a user's file has its words for each of our files; EgoGears' stand at the top.
_OPEN_TABLE = "egotempo"
_CHOICE_TABLES = {
    CHOICE_TEMPLATES: None,
    OPEN_CHOICE_TEMPLATES: "egotempo_choice",
    OPEN_CHOICE_TEXT_TEMPLATES: "egotempo_choice_text",
}
_TABLES = frozenset({_OPEN_TABLE, *(name for name in _CHOICE_TABLES.values() if name)})
_CHOICE_KEYS = frozenset({"version", "single", "multi"}) | LAYOUT_KEYS
_OPEN_KEYS = frozenset({"version", "video", "text", "single_heading", "clip_end", "end", "order"})
_PLACEHOLDERS = frozenset({"question", "options", "n_select", "n_options", "n_clips", "example"})
_REQUIRED = frozenset({"question", "options"})


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of text of the message."""

    text: str


@dataclass(frozen=True, slots=True)
class ClipFrames:
    """All frames of the question's clip at ``clip_index``, in the order they are shown.

    ``order``: places in time of the first frame shown, the second …; None as they were filmed. Places
    beyond what the clip gives are passed over.
    """

    clip_index: int
    order: tuple[int, ...] | None = None


Segment = Text | ClipFrames


@dataclass(frozen=True, slots=True)
class ClipView:
    """A clip as a message shows it: which of the question's it is, its key, the label over it, and the order of its
    frames as in `ClipFrames`."""

    index: int
    label: str | None
    order: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class ChoiceTemplates:
    """The instruction for one clip and for several, with placeholders ``$question``, ``$options``, ``$n_select``,
    ``$n_options``, ``$n_clips``, ``$example`` and those of ``layout.plural``.

    ``version`` names the wording; `fingerprint` names its very characters.
    """

    version: str
    single: str
    multi: str
    layout: Layout = field(default_factory=Layout)

    @property
    def fingerprint(self) -> str:
        """``version`` and a digest of the wording, for task configs, journals and reports."""
        return fingerprint(self.version, self.single, self.multi, *self.layout.differences())


def choice_templates(ours: Path = CHOICE_TEMPLATES, environ: Mapping[str, str] = os.environ) -> ChoiceTemplates:
    """Return the user's wording (`PROMPTS_VARIABLE`) of what one of our files words, else ours.

    What the user's file leaves out is ours, and said. Raises ``InputError`` as `load_choice_templates` does.
    """
    path = users_file(PROMPTS_VARIABLE, environ)
    values = None if path is None else _users_values(path, _CHOICE_TABLES[ours])
    if path is None or values is None:
        return load_choice_templates(ours)
    base = {"multi": read_file(ours)["single"], **read_file(ours)}
    say_what_is_ours(f"{path}", (_CHOICE_KEYS & base.keys() | LAYOUT_KEYS - {"plural"}) - values.keys())
    return _choice_templates({**base, **values}, str(path))


def load_choice_templates(path: Path = CHOICE_TEMPLATES) -> ChoiceTemplates:
    """Read templates from a TOML file with the keys ``version``, ``single``, ``multi`` and those of `Layout`.

    Without ``multi``, ``single`` serves questions of several clips too; a layout left out is the plain one.
    Raises ``InputError`` for a file that cannot be read, a key that is missing or unknown, or a
    placeholder that is missing or unknown.
    """
    values = read_file(path)
    if "single" not in values:
        raise InputError(f"{path}: needs the keys version and single")
    return _choice_templates({"multi": values["single"], **values}, str(path))


def choice_segments(
    question: ChoiceQuestion,
    shown_to_original: Mapping[str, str],
    templates: ChoiceTemplates,
    clips: Sequence[ClipView] | None = None,
) -> list[Segment]:
    """Return the message of one question: the instruction and each clip's heading and frames, in the layout's order.

    ``shown_to_original`` is `options.shuffle_options`' result. ``clips`` are those shown, in the order shown; None for
    the question's own. Whatever is shown, the instruction is the question's own.
    """
    if clips is None:
        clips = [ClipView(index, clip.label) for index, clip in enumerate(question.clips)]
    parts = [part for view in clips for part in _clip_segments(view, question.clips, templates.layout)]
    return _ordered(Text(_instruction(question, shown_to_original, templates)), parts, templates.layout)


@dataclass(frozen=True, slots=True)
class OpenTemplates:
    """The instruction of open questions with frames (``video``) and without (``text``); placeholder ``$question``."""

    version: str
    video: str
    text: str
    layout: Layout = field(default_factory=Layout)

    @property
    def fingerprint(self) -> str:
        """``version`` and a digest of the wording, for task configs, journals and reports."""
        return fingerprint(self.version, self.video, self.text, *self.layout.differences())


def load_open_templates() -> OpenTemplates:
    """Read our wording of EgoTempo's questions, ``templates/open.toml``."""
    return _open_templates(read_file(OPEN_TEMPLATES), str(OPEN_TEMPLATES))


def open_templates(environ: Mapping[str, str] = os.environ) -> OpenTemplates:
    """Return the user's wording of EgoTempo's questions (table ``egotempo`` of `PROMPTS_VARIABLE`'s file), else ours.

    What the file leaves out is ours, and said. Raises ``InputError`` for a file that cannot be used.
    """
    path = users_file(PROMPTS_VARIABLE, environ)
    values = None if path is None else _users_values(path, _OPEN_TABLE)
    if path is None or values is None:
        return load_open_templates()
    say_what_is_ours(f"{path}: {_OPEN_TABLE}", _OPEN_KEYS - values.keys())
    return _open_templates({**read_file(OPEN_TEMPLATES), **values}, f"{path}: {_OPEN_TABLE}")


def open_segments(question: str, templates: OpenTemplates, *, with_frames: bool) -> list[Segment]:
    """Return the message of an open question: the frames of its one clip, if any, and the instruction (PROTOCOL 2)."""
    layout = templates.layout
    template = templates.video if with_frames else templates.text
    instruction = Text(string.Template(layout.finished(template)).substitute(question=question))
    frames = _clip_segments(ClipView(0, None), (), layout) if with_frames else []
    return _ordered(instruction, frames, layout)


def _users_values(path: Path, table: str | None) -> dict[str, Any] | None:
    """A user's words for one of our files, None where his file has none; the version is the file's own."""
    loaded = read_file(path)
    own = {key: value for key, value in loaded.items() if key not in _TABLES}
    check_keys(own, _CHOICE_KEYS, str(path))
    if table is None:
        return own
    if table not in loaded:
        say_what_is_ours(str(path), [table])
        return None
    if not isinstance(loaded[table], dict):
        raise InputError(f"{path}: {table} must be a table")
    return {"version": own["version"], **loaded[table]}


def _choice_templates(values: Mapping[str, Any], where: str) -> ChoiceTemplates:
    check_keys(values, _CHOICE_KEYS, where)
    layout = layout_of(values, where)
    version, single, multi = (text_of(values, key, where) for key in ("version", "single", "multi"))
    for key, template in (("single", single), ("multi", multi)):
        check_placeholders(template, _PLACEHOLDERS | layout.plural.keys(), _REQUIRED, f"{where}: {key}")
    return ChoiceTemplates(version, single, multi, layout)


def _open_templates(values: Mapping[str, Any], where: str) -> OpenTemplates:
    check_keys(values, _OPEN_KEYS, where)
    version, video, text = (text_of(values, key, where) for key in ("version", "video", "text"))
    for key, template in (("video", video), ("text", text)):
        check_placeholders(template, {"question"}, {"question"}, f"{where}: {key}")
    return OpenTemplates(version, video, text, layout_of(values, where))


def _ordered(instruction: Text, clips: list[Segment], layout: Layout) -> list[Segment]:
    return [*clips, instruction] if layout.order is Order.FRAMES_FIRST else [instruction, *clips]


def _clip_segments(view: ClipView, clips: Sequence[Clip], layout: Layout) -> list[Segment]:
    """A clip's heading, its frames and what follows them."""
    parts: tuple[Segment, ...] = (
        Text(_heading(view, clips, layout)),
        ClipFrames(view.index, view.order),
        Text(layout.clip_end),
    )
    return [part for part in parts if part != Text("")]


def _heading(view: ClipView, clips: Sequence[Clip], layout: Layout) -> str:
    """The line over a clip. Its number goes with its label: headings that are exchanged are exchanged whole."""
    own = clips[view.index].label if clips else None
    if view.label is None:
        return layout.single_heading if own is None else ""  # a label that a probe took away
    labels = [clip.label for clip in clips]
    number = view.index if view.label == own or view.label not in labels else labels.index(view.label)
    return string.Template(layout.heading).substitute(label=view.label, number=number + 1)


def _instruction(question: ChoiceQuestion, shown_to_original: Mapping[str, str], templates: ChoiceTemplates) -> str:
    layout = templates.layout
    text_by_letter = dict(zip(question.letters, question.options, strict=True))
    shown = sorted(shown_to_original)
    option = string.Template(layout.option)
    options = [option.substitute(letter=letter, text=text_by_letter[shown_to_original[letter]]) for letter in shown]
    labelled = any(clip.label is not None for clip in question.clips)
    template = templates.multi if labelled else templates.single
    one = question.n_select == 1
    return string.Template(layout.finished(template)).substitute(
        question=question.question,
        options=layout.between_options.join(options),
        n_select=question.n_select,
        n_options=len(shown),
        n_clips=len(question.clips),
        example=json.dumps({"answer": shown[: question.n_select]}),
        **{name: words[0] if one else words[1] for name, words in layout.plural.items()},
    )
