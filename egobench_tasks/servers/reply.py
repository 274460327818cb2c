"""Reading a chat completion: what servers send is checked here, and nothing is made up for what they leave out."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from egobench_tasks.scoring.endings import NOT_GIVEN, Ending, ending
from egobench_tasks.scoring.reasoning import Reasoned, split_reasoning
from egobench_tasks.texts import well_formed

REASONING_FIELDS = ("reasoning_content", "reasoning", "thinking", "reasoning_details")
"""Where servers put a reply's reasoning beside its content: vLLM and SGLang, Ollama, OpenRouter."""

_TEXT_PARTS = ("text", "output_text")
_REASONING_PARTS = ("thinking", "reasoning", "reasoning.text", "reasoning.summary", "reasoning.encrypted")
_REASONING_TEXTS = ("thinking", "reasoning", "text", "summary")
_REASON_CHARACTERS = 100
# An end mark, an empty turn, a channel's marks: an empty message takes a few tokens, words take more.
_MOST_TOKENS_OF_NOTHING = 8


class BadReply(Exception):
    """A response that holds no reply of the model's: no chat completion, or one that tells of the service's failure."""


class NotACompletion(BadReply):
    """The response is no chat completion at all."""


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
    """Read the body of a chat completion. Raises `BadReply` as `read_completion` does."""
    try:
        loaded = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise _not_a_completion(error, body) from None
    return read_completion(loaded)


def read_completion(loaded: Any) -> Reply:
    """Read a chat completion as loaded from JSON.

    Raises `NotACompletion` where it is none, and `BadReply` as `checked_reply` does.
    """
    try:
        choice = loaded["choices"][0]
        message = choice["message"]
        content, parted = _text_and_reasoning(message.get("content"))
        separate = "".join(
            _text_and_reasoning(next((message[name] for name in REASONING_FIELDS if message.get(name)), None))
        )
        reason = well_formed(str(choice.get("finish_reason") or NOT_GIVEN))[:_REASON_CHARACTERS]
    except (LookupError, TypeError, AttributeError) as error:
        raise _not_a_completion(error, json.dumps(loaded, default=str)) from None
    usage = loaded.get("usage")
    kept_apart = "\n".join(part for part in (separate, parted) if part)
    return checked_reply(
        content, kept_apart, reason, _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")
    )


def checked_reply(
    content: str, reasoning: str, finish_reason: str, n_prompt_tokens: int | None, n_new_tokens: int | None
) -> Reply:
    """Make a reply of what an API sent, ``reasoning`` being what it keeps apart from the content.

    An empty message is a reply: the model said nothing, and would again. Raises `BadReply` for one that ended by the
    service's failure, and for one whose model reasoned, ended by itself, and yet has no content: then the reasoning
    may hold the answer, and what it says is not for us to guess (PROTOCOL 1.3, rules 1 and 5). So it is where the
    server shows nothing at all and counts the tokens of something.
    """
    if ending(finish_reason) is Ending.SERVICE_FAILURE:
        raise BadReply(f"the server ended its reply with {finish_reason!r}")
    if ending(finish_reason) is Ending.NORMAL and not content.strip() and reasoning.strip():
        raise BadReply(
            "the reply has reasoning and no content: either the model gave no answer, or the server's reasoning parser "
            "takes the answer itself for reasoning (serve without it, or turn thinking on)"
        )
    if ending(finish_reason) is Ending.NORMAL and not content and (n_new_tokens or 0) > _MOST_TOKENS_OF_NOTHING:
        raise BadReply(
            f"the server counts {n_new_tokens} new tokens and shows no word of them: it keeps the model's reasoning to "
            "itself, or the answer too"
        )
    cut = split_inline(content)
    return Reply(
        text=cut.answer or "",
        reasoning="\n".join(part for part in (reasoning, cut.reasoning) if part),
        finish_reason=finish_reason,
        n_prompt_tokens=n_prompt_tokens,
        n_new_tokens=n_new_tokens,
    )


def split_inline(content: str) -> Reasoned:
    """Split reasoning off that stands in the content itself.

    Only where the rest reads by itself as it did before: with a mark left in it, it all stays together, and
    `scoring.answers` reads the whole (PROTOCOL 1.3, rule 1).
    """
    cut = split_reasoning(content)
    if cut.answer is None or split_reasoning(cut.answer) != Reasoned("", cut.answer):
        return Reasoned("", content)
    return cut


def _not_a_completion(error: Exception, body: str) -> NotACompletion:
    return NotACompletion(f"not a chat completion ({type(error).__name__}: {error}): {body[:200]!r}")


def _text_and_reasoning(value: object) -> tuple[str, str]:
    """Text, or the texts of a list of parts, and what reasoning the parts hold; nothing for null.

    Raises ``TypeError`` for anything else.
    """
    if value is None:
        return "", ""
    if isinstance(value, str):
        return well_formed(value), ""
    if not isinstance(value, list):
        raise TypeError(f"content is a {type(value).__name__}")
    pairs = [("", "") if part is None else _part(part) for part in value]
    texts, reasonings = zip(*pairs, strict=True) if pairs else ((), ())
    return well_formed("".join(texts)), well_formed("".join(reasonings))


def _part(part: Any) -> tuple[str, str]:
    if isinstance(part, str):
        return part, ""
    kind = part.get("type")
    if kind in _TEXT_PARTS:
        if not isinstance(part["text"], str):
            raise TypeError(f"a part's text is a {type(part['text']).__name__}")
        return part["text"], ""
    if kind in _REASONING_PARTS:
        inner = next((part[name] for name in _REASONING_TEXTS if part.get(name)), "")
        return "", "".join(_text_and_reasoning(inner))
    return "", ""


def _count(usage: object, name: str) -> int | None:
    value = usage.get(name) if isinstance(usage, Mapping) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None
