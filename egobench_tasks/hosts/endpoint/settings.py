"""Which endpoint to ask and how, from a YAML file that is checked name by name and value by value."""

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from pathlib import Path
from typing import Any

from egobench_tasks.benchmarks import EGOGEARS
from egobench_tasks.errors import InputError
from egobench_tasks.servers import check_base_url, read_settings

NO_KEY = "none"
"""Sent where no key is configured: local servers need none, but the header must hold something."""

# What the host writes into every request itself; extra_body must not say otherwise.
_OWN_FIELDS = frozenset({"model", "messages", "max_tokens", "max_completion_tokens", "temperature", "stream", "n"})


class Thinking(StrEnum):
    """Whether ``chat_template_kwargs.enable_thinking`` is sent, and as what. AUTO: not sent."""

    AUTO = "auto"
    ON = "on"
    OFF = "off"


class ImageDetail(StrEnum):
    """The ``detail`` of every image. AUTO, the API's own default, is not sent."""

    AUTO = "auto"
    LOW = "low"
    HIGH = "high"


class TokensField(StrEnum):
    """The request field that carries the token budget: newer OpenAI models refuse ``max_tokens``."""

    MAX_TOKENS = "max_tokens"
    MAX_COMPLETION_TOKENS = "max_completion_tokens"


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointSettings:
    """A model behind an OpenAI-compatible endpoint.

    base_url: the API's root, ``http://127.0.0.1:8000/v1``.
    model: the name the server knows the model by. Answers are kept under this name, whatever the address; that it
        is still the same model is looked at, see `same_model`.
    label: a name of the user's own that keeps apart the answers of two models of one name; None for none.
    api_key_variable: the environment variable that holds the key; the key itself is never kept.
    concurrency: requests under way at once. It also bounds the frames in memory, about 10 MB each.
    requests_per_minute: starts of requests, repeats included; None for no limit.
    timeout_s: seconds for one request, from its start to its last byte.
    max_retries: repeats of a request after a timeout, a lost connection, a 429, a 5xx or a reply that is none.
    temperature: None leaves it out, for servers that refuse it.
    max_tokens: new tokens of the first attempt; None for the task's own figure (PROTOCOL 1.2: 2,048;
        512 for open answers), or 16,384 with ``thinking: on``.
    max_tokens_cap: a truncated answer is asked for again with twice the budget, up to this.
    max_tokens_field: see `TokensField`.
    thinking, image_detail: see `Thinking`, `ImageDetail`.
    extra_body: further fields of every request.

    Raises ``InputError`` for values that cannot work.
    """

    base_url: str
    model: str
    label: str | None = None
    api_key_variable: str | None = None
    concurrency: int = 8
    requests_per_minute: float | None = None
    timeout_s: float = 600.0
    max_retries: int = 5
    temperature: float | None = 0.0
    max_tokens: int | None = None
    max_tokens_cap: int = EGOGEARS.max_new_tokens_cap
    max_tokens_field: TokensField = TokensField.MAX_TOKENS
    thinking: Thinking = Thinking.AUTO
    image_detail: ImageDetail = ImageDetail.AUTO
    extra_body: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("base_url", "model"):
            if not getattr(self, name):
                raise InputError(f"{name} is empty")
        check_base_url(self.base_url)
        for name, lowest in (("concurrency", 1), ("max_retries", 0), ("max_tokens", 1), ("max_tokens_cap", 1)):
            value = getattr(self, name)
            if value is not None and value < lowest:
                raise InputError(f"{name} must be at least {lowest}, got {value}")
        for name in ("timeout_s", "requests_per_minute"):
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and value > 0):
                raise InputError(f"{name} must be a positive number, got {value}")
        if self.temperature is not None and not 0 <= self.temperature <= 2:
            raise InputError(f"temperature must lie in [0, 2], got {self.temperature}")
        if own := sorted(_OWN_FIELDS & self.extra_body.keys()):
            raise InputError(f"extra_body must not hold {', '.join(own)}: settings of their own, or fixed")

    def request_fields(self, budget_tokens: int) -> dict[str, Any]:
        """Everything of a request's body but its messages, for a budget of new tokens."""
        body: dict[str, Any] = {"model": self.model, self.max_tokens_field.value: budget_tokens, **self.extra_body}
        if self.temperature is not None:
            body["temperature"] = self.temperature
        if self.thinking is not Thinking.AUTO:
            thinks = {"enable_thinking": self.thinking is Thinking.ON}
            body["chat_template_kwargs"] = {**body.get("chat_template_kwargs", {}), **thinks}
        return body

    def identity(self) -> dict[str, Any]:
        """What shapes an answer, the question and the token budget aside; the key of a journal's folder."""
        body = self.request_fields(budget_tokens=0)
        label = {} if self.label is None else {"label": self.label}
        return {"endpoint": body, "image_detail": self.image_detail.value, **label}

    def first_budget(self, task_budget: int) -> int:
        """New tokens of a question's first attempt, where its task gives direct models ``task_budget``."""
        default = EGOGEARS.max_new_tokens_reasoning if self.thinking is Thinking.ON else task_budget
        return min(self.max_tokens or default, self.max_tokens_cap)

    def api_key(self, environ: Mapping[str, str] = os.environ) -> str:
        """Return the key to send. Raises ``InputError`` where the variable is empty, or holds what no key is."""
        if self.api_key_variable is None:
            return NO_KEY
        key = environ.get(self.api_key_variable, "").strip()
        if not key:
            raise InputError(f"the endpoint's key is to come from ${self.api_key_variable}, which is not set")
        if not key.isascii() or not key.isprintable():
            raise InputError(f"${self.api_key_variable} holds characters that no key has")
        return key


