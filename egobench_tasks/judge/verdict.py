"""From a judge's reply to a verdict (PROTOCOL 2).

The verdict is the one object with ``pred`` in what follows the judge's reasoning, whatever prose stands round it. Two
that contradict each other are none: a judge that quotes another verdict must not be read by luck.
"""

import ast
import json
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from egobench_tasks.documents import unique_keys
from egobench_tasks.scoring.answers import NORMAL_STOP
from egobench_tasks.scoring.endings import Ending, ending
from egobench_tasks.scoring.reasoning import split_reasoning
from egobench_tasks.texts import well_formed

MAX_SCORE = 5
# Python's parser gives up, or worse, on nesting that no verdict needs.
_MAX_REPLY_CHARS = 20_000
_MAX_PYTHON_DICTS = 20
# A score that speaks against its own `pred`: "incorrect" with a 4 or 5, "correct" with a 0 or 1.
_LEAST_SCORE_OF_RIGHT, _MOST_SCORE_OF_RIGHT_DENIED = 4, 1


class NoVerdict(StrEnum):
    """Why an answer has no verdict: first what a reply can lack, then why there is no reply."""

    TRUNCATED = "truncated"
    ABNORMAL_STOP = "abnormal_stop"
    EMPTY = "empty"
    UNCLOSED_REASONING = "unclosed_reasoning"
    NOT_A_DICT = "not_a_dict"
    CONTRADICTION = "contradiction"  # two verdicts that differ
    BAD_PRED = "bad_pred"
    BAD_SCORE = "bad_score"
    BAD_REASON = "bad_reason"

    BAD_RESPONSE = "bad_response"  # HTTP 200 that is no chat completion: a proxy's page, broken JSON
    TIMEOUT = "timeout"
    CONNECTION = "connection"
    RATE_LIMITED = "rate_limited"
    SERVER_ERROR = "server_error"
    REFUSED = "refused"  # any other HTTP status: a wrong key, an unknown model, a prompt too long
    NOT_ASKED = "not_asked"
    LOST = "lost"  # there is no answer to judge, and that is not the model's doing: no clip, a failed request


@dataclass(frozen=True, slots=True)
class Verdict:
    """A judge's verdict on one prediction. ``score`` is in [0, 5], None where the judge gave none; ``reason`` is the
    judge's own text."""

    correct: bool
    score: float | None
    reason: str | None = None

    @property
    def contradicts_itself(self) -> bool:
        """Whether the score speaks against ``pred``, which counts: accuracy is the benchmark's figure."""
        if self.score is None:
            return False
        return self.score <= _MOST_SCORE_OF_RIGHT_DENIED if self.correct else self.score >= _LEAST_SCORE_OF_RIGHT


