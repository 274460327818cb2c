"""Templates and questions become a list of segments: text, or the frames of a clip (PROTOCOL 1.2).

Hosts turn segments into their own message format and do nothing else, so that every model is
asked in the same words and the same order.
"""

import hashlib
import json
import string
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from egobench_tasks.asking.questions import ChoiceQuestion
from egobench_tasks.errors import InputError

PROMPTS_VARIABLE = "EGOBENCH_PROMPTS"
"""Names a file of EgoGears templates in place of ours."""

_TEMPLATES = Path(__file__).parent.parent / "templates"
CHOICE_TEMPLATES = _TEMPLATES / "choice.toml"
OPEN_CHOICE_TEMPLATES = _TEMPLATES / "open_choice.toml"
OPEN_CHOICE_TEXT_TEMPLATES = _TEMPLATES / "open_choice_text.toml"
OPEN_TEMPLATES = _TEMPLATES / "open.toml"
_PLACEHOLDERS = frozenset({"question", "options", "n_select", "example"})
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
    """The instruction for one clip and for several, with placeholders ``$question``, ``$options``,
    ``$n_select`` and ``$example``.

    ``version`` names the wording; `fingerprint` names its very characters.
    """

    version: str
    single: str
    multi: str

    @property
    def fingerprint(self) -> str:
        """``version`` and a digest of the wording, for task configs, journals and reports."""
        return _fingerprint(self.version, self.single, self.multi)


def load_choice_templates(path: Path = CHOICE_TEMPLATES) -> ChoiceTemplates:
    """Read templates from a TOML file with the keys ``version``, ``single`` and ``multi``.

    Without ``multi``, ``single`` serves questions of several clips too.
    Raises ``InputError`` for a file that cannot be read, a key that is missing or unknown, or a
    placeholder that is missing or unknown.
    """
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path}: cannot read the prompt templates: {error}") from error
    values.setdefault("multi", values.get("single"))
    if set(values) != {"version", "single", "multi"} or not all(isinstance(value, str) for value in values.values()):
        raise InputError(
            f"{path}: needs the keys version, single and multi, all text, and no other; has {sorted(values)}"
        )
    for key in ("single", "multi"):
        _check_placeholders(values[key], f"{path}: {key}")
    return ChoiceTemplates(**values)


def choice_segments(
    question: ChoiceQuestion,
    shown_to_original: Mapping[str, str],
    templates: ChoiceTemplates,
    clips: Sequence[ClipView] | None = None,
) -> list[Segment]:
    """Return the message of one question: the instruction, then each clip's label and frames.

    The label stands on a line of its own; a clip without one (EgoGears' single questions) has
    none. ``shown_to_original`` is `options.shuffle_options`' result. ``clips`` are those shown, in the
    order shown; None for the question's own. Whatever is shown, the instruction is the question's own.
    """
    if clips is None:
        clips = [ClipView(index, clip.label) for index, clip in enumerate(question.clips)]
    segments: list[Segment] = [Text(_instruction(question, shown_to_original, templates))]
    for clip in clips:
        if clip.label is not None:
            segments.append(Text(f"\n{clip.label}\n"))
        segments.append(ClipFrames(clip.index, clip.order))
    return segments


@dataclass(frozen=True, slots=True)
class OpenTemplates:
    """The instruction of open questions with frames (``video``) and without (``text``); placeholder ``$question``."""

    version: str
    video: str
    text: str

    @property
    def fingerprint(self) -> str:
        """``version`` and a digest of the wording, for task configs, journals and reports."""
        return _fingerprint(self.version, self.video, self.text)


def load_open_templates() -> OpenTemplates:
    """Read EgoTempo's wording, ``templates/open.toml``."""
    return OpenTemplates(**tomllib.loads(OPEN_TEMPLATES.read_text(encoding="utf-8")))


def open_segments(question: str, templates: OpenTemplates, *, with_frames: bool) -> list[Segment]:
    """Return the message of an open question: the instruction, then the frames of its one clip, if any."""
    template = templates.video if with_frames else templates.text
    instruction = Text(string.Template(f"{template.strip()}\n").substitute(question=question))
    return [instruction, ClipFrames(0)] if with_frames else [instruction]


def _fingerprint(version: str, *wordings: str) -> str:
    digest = hashlib.sha256("\0".join(wordings).encode()).hexdigest()
    return f"{version}-{digest[:12]}"


def _instruction(question: ChoiceQuestion, shown_to_original: Mapping[str, str], templates: ChoiceTemplates) -> str:
    text_of = dict(zip(question.letters, question.options, strict=True))
    shown = sorted(shown_to_original)
    labelled = any(clip.label is not None for clip in question.clips)
    template = templates.multi if labelled else templates.single
    return string.Template(f"{template.strip()}\n").substitute(
        question=question.question,
        options="\n".join(f"{letter}. {text_of[shown_to_original[letter]]}" for letter in shown),
        n_select=question.n_select,
        example=json.dumps({"answer": shown[: question.n_select]}),
    )


def _check_placeholders(template: str, where: str) -> None:
    parsed = string.Template(template)
    if not parsed.is_valid():
        raise InputError(f"{where}: a stray $; write $$ for the sign itself")
    names = set(parsed.get_identifiers())
    if unknown := names - _PLACEHOLDERS:
        raise InputError(f"{where}: unknown placeholder {sorted(unknown)}; known are {sorted(_PLACEHOLDERS)}")
    if missing := _REQUIRED - names:
        raise InputError(f"{where}: the placeholder {sorted(missing)} is missing")