_TEXT, _WHOLE, _NUMBER = (str,), (int,), (int, float)
_ACCEPTED: Mapping[str, tuple[type, ...]] = {
    "base_url": _TEXT,
    "model": _TEXT,
    "label": _TEXT,
    "api_key_variable": _TEXT,
    "concurrency": _WHOLE,
    "requests_per_minute": _NUMBER,
    "timeout_s": _NUMBER,
    "max_retries": _WHOLE,
    "temperature": _NUMBER,
    "max_tokens": _WHOLE,
    "max_tokens_cap": _WHOLE,
    "max_tokens_field": (TokensField,),
    "thinking": (Thinking,),
    "image_detail": (ImageDetail,),
    "extra_body": (dict,),
}
_MAY_BE_NULL = frozenset({"label", "api_key_variable", "requests_per_minute", "temperature", "max_tokens"})


def load_endpoint_settings(path: Path) -> EndpointSettings:
    """Read an endpoint's YAML file.

    Raises ``InputError`` naming the file and the setting: one that is unknown, missing or wrong.
    """
    loaded = read_settings(path, "the endpoint's")
    values = {name: _checked(name, value, path) for name, value in loaded.items()}
    if missing := sorted({"base_url", "model"} - values.keys()):
        raise InputError(f"{path}: {' and '.join(missing)} must be set")
    try:
        return EndpointSettings(**values)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def _checked(name: str, value: object, path: Path) -> Any:
    if name not in _ACCEPTED:
        raise InputError(f"{path}: unknown setting {name!r}; known are {sorted(_ACCEPTED)}")
    if value is None and name in _MAY_BE_NULL:
        return None
    accepted = _ACCEPTED[name]
    if issubclass(accepted[0], StrEnum):
        return _choice(accepted[0], name, value, path)
    # bool is an int to Python, never to a user
    if not isinstance(value, accepted) or isinstance(value, bool):
        wanted = {_TEXT: "text", _WHOLE: "a whole number", _NUMBER: "a number"}.get(accepted, "a mapping")
        raise InputError(f"{path}: {name} must be {wanted}, got {value!r}")
    return value


def _choice(choices: type[StrEnum], name: str, value: object, path: Path) -> StrEnum:
    # YAML 1.1 reads a bare on or off as a truth value
    text = ("on" if value else "off") if isinstance(value, bool) else str(value)
    try:
        return choices(text)
    except ValueError:
        known = ", ".join(choice.value for choice in choices)
        raise InputError(f"{path}: {name} must be one of {known}; got {value!r}") from None


assert {item.name for item in fields(EndpointSettings)} == set(_ACCEPTED)
