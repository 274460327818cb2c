"""Reading a chat completion: what servers send is checked here, and nothing is made up for what they leave out."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from egobench_tasks.scoring.answers import answer_text
from egobench_tasks.texts import well_formed

NO_FINISH_REASON = "missing"
"""The finish reason of a reply that gives none: not a normal stop, so no answer (PROTOCOL 1.3, rule 5)."""

_OPEN_TAG, _CLOSE_TAG = "<think>", "</think>"
_REASON_CHARACTERS = 100


class BadReply(Exception):
    """The body of a response is not a chat completion."""


@dataclass(frozen=True, slots=True)
class Reply:
    """One completion. ``reasoning`` is kept apart from ``text``, in whichever form it came.

    Token counts are the server's, None where it gives none.
    """

    text: str
    reasoning: str
    finish_reason: str
    n_prompt_tokens: int | None
    n_new_tokens: int | None


def read_reply(body: str) -> Reply:
    """Read the body of a chat completion. Raises `BadReply` where it is none.

    An empty message is a reply: the model said nothing, and would again.
    """
    try:
        loaded = json.loads(body)
        choice = loaded["choices"][0]
        message = choice["message"]
        content = _text(message.get("content"))
        separate = _text(message.get("reasoning_content") or message.get("reasoning"))
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise BadReply(f"not a chat completion ({type(error).__name__}: {error}): {body[:200]!r}") from None
    inline, text = split_reasoning(content)
    usage = loaded.get("usage")
    return Reply(
        text=text,
        reasoning="\n".join(part for part in (separate, inline) if part),
        finish_reason=well_formed(str(choice.get("finish_reason") or NO_FINISH_REASON))[:_REASON_CHARACTERS],
        n_prompt_tokens=_count(usage, "prompt_tokens"),
        n_new_tokens=_count(usage, "completion_tokens"),
    )


def split_reasoning(content: str) -> tuple[str, str]:
    """Split inline ``<think>`` reasoning off: (reasoning, text).

    Reasoning that was opened and never closed stays in the text, where it makes the answer none
    (PROTOCOL 1.3, rule 1). A closing tag alone also ends reasoning: chat templates may pre-fill the opening one.
    """
    text = answer_text(content)
    if text is None or _CLOSE_TAG not in content:
        return "", content
    reasoning = content[: len(content) - len(text)].strip()
    return reasoning.removeprefix(_OPEN_TAG).removesuffix(_CLOSE_TAG).strip(), text


def _text(value: object) -> str:
    """Text, or the text parts of a list of parts; nothing for null. Raises ``TypeError`` for anything else."""
    if value is None:
        return ""
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, list):
        return well_formed("".join(_part_text(part) for part in value))
    raise TypeError(f"content is a {type(value).__name__}")


def _part_text(part: Any) -> str:
    text = part["text"] if part.get("type") in ("text", "output_text") else ""
    if not isinstance(text, str):
        raise TypeError(f"a part's text is a {type(text).__name__}")
    return text


def _count(usage: object, name: str) -> int | None:
    value = usage.get(name) if isinstance(usage, Mapping) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None
