"""What every OpenAI-compatible server is told and asked by, be it the model's or the judge's."""

import math
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal
from urllib.parse import urlsplit

from egobench_tasks.benchmarks import EGOGEARS
from egobench_tasks.errors import InputError

AUTO = "auto"
AUTO_MOST_AT_ONCE = 64
"""Requests under way at once that ``concurrency: auto`` may find out to be well."""

SHAPING_NOTHING = frozenset(
    {"base_url", "api_key_variable", "headers", "query", "stream", "price_in", "price_out"}
    | {"concurrency", "requests_per_minute", "timeout_s", "max_retries", "max_stall_s"}
)
"""Where, how fast and at what price a server is asked: runs that differ in these alone are alike."""

# What the client writes into every request itself; extra_body must not say otherwise.
_OWN_FIELDS = frozenset(
    {"model", "messages", "max_tokens", "max_completion_tokens", "temperature", "stream", "stream_options", "n"}
)
_HEADER_NAME = re.compile(r"[A-Za-z0-9-]+")
_SECRET_NAME = re.compile(r"authorization|cookie|key|token|secret|password|signature", re.IGNORECASE)


class Thinking(StrEnum):
    """Whether ``chat_template_kwargs.enable_thinking`` is sent, and as what. AUTO: not sent."""

    AUTO = "auto"
    ON = "on"
    OFF = "off"


class TokensField(StrEnum):
    """The request field that carries the token budget: newer OpenAI models refuse ``max_tokens``."""

    MAX_TOKENS = "max_tokens"
    MAX_COMPLETION_TOKENS = "max_completion_tokens"


