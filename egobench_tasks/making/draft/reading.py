"""From a model's reply to proposed questions: strict JSON, or nothing. Whatever a model wrote is data."""

import json
import math
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from egobench_tasks.documents import parse_json
from egobench_tasks.scoring.answers import open_answer

MAX_QUESTION_CHARACTERS = 600
MAX_OPTION_CHARACTERS = 300
MIN_OPTIONS, MAX_OPTIONS = 2, 8
"""EgoGears' questions have up to eight options (PROTOCOL 1.1)."""

_SLACK_S = 0.5
"""How far a span may lie outside its clip: models round."""


class UnreadableReply(ValueError):
    """A reply that holds no proposals in the form that was asked for; the message says why."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """One question as a model wrote it. An open one has no ``options`` and no ``right``, the other no ``answer``."""

    question: str
    options: tuple[str, ...]
    right: tuple[int, ...]
    answer: str
    start_s: float
    end_s: float


def read_proposals(text: str, finish_reason: str, *, is_open: bool, duration_s: float) -> list[Proposal]:
    """Read a reply's proposals; times are seconds of the clip, which lasts ``duration_s``.

    The whole reply after its reasoning must be one JSON object, in a code fence or not. Raises `UnreadableReply` for
    any other, for a question that is not of the form, and for none at all.
    """
    said = open_answer(text, finish_reason)
    if said is None:
        raise UnreadableReply("it was cut, refused, or never left its reasoning")
    try:
        content = parse_json(_unfenced(said))
    except ValueError as error:
        raise UnreadableReply(f"it is not one JSON object ({error})") from error
    rows = content.get("questions") if isinstance(content, dict) else None
    if not isinstance(rows, list) or not rows:
        raise UnreadableReply("it holds no list `questions`")
    return [_proposal(row, f"question {number}", is_open, duration_s) for number, row in enumerate(rows, start=1)]


def read_caption(text: str, finish_reason: str) -> str:
    """Return a caption, the reply after its reasoning. Raises `UnreadableReply` where there is none."""
    said = open_answer(text, finish_reason)
    if said is None:
        raise UnreadableReply("it was cut, refused, or is empty")
    return _clean(said)


def _unfenced(text: str) -> str:
    lines = text.strip().splitlines()
    if len(lines) >= 2 and lines[0].strip() in ("```", "```json") and lines[-1].strip() == "```":
        return "\n".join(lines[1:-1])
    return text


def _proposal(row: Any, where: str, is_open: bool, duration_s: float) -> Proposal:
    if not isinstance(row, dict):
        raise UnreadableReply(f"{where} is no object")
    question = _text(row, "question", where, MAX_QUESTION_CHARACTERS)
    start_s, end_s = _span(row.get("evidence"), where, duration_s)
    if is_open:
        return Proposal(question, (), (), _text(row, "answer", where, MAX_OPTION_CHARACTERS), start_s, end_s)
    options, right = _options(row, where)
    return Proposal(question, options, right, "", start_s, end_s)


def _options(row: Mapping[str, Any], where: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Right ones first, then wrong ones: models see them shuffled by the question's id."""
    lists = [row.get(name) for name in ("right", "wrong")]
    if not all(isinstance(one, list) and one for one in lists):
        raise UnreadableReply(f"{where} needs a list `right` and a list `wrong`, neither empty")
    right, wrong = ([_checked(text, where, MAX_OPTION_CHARACTERS) for text in one or ()] for one in lists)
    options = (*right, *wrong)
    if not MIN_OPTIONS <= len(options) <= MAX_OPTIONS:
        raise UnreadableReply(f"{where} has {len(options)} options, not {MIN_OPTIONS} to {MAX_OPTIONS}")
    if len({option.casefold().rstrip(".") for option in options}) < len(options):
        raise UnreadableReply(f"{where} has an option twice")
    return options, tuple(range(len(right)))


def _span(value: Any, where: str, duration_s: float) -> tuple[float, float]:
    is_pair = isinstance(value, list) and len(value) == 2
    numbers = [one for one in value if isinstance(one, int | float) and not isinstance(one, bool)] if is_pair else []
    if len(numbers) != 2 or not all(map(math.isfinite, numbers)):
        raise UnreadableReply(f"{where}: evidence is {json.dumps(value)[:80]}, not [start, end] in seconds")
    start_s, end_s = map(float, numbers)
    if not -_SLACK_S <= start_s < end_s <= duration_s + _SLACK_S:
        raise UnreadableReply(
            f"{where}: evidence {start_s:g} to {end_s:g} s lies outside the clip's {duration_s:.1f} s"
        )
    return max(0.0, start_s), min(duration_s, end_s)


def _text(row: Mapping[str, Any], name: str, where: str, longest: int) -> str:
    return _checked(row.get(name), f"{where}: {name}", longest)


def _checked(value: Any, where: str, longest: int) -> str:
    text = _clean(value) if isinstance(value, str) else ""
    if not text or len(text) > longest:
        raise UnreadableReply(f"{where} is no text of 1 to {longest} characters")
    return text


def _clean(text: str) -> str:
    """One line's blanks, and no character that controls a terminal, a page's direction, or is half of one."""
    return " ".join("".join(" " if _controls(char) else char for char in text).split())


def _controls(char: str) -> bool:
    return unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Cn")
