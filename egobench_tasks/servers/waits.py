"""How long a server asks to be left alone, in all the ways that servers say so. Pure reading."""

import math
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

MAX_WAIT_S = 3600.0
"""More than an hour is cut to one: the next run asks again."""

_EPOCH_FROM_S, _EPOCH_FROM_MS = 1e9, 1e12
_UNITS_S = {"ms": 1e-3, "millisecond": 1e-3, "s": 1.0, "sec": 1.0, "second": 1.0, "m": 60.0, "min": 60.0}
_UNITS_S |= {"minute": 60.0, "h": 3600.0, "hour": 3600.0, "d": 86400.0, "day": 86400.0}
_UNIT = r"(?:milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|h|days?|d)(?![a-z])"
_PART = re.compile(rf"(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>{_UNIT})", re.IGNORECASE)
_SPAN = rf"\d+(?:\.\d+)?\s*{_UNIT}(?:[\s,]*\d+(?:\.\d+)?\s*{_UNIT})*"
# "Please try again in 20s", "retry after 1m30s", "Please wait 7 seconds"
_IN_WORDS = re.compile(
    rf"(?:(?:try again|retry(?:ing)?|available|resets?)\s+(?:in|after)|wait)\D{{0,20}}?(?P<span>{_SPAN})", re.IGNORECASE
)
# "retryDelay": "34s", "retry_after": 12.5
_IN_FIELD = re.compile(
    r'"(?:retry_?delay|retry_?after(?:_seconds)?)"\s*:\s*"?(?P<number>\d+(?:\.\d+)?)\s*(?P<ms>ms)?', re.IGNORECASE
)
_SEARCHED_CHARACTERS = 4000


def asked_wait_s(headers: Mapping[str, str], body: str, now: datetime | None = None) -> float | None:
    """Return the seconds that a refusal asks to wait, at most `MAX_WAIT_S`; None where it does not say.

    Read in this order: ``retry-after-ms``; ``Retry-After`` in seconds or as a date; the reset headers of limits that
    are used up (``x-ratelimit-reset-requests``, ``anthropic-ratelimit-tokens-reset``, ``RateLimit-Reset`` …), as
    seconds, as ``6m0s``, as a date or as a moment since 1970; the words of the body ("try again in 20s").
    """
    now = now or datetime.now(UTC)
    lower = {name.lower(): value.strip() for name, value in headers.items()}
    candidates = (
        _milliseconds(lower.get("retry-after-ms")),
        _moment_or_span(lower.get("retry-after"), now),
        _reset_s(lower, now),
        _in_words(body[:_SEARCHED_CHARACTERS]),
    )
    found = next((seconds for seconds in candidates if seconds is not None), None)
    return None if found is None else min(max(found, 0.0), MAX_WAIT_S)


def _milliseconds(value: str | None) -> float | None:
    milliseconds = _number(value)
    return None if milliseconds is None else milliseconds / 1000


def _moment_or_span(value: str | None, now: datetime) -> float | None:
    if value is None:
        return None
    seconds = _number(value)
    if seconds is not None:
        if seconds >= _EPOCH_FROM_S:
            return (seconds / 1000 if seconds >= _EPOCH_FROM_MS else seconds) - now.timestamp()
        return seconds
    date = _date(value)
    return _span_s(value) if date is None else (date - now).total_seconds()


def _number(value: str | None) -> float | None:
    """A number; the largest of several, as the HTTP client joins a header that came more than once."""
    try:
        number = max(map(float, (value or "nan").split(",")))
    except ValueError:
        return None
    return None if math.isnan(number) else number


def _date(value: str) -> datetime | None:
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            date = read(value)
        except ValueError:
            continue
        return date if date.tzinfo else date.replace(tzinfo=UTC)
    return None


def _span_s(text: str) -> float | None:
    """Seconds of ``1h2m3.5s``, ``350ms`` or ``2 minutes, 3 seconds``; None where it is no span."""
    parts = list(_PART.finditer(text))
    if not parts or _PART.sub("", text).strip(" ,"):
        return None
    return sum(float(part["number"]) * _unit_s(part["unit"].lower()) for part in parts)


def _unit_s(unit: str) -> float:
    return _UNITS_S[unit] if unit in _UNITS_S else _UNITS_S[unit.removesuffix("s")]


def _reset_s(headers: Mapping[str, str], now: datetime) -> float | None:
    """The longest wait for a limit that is used up; where none says so, for any limit."""
    resets = list(_resets(headers, now))
    used_up = [seconds for seconds, remaining in resets if remaining == 0]
    return max(used_up or [seconds for seconds, _ in resets], default=None)


def _resets(headers: Mapping[str, str], now: datetime) -> Iterator[tuple[float, float | None]]:
    for name, value in headers.items():
        if "ratelimit" in name.replace("-", "") and "reset" in name:
            seconds = _moment_or_span(value, now)
            if seconds is not None:
                yield seconds, _number(headers.get(name.replace("reset", "remaining")))


def _in_words(body: str) -> float | None:
    if field := _IN_FIELD.search(body):
        return float(field["number"]) / (1000 if field["ms"] else 1)
    match = _IN_WORDS.search(body)
    return None if match is None else _span_s(match["span"])
