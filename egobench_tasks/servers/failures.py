"""Why a request got no reply, told apart by whether another request could fare better."""

from enum import StrEnum
from http import HTTPStatus

_OVERLOADED = 529  # Anthropic's, and of services in front of it
_PASSING = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.CONFLICT, HTTPStatus.TOO_EARLY})
_OF_ALL = frozenset(
    {
        HTTPStatus.UNAUTHORIZED,
        HTTPStatus.PAYMENT_REQUIRED,
        HTTPStatus.FORBIDDEN,
        HTTPStatus.NOT_FOUND,
        HTTPStatus.METHOD_NOT_ALLOWED,
        HTTPStatus.GONE,
    }
)
# A 429 that no waiting mends: OpenAI's word for an account without money.
_SPENT = ("insufficient_quota", "billing_hard_limit", "exceeded your current quota")


class FailureKind(StrEnum):
    """What kept a request from its reply."""

    TIMEOUT = "timeout"
    CONNECTION = "connection"
    RATE_LIMITED = "rate_limited"
    SERVER_ERROR = "server_error"
    NO_COMPLETION = "no_completion"  # HTTP 200 with something else: a sign-in page, a service's own error
    MISCONFIGURED = "misconfigured"  # a wrong key, an unknown model or address, an account without money

    BAD_REPLY = "bad_reply"  # a completion that cannot be read
    TOO_LARGE = "too_large"
    REFUSED = "refused"  # the server took exception to this very request

    @property
    def is_outage(self) -> bool:
        """Whether any other request would have met it too. The last three say something of one request alone."""
        return self not in (FailureKind.BAD_REPLY, FailureKind.TOO_LARGE, FailureKind.REFUSED)

    @property
    def may_pass(self) -> bool:
        """Whether the same request may fare better a little later."""
        return self not in (FailureKind.MISCONFIGURED, FailureKind.TOO_LARGE, FailureKind.REFUSED)


class RequestFailed(Exception):
    """No reply to a request, repeats included. Its text says why, and never holds a key."""

    def __init__(self, kind: FailureKind, reason: str) -> None:
        super().__init__(reason)
        self.kind = kind


def kind_of_status(status: int, body: str) -> FailureKind:
    """Return what an HTTP status other than success says; ``body`` tells an empty account from an empty window."""
    if status in (HTTPStatus.TOO_MANY_REQUESTS, _OVERLOADED):
        return FailureKind.MISCONFIGURED if any(word in body for word in _SPENT) else FailureKind.RATE_LIMITED
    if status in _PASSING or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return FailureKind.SERVER_ERROR
    return FailureKind.MISCONFIGURED if status in _OF_ALL or status < HTTPStatus.BAD_REQUEST else FailureKind.REFUSED
