"""From a model's raw text to a set of letters, strictly (PROTOCOL 1.3).

A lenient reading would reward models for prose that happens to hold a letter, and would make two
papers' numbers differ by parser. So: JSON only, the last one wins, anything odd is no answer.
"""

import json
import re
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

NORMAL_STOP = "stop"
LENGTH_STOP = "length"


class AnswerFailure(StrEnum):
    """Why a generation holds no answer. Every one of them scores as wrong."""

    TRUNCATED = "truncated"
    ABNORMAL_STOP = "abnormal_stop"
    UNCLOSED_REASONING = "unclosed_reasoning"
    NO_JSON = "no_json"
    NOT_A_LIST = "not_a_list"
    EMPTY = "empty"
    UNREADABLE_ITEM = "unreadable_item"
    UNKNOWN_LETTER = "unknown_letter"


@dataclass(frozen=True, slots=True)
class ParsedAnswer:
    """The shown letters a model chose, or the reason there are none: exactly one of the two."""

    letters: frozenset[str] | None
    failure: AnswerFailure | None = None


# One letter; "option " before it, one pair of brackets round it, one closing mark after it.
# ASCII only: under Unicode rules IGNORECASE lets the Kelvin sign pass for a K.
_ITEM = re.compile(
    r"(?:option\s+)?(?:\((?P<round>[a-z])\)|\[(?P<square>[a-z])\]|(?P<bare>[a-z]))[.):]?",
    re.ASCII | re.IGNORECASE,
)
_SEPARATORS = re.compile(r"[,;/]")
_OPEN_TAG, _CLOSE_TAG = "<think>", "</think>"


def final_answer(raw_text: str, letters: Collection[str], finish_reason: str = NORMAL_STOP) -> frozenset[str] | None:
    """Return the set of shown letters the text answers with, or None. See `parse_answer`."""
    return parse_answer(raw_text, letters, finish_reason).letters


def parse_answer(raw_text: str, letters: Collection[str], finish_reason: str = NORMAL_STOP) -> ParsedAnswer:
    """Read a model's answer by the five rules of PROTOCOL 1.3.

    Args:
        raw_text: everything the model generated, reasoning included.
        letters: the letters that were shown, upper case.
        finish_reason: why generation ended, in the OpenAI API's words ("stop", "length", ...).
    """
    if finish_reason == LENGTH_STOP:
        return ParsedAnswer(None, AnswerFailure.TRUNCATED)
    if finish_reason != NORMAL_STOP:
        return ParsedAnswer(None, AnswerFailure.ABNORMAL_STOP)
    text = answer_text(raw_text)
    if text is None:
        return ParsedAnswer(None, AnswerFailure.UNCLOSED_REASONING)
    declared = _last_answer_object(text)
    if declared is None:
        return ParsedAnswer(None, AnswerFailure.NO_JSON)
    return _read_items(declared["answer"], letters)


def open_answer(raw_text: str, finish_reason: str = NORMAL_STOP) -> str | None:
    """Return the answer to an open question: the text after the reasoning, or None where there is none.

    A generation that did not end by itself, or never left its reasoning, is no answer (PROTOCOL 1.3, rules 1 and 5).
    """
    if finish_reason != NORMAL_STOP:
        return None
    return (answer_text(raw_text) or "").strip() or None


def answer_text(raw_text: str) -> str | None:
    """Return what follows the reasoning, or None where reasoning was opened and never closed.

    Chat templates may pre-fill the opening tag, so a closing tag alone also ends reasoning.
    """
    _, closed, after = raw_text.rpartition(_CLOSE_TAG)
    text = after if closed else raw_text
    return None if _OPEN_TAG in text else text


def _last_answer_object(text: str) -> dict[str, object] | None:
    """Return the JSON object with an "answer" key that starts last, nested ones included."""
    decoder = json.JSONDecoder()
    start = text.rfind("{")
    while start != -1:
        try:
            value, _ = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):  # not JSON here, or nested beyond any real answer
            value = None
        if isinstance(value, dict) and "answer" in value:
            return value
        start = text.rfind("{", 0, start)
    return None


def _read_items(declared: object, letters: Collection[str]) -> ParsedAnswer:
    if isinstance(declared, str):
        items: list[object] = list(_SEPARATORS.split(declared)) if declared.strip() else []
    elif isinstance(declared, list):
        items = declared
    else:
        return ParsedAnswer(None, AnswerFailure.NOT_A_LIST)
    if not items:
        return ParsedAnswer(None, AnswerFailure.EMPTY)
    chosen = [_read_letter(item) for item in items]
    if None in chosen:
        return ParsedAnswer(None, AnswerFailure.UNREADABLE_ITEM)
    if not set(chosen) <= set(letters):
        return ParsedAnswer(None, AnswerFailure.UNKNOWN_LETTER)
    return ParsedAnswer(frozenset(letter for letter in chosen if letter is not None))


def _read_letter(item: object) -> str | None:
    match = _ITEM.fullmatch(item.strip()) if isinstance(item, str) else None
    if match is None:
        return None
    return (match["round"] or match["square"] or match["bare"]).upper()
