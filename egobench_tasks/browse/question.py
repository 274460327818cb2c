"""All that a question's page shows, as values: clips, options in both orders, gold, every run's answer. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from egobench_tasks.asking.prompts import ClipView
from egobench_tasks.browse.catalogue import Entry, Verdict
from egobench_tasks.frames.lazy import FrameList
from egobench_tasks.scoring import reasoning


@dataclass(frozen=True, slots=True)
class ShownClip:
    """A clip to play: a local path, or None where the dataset holds none. ``window_s``: the part that counts."""

    label: str | None
    path: str | None
    duration_s: float | None
    window_s: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class ShownOption:
    """An option with its letter as shown to models and its letter in the dataset."""

    shown: str
    original: str
    text: str
    is_gold: bool


@dataclass(frozen=True, slots=True)
class RunAnswer:
    """What one run said, word for word, and what was read from it.

    ``text`` is the generation; ``reasoning`` is what the host kept apart from it. ``parsed`` is the
    answer as read, in words, and ``chosen`` its letters as shown; ``failure`` says why there is none.
    ``score`` is the partial credit in words, or a judge's score; ``reason`` is a judge's.
    """

    run: str
    verdict: Verdict
    text: str = ""
    reasoning: str = ""
    finish_reason: str = ""
    parsed: str = ""
    chosen: frozenset[str] = frozenset()
    failure: str = ""
    score: str = ""
    reason: str = ""
    frames: str = ""


@dataclass(frozen=True, slots=True)
class QuestionPage:
    """One question. ``options`` are in shown order, none for an open question, whose gold is ``answer``.

    ``frames`` are those of the clips, decoded when they are asked for; ``frames_rule`` says how they were chosen.
    ``shown``: the clips that models see, in that order; None for all as they are. ``message``: the words of the
    message, frames left out. ``probe``: by which probe the question is shown, empty for the benchmark itself;
    ``probe_note`` says what that did, ``probes`` names those that apply to the question.
    """

    entry: Entry
    clips: tuple[ShownClip, ...]
    options: tuple[ShownOption, ...]
    answer: str
    answers: tuple[RunAnswer, ...]
    frames: FrameList
    frames_rule: str
    shown: tuple[ClipView, ...] | None = None
    message: str = ""
    probe: str = ""
    probe_note: str = ""
    probes: tuple[str, ...] = ()


def shown_options(
    options: Sequence[str], letters: str, gold: frozenset[str], shown_to_original: Mapping[str, str]
) -> tuple[ShownOption, ...]:
    """Return a question's options in the order models see them; ``options`` and ``letters`` are in the dataset's."""
    text_of = dict(zip(letters, options, strict=True))
    return tuple(
        ShownOption(shown, original, text_of[original], original in gold)
        for shown, original in shown_to_original.items()
    )


def split_reasoning(text: str) -> tuple[str, str]:
    """Split a generation where scoring does (`scoring.reasoning`); the two together are the text, to the letter."""
    answer = reasoning.split_reasoning(text).answer or ""
    return text[: len(text) - len(answer)], answer
