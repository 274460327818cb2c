"""From a judge's reply to a verdict, strictly (PROTOCOL 2).

A lenient reading takes the first ``{…}`` of any text for a verdict: of code that would build one,
of an explanation, of an error page. So the whole reply is one dict, or there is no verdict; a
reply that holds none is neither right nor wrong.
"""

import ast
import json
import re
import warnings
from dataclasses import dataclass
from enum import StrEnum

MAX_SCORE = 5
NORMAL_STOP = "stop"
LENGTH_STOP = "length"
# Python's parser gives up, or worse, on nesting that no verdict needs.
_MAX_REPLY_CHARS = 20_000


class NoVerdict(StrEnum):
    """Why an answer has no verdict: first what a reply can lack, then why there is no reply."""

    TRUNCATED = "truncated"
    ABNORMAL_STOP = "abnormal_stop"
    EMPTY = "empty"
    NOT_A_DICT = "not_a_dict"
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
    """A judge's verdict on one prediction. ``score`` is in [0, 5]; ``reason`` is the judge's own text."""

    correct: bool
    score: float
    reason: str | None = None


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
    """Read a judge's whole reply as one JSON or Python dict; a code fence round it is taken off.

    ``pred`` is "correct" or "incorrect", ``score`` a number in [0, 5] (a bool is none), ``reason``
    text or absent. Other keys are passed over; a key that stands twice makes the reply unreadable.
    ``finish_reason`` is why the reply ended, in the OpenAI API's words.
    """
    if finish_reason == LENGTH_STOP:
        return Reading(None, NoVerdict.TRUNCATED)
    if finish_reason != NORMAL_STOP:
        return Reading(None, NoVerdict.ABNORMAL_STOP)
    text = _without_fence(reply)
    if not text:
        return Reading(None, NoVerdict.EMPTY)
    declared = _read_dict(text)
    if declared is None:
        return Reading(None, NoVerdict.NOT_A_DICT)
    pred, score, reason = declared.get("pred"), declared.get("score"), declared.get("reason")
    if pred not in ("correct", "incorrect"):
        return Reading(None, NoVerdict.BAD_PRED)
    if isinstance(score, bool) or not isinstance(score, int | float) or not 0 <= score <= MAX_SCORE:
        return Reading(None, NoVerdict.BAD_SCORE)
    if reason is not None and not isinstance(reason, str):
        return Reading(None, NoVerdict.BAD_REASON)
    return Reading(Verdict(pred == "correct", float(score), reason))


_FENCE = re.compile(r"```[\w+-]*\s*(?P<body>.*?)\s*```", re.DOTALL)


def _without_fence(reply: str) -> str:
    text = reply.strip()
    match = _FENCE.fullmatch(text)
    return match["body"] if match else text


def _read_dict(text: str) -> dict[object, object] | None:
    if len(text) > _MAX_REPLY_CHARS or not (text.startswith("{") and text.endswith("}")):
        return None
    return _read_json_dict(text) or _read_python_dict(text)


def _read_json_dict(text: str) -> dict[object, object] | None:
    try:
        value = json.loads(text, object_pairs_hook=_dict_of_unique)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _dict_of_unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a key stands twice")
    return value


def _read_python_dict(text: str) -> dict[object, object] | None:
    """Read a dict of Python literals: what a judge writes when it is asked for a dictionary."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a backslash in a reason is no concern of the user's
            node = ast.parse(text, mode="eval").body
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None
    return value if isinstance(node, ast.Dict) and len(value) == len(node.keys) else None
