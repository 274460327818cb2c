"""A request's JSON in pieces: a question's frames are megabytes, and are neither escaped nor copied as a whole."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_PIECE_BYTES = 2**18


class DataUri(str):
    """Base64 behind ``data:…;base64,``: a string in which JSON has nothing to escape."""

    __slots__ = ()


class Body:
    """A request of some fields and ``messages``, as JSON. ``n_bytes``: its length."""

    def __init__(self, request: Mapping[str, Any]) -> None:
        fields = [f"{json.dumps({name: value})[1:-1]}, " for name, value in request.items() if name != "messages"]
        self._texts = ["{", *fields, '"messages": ']
        _write(request["messages"], self._texts)
        self._texts.append("}")
        self.n_bytes = sum(map(len, self._texts))  # JSON as we write it is ASCII

    def pieces(self) -> Iterator[bytes]:
        """Yield the JSON in pieces large enough that sending each costs little, small enough to be soon gone."""
        waiting: list[str] = []
        n_waiting = 0
        for text in self._texts:
            waiting.append(text)
            n_waiting += len(text)
            if n_waiting >= _PIECE_BYTES:
                yield "".join(waiting).encode("ascii")
                waiting, n_waiting = [], 0
        if waiting:
            yield "".join(waiting).encode("ascii")


def _write(value: Any, texts: list[str]) -> None:
    """Append a JSON value's text. The thousands of small texts of a message are no generator's: that took longer."""
    if isinstance(value, DataUri):
        texts += ('"', value, '"')
    elif isinstance(value, Mapping):
        for place, (name, inner) in enumerate(value.items()):
            texts.append(f"{', ' if place else '{'}{json.dumps(name)}: ")
            _write(inner, texts)
        texts.append("}" if value else "{}")
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for place, inner in enumerate(value):
            texts.append(", " if place else "[")
            _write(inner, texts)
        texts.append("]" if value else "[]")
    else:
        texts.append(json.dumps(value))
