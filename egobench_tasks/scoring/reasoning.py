"""Where a model's reasoning ends and its answer begins, by the marks of PROTOCOL 1.3, rule 1."""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reasoned:
    """A text cut in two. ``answer`` is None where reasoning was opened and never closed.

    ``reasoning`` is without its outer marks; empty where the text has none.
    """

    reasoning: str
    answer: str | None


_THINK, _CLOSED_THINK = r"\s*think\s*", r"\s*/\s*think\s*"
_CHANNEL, _MESSAGE = r"\s*\|\s*channel\s*\|\s*>", r"<\s*\|\s*message\s*\|\s*>"
# By first character: the kind of a mark, what follows that character where it opens reasoning, and where it closes it.
# Blanks inside a mark and its case are free.
_MARKS: dict[str, list[tuple[str, str, str]]] = {
    "<": [
        ("think", rf"{_THINK}>", rf"{_CLOSED_THINK}>"),
        ("thinking", r"\s*thinking\s*>", r"\s*/\s*thinking\s*>"),
        ("reasoning", r"\s*reasoning\s*>", r"\s*/\s*reasoning\s*>"),
        ("seed", rf"\s*seed\s*:{_THINK}>", rf"\s*/\s*seed\s*:{_THINK}>"),
        ("thought", r"\s*\|\s*channel\s*>\s*thought", r"\s*channel\s*\|\s*>"),
        # Harmony's analysis has no closing mark of its own: it ends where its message does, or the final one begins.
        ("harmony", rf"{_CHANNEL}\s*analysis(?:\s*{_MESSAGE})?", rf"{_CHANNEL}\s*final(?:\s*{_MESSAGE})?"),
        ("end", r"(?!)", r"\s*\|\s*end\s*\|\s*>"),
    ],
    r"\[": [("bracket", rf"{_THINK}\]", rf"{_CLOSED_THINK}\]")],
    "◁": [("triangle", rf"{_THINK}▷", rf"{_CLOSED_THINK}▷")],
}
# Each branch begins with a plain character: the engine skips to those, and trying all marks everywhere is much slower.
_ANY_MARK = re.compile(
    "|".join(
        first
        + f"(?:{'|'.join(f'(?P<open_{kind}>{opens})|(?P<close_{kind}>{closes})' for kind, opens, closes in kinds)})"
        for first, kinds in _MARKS.items()
    ),
    re.IGNORECASE,
)
_PIECE_OF_A_MARK = re.compile(r"<\|(?:channel|message|start|end)\|>|<\|channel>|<channel\|>")


@dataclass(frozen=True, slots=True)
class _Mark:
    kind: str
    opens: bool
    start: int
    end: int


def split_reasoning(raw_text: str) -> Reasoned:
    """Cut a generation into its reasoning and its answer.

    The answer follows the last closing mark. A closing mark needs no opening one, since chat templates may
    pre-fill that; an opening mark after the last closing mark of its kind changes nothing. Marks of another
    kind inside reasoning are part of it: the first that opens has to close. Takes time linear in the text.
    """
    marks = _marks(raw_text)
    last_close = {mark.kind: mark for mark in marks if not mark.opens}
    answer_start = 0
    for mark in marks:
        if mark.start < answer_start:
            continue
        closing = last_close.get(mark.kind)
        if closing is None:
            return Reasoned(raw_text[mark.end :].strip(), None)
        answer_start = max(answer_start, closing.end)
    if not marks:
        return Reasoned("", raw_text)
    return Reasoned(_unwrapped(raw_text, marks, answer_start), raw_text[answer_start:])


def has_trace(text: str, reasoning: str = "") -> bool:
    """Whether a generation shows any reasoning: in its text, or in what its host had split off before."""
    return bool(reasoning.strip() or split_reasoning(text).reasoning)


def left_open(prompt: str) -> str:
    """Return the mark with which a prompt ends inside reasoning, empty where it does not: templates pre-fill it."""
    marks = _marks(prompt)
    return prompt[marks[-1].start :] if marks and marks[-1].opens and not prompt[marks[-1].end :].strip() else ""


def is_mark_token(token: str) -> bool:
    """Whether a tokenizer's token is a mark of reasoning, or a piece of one."""
    return bool(_ANY_MARK.fullmatch(token.strip()) or _PIECE_OF_A_MARK.fullmatch(token.strip()))


def _marks(text: str) -> list[_Mark]:
    found: list[_Mark] = []
    in_analysis = False
    for match in _ANY_MARK.finditer(text):
        role, _, kind = (match.lastgroup or "").partition("_")
        if kind == "harmony":
            in_analysis = role == "open"
        elif kind == "end":
            if not in_analysis:  # it ends another message than the reasoning
                continue
            kind, in_analysis = "harmony", False
        found.append(_Mark(kind, role == "open", match.start(), match.end()))
    return found


def _unwrapped(text: str, marks: list[_Mark], answer_start: int) -> str:
    """The reasoning before the answer, without the mark that closes it and the one that opens it."""
    closing = next(mark for mark in marks if mark.end == answer_start)
    start = marks[0].end if marks[0].opens and not text[: marks[0].start].strip() else 0
    return text[start : closing.start].strip()