class Streaming(StrEnum):
    """Whether replies come as a stream of events. AUTO: where the server refuses anything else."""

    AUTO = "auto"
    ON = "on"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """A model behind an OpenAI-compatible server.

    base_url: the API's root, ``http://127.0.0.1:8000/v1``; a query in it (``?api-version=…``) is kept.
    model: the name the server knows the model by.
    label: a name of the user's own that keeps apart what two models of one name have said; None for none.
    api_key_variable: the environment variable that holds the key; the key itself is never kept.
    headers, query: sent with every request. A value ``$NAME`` is the environment variable's: that is where keys belong.
    concurrency: requests under way at once, or ``"auto"``: more while it goes well, fewer on a 429 or a timeout.
    requests_per_minute: starts of requests, repeats included; None for no limit.
    timeout_s: seconds for one request, from its start to its last byte.
    max_retries: repeats of a request after a timeout, a lost connection, a 5xx or a reply that is none.
    max_stall_s: seconds for which a server that is over its limit (429) may answer nothing before requests fail for it.
    temperature: None leaves it out, for servers that refuse it.
    seed: of the server's draws; each further repeat of a question sends the next one. None leaves it out.
    price_in, price_out: of a million prompt tokens and of a million new ones, in whatever money; None where unknown.
    max_tokens: new tokens of the first attempt; None for the question's own figure.
    max_tokens_cap: a truncated reply is asked for again with twice the budget, up to this. It bounds the question's own
        figure, too; ``max_tokens`` above it is refused.
    max_tokens_field, thinking, stream: see `TokensField`, `Thinking`, `Streaming`.
    extra_body: further fields of every request.

    Raises ``InputError`` for values that cannot work.
    """

    base_url: str
    model: str
    label: str | None = None
    api_key_variable: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    concurrency: int | Literal["auto"] = 8
    requests_per_minute: float | None = None
    timeout_s: float = 600.0
    max_retries: int = 5
    max_stall_s: float = 1800.0
    temperature: float | None = 0.0
    seed: int | None = None
    price_in: float | None = None
    price_out: float | None = None
    max_tokens: int | None = None
    max_tokens_cap: int = EGOGEARS.max_new_tokens_cap
    max_tokens_field: TokensField = TokensField.MAX_TOKENS
    thinking: Thinking = Thinking.AUTO
    stream: Streaming = Streaming.AUTO
    extra_body: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("base_url", "model"):
            if not getattr(self, name):
                raise InputError(f"{name} is empty")
        check_base_url(self.base_url)
        for name, lowest in (("concurrency", 1), ("max_retries", 0), ("max_tokens", 1), ("max_tokens_cap", 1)):
            value = getattr(self, name)
            if value not in (None, AUTO) and value < lowest:
                raise InputError(f"{name} must be at least {lowest}, got {value}")
        if self.max_tokens is not None and self.max_tokens > self.max_tokens_cap:
            raise InputError(
                f"max_tokens {self.max_tokens} lies above max_tokens_cap {self.max_tokens_cap}: raise the cap, too, "
                "or lower max_tokens"
            )
        for name in ("timeout_s", "requests_per_minute", "max_stall_s"):
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and value > 0):
                raise InputError(f"{name} must be a positive number, got {value}")
        if self.temperature is not None and not 0 <= self.temperature <= 2:
            raise InputError(f"temperature must lie in [0, 2], got {self.temperature}")
        for name in ("price_in", "price_out"):
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and value >= 0):
                raise InputError(f"{name} must be a number from 0 up, got {value}")
        if own := sorted(_OWN_FIELDS & self.extra_body.keys()):
            raise InputError(f"extra_body must not hold {', '.join(own)}: settings of their own, or fixed")
        _check_fields("headers", self.headers)
        _check_fields("query", self.query)

    @property
    def most_at_once(self) -> int:
        """Requests that may be under way at once."""
        return self.concurrency if isinstance(self.concurrency, int) else AUTO_MOST_AT_ONCE

    def request_fields(self, budget_tokens: int, repeat: int = 0) -> dict[str, Any]:
        """Everything of a request's body but its messages, for a budget of new tokens.

        ``repeat`` counts a question's repeats from 0, for the seed.
        """
        body: dict[str, Any] = {"model": self.model, self.max_tokens_field.value: budget_tokens, **self.extra_body}
        if self.temperature is not None:
            body["temperature"] = self.temperature
        if self.seed is not None:
            body["seed"] = self.seed + repeat
        if self.thinking is not Thinking.AUTO:
            thinks = {"enable_thinking": self.thinking is Thinking.ON}
            body["chat_template_kwargs"] = {**body.get("chat_template_kwargs", {}), **thinks}
        return body

    def api_key(self, environ: Mapping[str, str] = os.environ) -> str | None:
        """Return the key to send, None for none.

        Raises ``InputError`` where the variable is empty, or holds what no key is.
        """
        return None if self.api_key_variable is None else _from_variable(self.api_key_variable, "key", environ)

    def sent_headers(self, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
        """Return `headers` with the variables' values. Raises ``InputError`` as `api_key`."""
        return {name: _resolved(value, f"header {name}", environ) for name, value in self.headers.items()}

    def sent_query(self, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
        """Return `query` with the variables' values. Raises ``InputError`` as `api_key`."""
        return {name: _resolved(value, f"query field {name}", environ) for name, value in self.query.items()}

    def secrets(self, environ: Mapping[str, str] = os.environ) -> tuple[str, ...]:
        """Return what is sent and must be shown nowhere: the key, and what comes from variables."""
        fields = [*zip(self.headers.values(), self.sent_headers(environ).values(), strict=True)]
        fields += zip(self.query.values(), self.sent_query(environ).values(), strict=True)
        sent = [self.api_key(environ), *(value for named, value in fields if named.startswith("$"))]
        return tuple(value for value in sent if value)


def check_base_url(base_url: str) -> None:
    """Raise ``InputError`` for an address that is none, or that holds a password (it would be saved with results)."""
    try:
        parts = urlsplit(base_url)
        readable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        readable = False
    if not readable:
        raise InputError(f"base_url must be like http://127.0.0.1:8000/v1, got {base_url!r}")
    if parts.username or parts.password:
        raise InputError("base_url holds a user name or password; put the key in a variable instead")
    if any(_SECRET_NAME.search(name.partition("=")[0]) for name in parts.query.split("&")):
        raise InputError("base_url's query holds a key; give it under `query:` as `name: $VARIABLE`")


def _check_fields(setting: str, values: Mapping[str, str]) -> None:
    for name, value in values.items():
        if not isinstance(name, str) or not isinstance(value, str):
            raise InputError(f"{setting} must hold `name: text` pairs, got {name!r}: {value!r}; put it in quotes")
        if setting == "headers" and not (_HEADER_NAME.fullmatch(name) and value.isascii() and value.isprintable()):
            raise InputError(f"headers: {name!r} is no header that can be sent")
        if _SECRET_NAME.search(name) and not value.startswith("$"):
            raise InputError(
                f"{setting}: {name} holds a key, which does not belong in a file; put it in an environment variable "
                f"and name the variable: `{name}: $MY_KEY`"
            )


def _resolved(value: str, what: str, environ: Mapping[str, str]) -> str:
    return _from_variable(value[1:], what, environ) if value.startswith("$") else value


def _from_variable(variable: str, what: str, environ: Mapping[str, str]) -> str:
    value = environ.get(variable, "").strip()
    if not value:
        raise InputError(f"the server's {what} is to come from ${variable}, which is not set")
    if not value.isascii() or not value.isprintable():
        raise InputError(f"${variable} holds characters that no key has")
    return value
