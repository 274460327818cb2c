"""How long a server asks to wait, in each way that providers have."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from egobench_tasks.servers.waits import MAX_WAIT_S, asked_wait_s

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
LATER = NOW + timedelta(seconds=9)

HEADERS = [
    ({"retry-after": "7"}, 7),
    ({"retry-after": "0.5"}, 0.5),
    ({"retry-after": "-3"}, 0),
    ({"retry-after": "99999"}, MAX_WAIT_S),
    ({"retry-after": "nan"}, None),
    ({"retry-after": "7, 9"}, 9),  # the header came twice
    ({"retry-after": "30s"}, 30),
    ({"retry-after": "inf"}, MAX_WAIT_S),
    ({"retry-after": "Friday, 02-Jan-26 03:04:14 GMT"}, 9),  # HTTP's two older forms of a date
    ({"retry-after": "Fri Jan  2 03:04:14 2026"}, 9),
    ({"retry-after": "soon"}, None),
    ({"retry-after": format_datetime(LATER, usegmt=True)}, 9),
    ({"retry-after": format_datetime(NOW - timedelta(seconds=9), usegmt=True)}, 0),
    ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
    ({"x-ratelimit-reset-requests": "6m0s"}, 360),
    ({"x-ratelimit-reset-tokens": "20ms"}, 0.02),
    ({"x-ratelimit-reset-requests": "1h2m3.5s"}, MAX_WAIT_S),
    ({"X-RateLimit-Reset": "12"}, 12),
    ({"X-RateLimit-Reset": str(int(LATER.timestamp()))}, 9),
    ({"X-RateLimit-Reset": str(int(LATER.timestamp() * 1000))}, 9),
    ({"RateLimit-Reset": "5"}, 5),
    ({"anthropic-ratelimit-requests-reset": LATER.isoformat().replace("+00:00", "Z")}, 9),
    (
        {
            "x-ratelimit-remaining-requests": "0",
            "x-ratelimit-reset-requests": "12s",
            "x-ratelimit-remaining-tokens": "9000",
            "x-ratelimit-reset-tokens": "6m",
        },
        12,
    ),
    ({"x-ratelimit-limit-requests": "60"}, None),
]
BODIES = [
    ("Rate limit reached. Please try again in 20s. Visit …", 20),
    ("Please try again in 350ms.", 0.35),
    ("Please retry after 1m30s", 90),
    ("Please retry after 2 minutes, 3 seconds.", 123),
    ("Too fast: wait 7 seconds", 7),
    ('{"error": {"details": [{"retryDelay": "34.07s"}]}}', 34.07),
    ('{"retry_after": 12.5}', 12.5),
    ("try again in a while", None),
    ("the model has 20s of context", None),
    ("", None),
]


@pytest.mark.parametrize(("headers", "seconds"), HEADERS)
def test_headers_in_each_form(headers, seconds):
    assert asked_wait_s(headers, "", NOW) == (None if seconds is None else pytest.approx(seconds))


@pytest.mark.parametrize(("body", "seconds"), BODIES)
def test_words_of_the_body(body, seconds):
    assert asked_wait_s({}, body, NOW) == (None if seconds is None else pytest.approx(seconds))


def test_a_header_goes_before_the_words():
    assert asked_wait_s({"Retry-After": "3"}, "try again in 20s", NOW) == 3


@given(st.sampled_from(["retry-after", "retry-after-ms", "x-ratelimit-reset"]), st.text(), st.text())
def test_nothing_that_a_server_says_raises_or_waits_for_ever(name, value, body):
    seconds = asked_wait_s({name: value}, body, NOW)
    assert seconds is None or 0 <= seconds <= MAX_WAIT_S
