"""Reading JSON lines strictly: every complaint names the file, the line and the field."""

import string
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from egobench_tasks.documents import parse_json
from egobench_tasks.errors import InputError

_MIN_OPTIONS = 2
_MANY_SECONDS = 1e9


@dataclass(frozen=True, slots=True)
class Row:
    """One JSON object of a file; ``where`` names file and line. Its getters raise ``InputError``."""

    where: str
    fields: Mapping[str, Any]

    def get(self, name: str) -> Any:
        """Return a field that must be there."""
        if name not in self.fields:
            raise InputError(f"{self.where}: field {name!r} is missing; fetch the file again or mend the line")
        return self.fields[name]

    def wrong(self, name: str, problem: str) -> InputError:
        """Return the error of a field whose value cannot be used."""
        return InputError(f"{self.where}: field {name!r} {problem}; fetch the file again or mend the line")

    def text(self, name: str) -> str:
        """Return a string that is not empty, without stray whitespace at its ends."""
        value = self.get(name)
        if not is_text(value):
            raise self.wrong(name, f"is {value!r}, not a text")
        return str(value).strip()

    def optional_text(self, name: str) -> str | None:
        """Return a string, or None where the field is absent, null or empty."""
        value = self.fields.get(name)
        return None if value is None or value == "" else self.text(name)

    def optional(self, name: str, kind: type) -> Any:
        """Return a value of one JSON type, or None where the field is absent or null."""
        value = self.fields.get(name)
        if value is not None and type(value) is not kind:
            raise self.wrong(name, f"is {value!r}, not {kind.__name__}")
        return value

    def options(self, name: str) -> tuple[str, ...]:
        """Return the texts of ``{"A": text, "B": text, …}``, index 0 = A; keys may come in any order."""
        value = self.get(name)
        if not isinstance(value, dict) or not _MIN_OPTIONS <= len(value) <= len(string.ascii_uppercase):
            raise self.wrong(name, "is not an object of 2 to 26 lettered texts")
        letters = string.ascii_uppercase[: len(value)]
        if sorted(value) != list(letters):
            raise self.wrong(name, f"is lettered {', '.join(value)}, not {', '.join(letters)}")
        for letter in letters:
            if not is_text(value[letter]):
                raise self.wrong(name, f"has no text for {letter}")
        return tuple(value[letter].strip() for letter in letters)

    def letters(self, name: str, options: tuple[str, ...]) -> tuple[str, ...]:
        """Return a non-empty list of distinct option letters, sorted."""
        value = self.get(name)
        if not isinstance(value, list) or not value:
            raise self.wrong(name, f"is {value!r}, not a list of letters")
        allowed = string.ascii_uppercase[: len(options)]
        for letter in value:
            if not isinstance(letter, str) or len(letter) != 1 or letter not in allowed:
                raise self.wrong(name, f"names {letter!r}, which is no option (options: {', '.join(allowed)})")
        if len(set(value)) != len(value):
            raise self.wrong(name, f"names a letter twice: {', '.join(value)}")
        return tuple(sorted(value))

    def span_s(self, name: str) -> tuple[float, float]:
        """Return ``[start, end]`` in seconds, 0 <= start < end."""
        value = self.get(name)
        if not isinstance(value, list) or len(value) != 2 or not all(_is_number(item) for item in value):
            raise self.wrong(name, f"is {value!r}, not [start, end] in seconds")
        start_s, end_s = float(value[0]), float(value[1])
        if not 0 <= start_s < end_s:
            raise self.wrong(name, f"is {value!r}: it must start at 0 or later and end after its start")
        return start_s, end_s


def is_text(value: object) -> bool:
    """Whether a value is a string with something in it that UTF-8 can hold (JSON may name half a surrogate pair)."""
    return isinstance(value, str) and bool(value.strip()) and not any("\ud800" <= char <= "\udfff" for char in value)


def _is_number(value: object) -> bool:
    """Whether a value is a number of seconds: finite, and no longer than some thirty years."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _MANY_SECONDS


def read_jsonl(path: Path) -> Iterator[Row]:
    """Yield a row for every line that is not blank.

    Raises ``InputError`` naming file and line for what is no JSON object, or names one key twice.
    """
    try:
        with path.open(encoding="utf-8-sig") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    where = f"{path}: line {number}"
                    yield Row(where, _json_object(line, where))
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text ({error.reason} at byte {error.start}); fetch it again") from error


def _json_object(line: str, where: str) -> Mapping[str, Any]:
    try:
        value = parse_json(line)
    except ValueError as error:
        raise InputError(f"{where}: broken JSON ({error}); fetch the file again or mend the line") from error
    if not isinstance(value, dict):
        raise InputError(f"{where}: not a JSON object; fetch the file again or mend the line")
    return value
