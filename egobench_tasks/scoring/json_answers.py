"""The last JSON object with an "answer" key in a text that may hold anything (PROTOCOL 1.3, rule 2).

Trying a JSON decoder at every brace takes time that grows with the square of the text. Here the objects
are found from the last to the first, each from its members' ends, which are known by then; so every part
of the text is looked at a bounded number of times.
"""

import json
import re
from typing import Any

# No answer nests so deep; Python's decoder gives up at about twice as much, and arrays are read by recursion here.
_MAX_DEPTH = 500
_MAX_ARRAYS = 100

_BLANKS = r"[ \t\n\r]*+"
_STRING = r'"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+"'
_SCALAR = rf"{_STRING}|-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][-+]?[0-9]++)?+|true|false|null|NaN|-?Infinity"
# Whether anything can follow a brace is told without Python: a megabyte of braces is no megabyte of steps.
_OBJECT = re.compile(rf'\{{(?={_BLANKS}(?:\}}|{_STRING}{_BLANKS}:{_BLANKS}[-"0-9tfnNI{{\[]))')
_MEMBER = re.compile(rf"{_BLANKS}(?P<key>{_STRING}){_BLANKS}:{_BLANKS}(?:(?P<scalar>{_SCALAR})|(?=[{{\[]))")
_ELEMENT = re.compile(rf"{_BLANKS}(?:(?P<scalar>{_SCALAR})|(?=[{{\[]))")
_NEXT = re.compile(rf"{_BLANKS}([,}}\]])")
_EMPTY = re.compile(rf"[{{\[]{_BLANKS}[}}\]]")

_Span = tuple[int, int]
"""Where a value ends, and how deep it nests."""


def last_answer_object(text: str) -> dict[str, Any] | None:
    """Return the JSON object with an "answer" key that starts last, nested ones included; None without one.

    Objects nested deeper than any answer is are none. Takes time linear in the text's length.
    """
    if '"answer"' not in text and "\\u" not in text:  # a key may be written in escapes
        return None
    reader = _Reader(text)
    for start in reversed([match.start() for match in _OBJECT.finditer(text)]):
        end = reader.read(start)
        if end is None or not reader.has_answer_key:
            continue
        try:
            value = json.loads(text[start:end])
        except (ValueError, RecursionError):  # a number of more digits than Python reads; a caller deep in its stack
            continue
        if isinstance(value, dict) and "answer" in value:
            return value
    return None


class _Reader:
    """Finds the ends of JSON values. ``has_answer_key``: whether the object read last may have such a member."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._found: dict[int, _Span | None] = {}  # by start; None for what is no JSON
        self.has_answer_key = False

    def read(self, start: int) -> int | None:
        """Return the end of the object at ``start``, all objects after it having been read before."""
        self.has_answer_key = False
        self._found[start] = found = self._container(start, _MAX_ARRAYS)
        return found and found[0]

    def _container(self, start: int, arrays_left: int) -> _Span | None:
        """Read the object or array at ``start``."""
        text = self._text
        pattern, closing = (_MEMBER, "}") if text[start] == "{" else (_ELEMENT, "]")
        if empty := _EMPTY.match(text, start):
            return (empty.end(), 1) if text[empty.end() - 1] == closing else None
        position, depth = start + 1, 1
        while part := pattern.match(text, position):
            position = part.end()
            if pattern is _MEMBER and (part["key"] == '"answer"' or "\\" in part["key"]):
                self.has_answer_key = True
            if part["scalar"] is None:
                inner = self._inner(position, arrays_left)
                if inner is None:
                    return None
                position, depth = inner[0], max(depth, inner[1] + 1)
            following = _NEXT.match(text, position)
            if following is None:
                return None
            position = following.end()
            if following[1] != ",":
                return (position, depth) if following[1] == closing and depth <= _MAX_DEPTH else None
        return None

    def _inner(self, start: int, arrays_left: int) -> _Span | None:
        """A container inside another: objects are known, an array is read when it is first met."""
        if self._text[start] == "[" and start not in self._found:
            self._found[start] = self._container(start, arrays_left - 1) if arrays_left else None
        return self._found.get(start)
