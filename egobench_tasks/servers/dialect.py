"""What a server takes, found out from its refusals: each refusal of a field is answered by doing without it."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any

from egobench_tasks.servers.settings import ServerSettings, Streaming, TokensField

Message = dict[str, Any]
"""One turn of a conversation: ``role`` and ``content``."""

_REFUSALS = frozenset({HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.NOT_IMPLEMENTED})
_NO_SUCH_FIELD = re.compile(
    r"unsupported|not support|n't support|unrecogni[sz]ed|unknown|unexpected|extra|not (?:be )?permitted|deprecated"
    r"|instead|not (?:be )?(?:allowed|accepted|taken)|n't (?:allow|accept|take)|not (?:allow|accept|take)\b",
    re.IGNORECASE,
)
_NO_SUCH_VALUE = re.compile(
    rf"{_NO_SUCH_FIELD.pattern}|\bonly\b|\bmust\b|invalid|required|forbidden|cannot", re.IGNORECASE
)
_ONE_PIECE = re.compile(r"\bstream(?:ing)?\b", re.IGNORECASE)
_SYSTEM = re.compile(r"\bsystem\b|\broles? must\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Dialect:
    """How requests to one server are put."""

    tokens_field: TokensField
    sends_temperature: bool
    sends_system: bool = True
    streams: bool = False
    asks_usage: bool = True
    has_changed_tokens_field: bool = False

    def put(self, fields: dict[str, Any], messages: Sequence[Message]) -> dict[str, Any]:
        """Return a request's body, from the fields that the settings give and the messages."""
        body = {**fields, "messages": list(messages) if self.sends_system else without_system(messages)}
        for field in TokensField:
            if field is not self.tokens_field and field.value in body:
                body[self.tokens_field.value] = body.pop(field.value)
        if not self.sends_temperature:
            body.pop("temperature", None)
        if self.streams:
            body["stream"] = True
            if self.asks_usage:
                body["stream_options"] = {"include_usage": True}
        return body


def first_dialect(settings: ServerSettings) -> Dialect:
    """Return what the settings ask for, before the server has refused anything."""
    return Dialect(
        tokens_field=settings.max_tokens_field,
        sends_temperature=settings.temperature is not None,
        streams=settings.stream is Streaming.ON,
    )


def adapted(dialect: Dialect, status: int, body: str, has_system: bool) -> tuple[Dialect, str] | None:
    """Return how to ask instead, and what is left out or changed; None where the refusal is of something else.

    Args:
        dialect: how the refused request was put.
        status: HTTP's.
        body: the refusal's, JSON or not.
        has_system: whether the request has a system turn at all.
    """
    if status not in _REFUSALS or not _NO_SUCH_VALUE.search(body):
        return None
    named, text = _named_field(body), body.lower()

    def refuses(field: str) -> bool:
        return named == field or (named is None and field in text)

    if not dialect.has_changed_tokens_field and refuses(dialect.tokens_field) and _NO_SUCH_FIELD.search(body):
        other = next(field for field in TokensField if field is not dialect.tokens_field)
        changed = replace(dialect, tokens_field=other, has_changed_tokens_field=True)
        return changed, f"{dialect.tokens_field} (sends {other} instead)"
    if dialect.sends_temperature and refuses("temperature"):
        return replace(dialect, sends_temperature=False), "temperature (leaves it out: the server's own default counts)"
    if dialect.streams and dialect.asks_usage and refuses("stream_options"):
        return replace(dialect, asks_usage=False), "stream_options (leaves it out: tokens may stay uncounted)"
    if not dialect.streams and (named == "stream" or (named is None and _ONE_PIECE.search(body))):
        return replace(dialect, streams=True), "replies in one piece (asks for a stream instead)"
    if has_system and dialect.sends_system and _SYSTEM.search(body):
        return replace(dialect, sends_system=False), "a system turn (puts it in front of the first question instead)"
    return None


def without_system(messages: Sequence[Message]) -> list[Message]:
    """Fold system turns into the user's turn that follows them; both must be plain text."""
    folded: list[Message] = []
    waiting: list[str] = []
    for message in messages:
        if message["role"] == "system":
            waiting.append(message["content"])
        elif waiting and message["role"] == "user":
            folded.append({**message, "content": "\n\n".join([*waiting, message["content"]])})
            waiting = []
        else:
            folded.append(message)
    return folded


def _named_field(body: str) -> str | None:
    """The field that a refusal names in OpenAI's form, ``{"error": {"param": …}}``; None where it names none."""
    try:
        error = json.loads(body)["error"]
        param = error.get("param")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None
    return param if isinstance(param, str) and param else None