@dataclass(frozen=True, slots=True)
class Reading:
    """A verdict, or the reason there is none: exactly one of the two."""

    verdict: Verdict | None
    failure: NoVerdict | None = None


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a judge said on one item: a verdict, or the reason there is none, and the raw reply.

    ``raw`` is the reply's text; where the server sent no reply, what it sent instead.
    """

    verdict: Verdict | None
    failure: NoVerdict | None
    raw: str

    def __post_init__(self) -> None:
        if (self.verdict is None) == (self.failure is None):
            raise ValueError("a judgement holds a verdict or a failure: exactly one of the two")


def read_verdict(reply: str, finish_reason: str = NORMAL_STOP) -> Reading:
    """Read the verdict in a judge's reply: one JSON or Python dict with ``pred``, prose round it or not.

    ``pred`` is "correct" or "incorrect"; ``score`` a number in [0, 5], in quotes or not (a bool is none), or absent;
    ``reason`` text or absent. Other keys are passed over; a dict with a key that stands twice is none. Dicts that
    agree count as one. ``finish_reason`` is why the reply ended, in the OpenAI API's words.
    """
    ended = ending(finish_reason)
    if ended is Ending.LENGTH:
        return Reading(None, NoVerdict.TRUNCATED)
    if ended is not Ending.NORMAL:
        return Reading(None, NoVerdict.ABNORMAL_STOP)
    text = split_reasoning(reply).answer
    if text is None:
        return Reading(None, NoVerdict.UNCLOSED_REASONING)
    if not text.replace("`", "").strip():
        return Reading(None, NoVerdict.EMPTY)
    found = [one for value in _dicts(text) for one in _with_pred(value)]
    if not found:
        return Reading(None, NoVerdict.NOT_A_DICT)
    return _one_of([_read_declared(declared) for declared in found])


def _one_of(readings: Sequence[Reading]) -> Reading:
    """What all readings say together: a score or a reason that only some give is not spoken against by the others."""
    first = next((reading for reading in readings if reading.verdict is None), None)
    if first is not None:
        return first
    verdicts = [reading.verdict for reading in readings if reading.verdict is not None]
    scores = {verdict.score for verdict in verdicts if verdict.score is not None}
    if len({verdict.correct for verdict in verdicts}) > 1 or len(scores) > 1:
        return Reading(None, NoVerdict.CONTRADICTION)
    reason = next((verdict.reason for verdict in verdicts if verdict.reason is not None), None)
    return Reading(Verdict(verdicts[0].correct, next(iter(scores), None), reason))


def _read_declared(declared: dict[object, object]) -> Reading:
    pred, score, reason = declared.get("pred"), declared.get("score"), declared.get("reason")
    if pred not in ("correct", "incorrect"):
        return Reading(None, NoVerdict.BAD_PRED)
    number = _number(score)
    if score is not None and (number is None or not 0 <= number <= MAX_SCORE):
        return Reading(None, NoVerdict.BAD_SCORE)
    if reason is not None and not isinstance(reason, str):
        return Reading(None, NoVerdict.BAD_REASON)
    return Reading(Verdict(pred == "correct", number, None if reason is None else well_formed(reason)))


_QUOTED_NUMBER = re.compile(r"\s*\d(?:\.\d+)?\s*", re.ASCII)


def _number(score: object) -> float | None:
    if isinstance(score, bool):
        return None
    if isinstance(score, str):
        return float(score) if _QUOTED_NUMBER.fullmatch(score) else None
    return float(score) if isinstance(score, int | float) else None


def _with_pred(value: object) -> Iterator[dict[object, object]]:
    """The dicts with ``pred`` in a value, itself or inside; a verdict's own parts are not looked into."""
    if isinstance(value, dict) and "pred" in value:
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _with_pred(part)


def _dicts(text: str) -> Iterator[object]:
    """Every dict that text holds, JSON or Python, in its order; what stands inside one is part of it."""
    if len(text) > _MAX_REPLY_CHARS:
        return
    decoder = json.JSONDecoder(object_pairs_hook=unique_keys)
    n_python, start = 0, text.find("{")
    while start != -1:
        end = start + 1
        try:
            value, end = decoder.raw_decode(text, start)
            yield value
        except (ValueError, RecursionError):
            if n_python < _MAX_PYTHON_DICTS:
                n_python += 1
                span_end = _matching_brace(text, start)
                value = None if span_end is None else _python_dict(text[start:span_end])
                if value is not None and span_end is not None:
                    end = span_end
                    yield value
        start = text.find("{", end)


_TOKEN = re.compile(r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|[{}]""", re.DOTALL)


def _matching_brace(text: str, start: int) -> int | None:
    """Where the brace at ``start`` is closed (the index after it), quoted text aside; None where it is not."""
    depth = 0
    for match in _TOKEN.finditer(text, start):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if depth == 0:
            return match.end()
    return None


def _python_dict(text: str) -> dict[object, object] | None:
    """Read a dict of Python literals: what a judge writes when it is asked for a dictionary."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a backslash in a reason is no concern of the user's
            node = ast.parse(text, mode="eval").body
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None
    return value if isinstance(node, ast.Dict) and len(value) == len(node.keys) else None
