"""From a model's raw text to a set of letters, strictly (PROTOCOL 1.3).

A lenient reading would reward models for prose that happens to hold a letter, and would make two
papers' numbers differ by parser. So: JSON only, the last one wins, anything odd is no answer.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from egobench_tasks.scoring.endings import Ending, ending
from egobench_tasks.scoring.json_answers import last_answer_object
from egobench_tasks.scoring.reasoning import split_reasoning

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


# One letter; "option " and an opening bracket before it, a closing one and one closing mark after it, each or none.
# ASCII only: under Unicode rules IGNORECASE lets the Kelvin sign pass for a K.
_ITEM = re.compile(r"(?:option\s+)?[(\[]?(?P<letter>[a-z])[)\]]?[.):]?", re.ASCII | re.IGNORECASE)
_SEPARATORS = re.compile(r"[,;/]")


def final_answer(raw_text: str, letters: Collection[str], finish_reason: str = NORMAL_STOP) -> frozenset[str] | None:
    """Return the set of shown letters the text answers with, or None. See `parse_answer`."""
    return parse_answer(raw_text, letters, finish_reason).letters


def parse_answer(raw_text: str, letters: Collection[str], finish_reason: str = NORMAL_STOP) -> ParsedAnswer:
    """Read a model's answer by the five rules of PROTOCOL 1.3.

    Args:
        raw_text: everything the model generated, reasoning included.
        letters: the letters that were shown, upper case.
        finish_reason: why generation ended, in any provider's words; see `endings.ending`.
    """
    end = ending(finish_reason)
    if end is not Ending.NORMAL:
        return ParsedAnswer(None, AnswerFailure.TRUNCATED if end is Ending.LENGTH else AnswerFailure.ABNORMAL_STOP)
    text = split_reasoning(raw_text).answer
    if text is None:
        return ParsedAnswer(None, AnswerFailure.UNCLOSED_REASONING)
    declared = last_answer_object(text)
    if declared is None:
        return ParsedAnswer(None, AnswerFailure.NO_JSON)
    return _read_items(declared["answer"], letters)


def open_answer(raw_text: str, finish_reason: str = NORMAL_STOP) -> str | None:
    """Return the answer to an open question: the text after the reasoning, or None where there is none.

    A generation that did not end by itself, or never left its reasoning, is no answer (PROTOCOL 1.3, rules 1 and 5).
    """
    if ending(finish_reason) is not Ending.NORMAL:
        return None
    return (split_reasoning(raw_text).answer or "").strip() or None


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
    return match["letter"].upper()
