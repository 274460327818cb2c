"""The bytes of a response become the body of a plain completion, however they come, and never too many of them."""

import codecs
import json
from collections.abc import AsyncIterator
from typing import Any

from egobench_tasks.servers.reply import REASONING_FIELDS

MAX_REPLY_BYTES = 8 * 2**20
"""32,768 new tokens take well under a megabyte; read as JSON, a body takes up to thirty times its size."""

_DATA, _DONE = "data:", "[DONE]"
_HEAD_BYTES = 64
_STARTS_OF_EVENTS = (b"data:", b"event:", b"id:", b"retry:", b":")


class TooLarge(Exception):
    """A response of more than `MAX_REPLY_BYTES`; its rest was not read."""

    def __init__(self) -> None:
        super().__init__(f"a reply of more than {MAX_REPLY_BYTES // 2**20} MB")


class StreamCut(Exception):
    """A stream of events that ended before its completion did."""


async def read_body(chunks: AsyncIterator[bytes], declared: str | None) -> str:
    """Read a response to its end and return its text; an event stream comes out as the completion that it tells.

    ``declared`` is the charset of Content-Type, which counts only where the bytes are not what JSON must be in.
    Raises `TooLarge` and `StreamCut`.
    """
    kept = bytearray()
    async for chunk in chunks:
        kept += chunk
        if len(kept) - len(chunk) < _HEAD_BYTES and kept[:_HEAD_BYTES].lstrip().startswith(_STARTS_OF_EVENTS):
            return await _read_events(bytes(kept), chunks)
        if len(kept) > MAX_REPLY_BYTES:
            raise TooLarge
    return decoded(bytes(kept), declared)


def decoded(body: bytes, declared: str | None) -> str:
    """Return a body's text: in the UTF that JSON is in, else in the charset declared, else as far as it goes."""
    detected = json.detect_encoding(body)
    for encoding in (detected, declared):
        try:
            if encoding:
                return body.decode(encoding)
        except (ValueError, LookupError):  # codecs that are no charset raise other errors than UnicodeDecodeError
            continue
    return body.decode(detected, "replace")


async def _read_events(start: bytes, chunks: AsyncIterator[bytes]) -> str:
    told, decoder = _Told(), codecs.getincrementaldecoder("utf-8")("replace")
    *lines, rest = decoder.decode(start).split("\n")
    told.take(lines)
    async for chunk in chunks:
        *lines, rest = (rest + decoder.decode(chunk)).split("\n")
        told.take(lines)
        if len(rest) + told.n_characters > MAX_REPLY_BYTES:
            raise TooLarge
    told.take([rest])
    return told.body()


class _Told:
    """What a stream has told so far of its completion."""

    def __init__(self) -> None:
        self.n_characters = 0
        self._parts: list[Any] = []
        self._reasoning: list[str] = []
        self._finish_reason: Any = None
        self._usage: Any = None
        self._error: str | None = None
        self._is_done = False

    def take(self, lines: list[str]) -> None:
        """Take whole lines of the stream. What is no event of a completion is the error that the body will be."""
        for line in lines:
            payload = line.strip().removeprefix(_DATA).strip() if line.startswith(_DATA) else ""
            if payload == _DONE:
                self._is_done = True
            elif payload:
                try:
                    self._take_event(json.loads(payload))
                except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
                    self._error = self._error or payload

    def _take_event(self, event: Any) -> None:
        self._usage = event.get("usage") or self._usage
        for choice in event["choices"][:1]:
            said = choice.get("delta") or choice.get("message") or {}
            content = said.get("content")
            thought = next((said[name] for name in REASONING_FIELDS if said.get(name)), None)
            if content is not None:
                self._parts += content if isinstance(content, list) else [{"type": "text", "text": content}]
                self.n_characters += len(str(content))
            if isinstance(thought, str):
                self._reasoning.append(thought)
                self.n_characters += len(thought)
            self._finish_reason = choice.get("finish_reason") or self._finish_reason

    def body(self) -> str:
        """Return the body of the completion. Raises `StreamCut` where the stream did not tell its end."""
        if self._error is not None:
            return self._error
        if not self._is_done and self._finish_reason is None:
            raise StreamCut("the stream ended before the reply did")
        message = {"role": "assistant", "content": self._parts, "reasoning_content": "".join(self._reasoning)}
        choice = {"index": 0, "message": message, "finish_reason": self._finish_reason}
        return json.dumps({"choices": [choice], "usage": self._usage})
