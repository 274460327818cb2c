"""Who gave a verdict: a judge's model and settings, its wording, and what its server says stands behind the name.

Two judges that differ in any of these are two judges: their verdicts never stand for each other's.
"""

import hashlib
import json
import urllib.request
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields, replace
from functools import cache
from http.client import HTTPException
from typing import Any

from egobench_tasks.judge.prompt import JudgeItem, prompt_fingerprint
from egobench_tasks.judge.settings import JudgeSettings
from egobench_tasks.servers.models import read_model_list
from egobench_tasks.servers.settings import SHAPING_NOTHING

# Nor does the bound on a reply shape a verdict: a verdict is a reply that ended.
_SHAPING_NOTHING = SHAPING_NOTHING | {"model", "max_tokens", "max_tokens_cap", "max_tokens_field"}
_WAIT_S = 5.0
_MAX_LIST_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class JudgeIdentity:
    """A judge. ``wording`` is `prompt.prompt_fingerprint`; ``configured`` holds the settings that shape its verdicts
    and are not the default, as (name, value); ``served`` is what its server says stands behind the model's name (the
    weights, an adapter's base), None where it does not say."""

    model: str
    wording: str
    configured: tuple[tuple[str, str], ...] = ()
    served: str | None = None

    @property
    def digest(self) -> str:
        """12 hex digits of all but ``served``, which a server may say one day and not the next."""
        parts = [self.model, self.wording, self.configured]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]

    @property
    def name(self) -> str:
        """The judge in words, for tables: ``gpt-x``, ``gpt-x (label=June), served from /models/x``."""
        settings = ", ".join(f"{name}={value}" for name, value in self.configured)
        served = f", served from {self.served}" if self.served else ""
        return self.model + (f" ({settings})" if settings else "") + served


def judge_identity(settings: JudgeSettings) -> JudgeIdentity:
    """Return the identity of the judge that the settings describe, as far as they tell: the server is not asked."""
    configured = tuple(
        (field.name, str(value))
        for field in fields(settings)
        if field.name not in _SHAPING_NOTHING and (value := getattr(settings, field.name)) != _default(field)
    )
    return JudgeIdentity(settings.model, prompt_fingerprint(), configured)


def served_identity(settings: JudgeSettings) -> JudgeIdentity:
    """Return the judge's identity with what its server says of the model (``GET /models``), if it says anything."""
    key = settings.api_key() or ""
    return replace(judge_identity(settings), served=_served_as(settings.base_url, settings.model, key))


def answer_digest(item: JudgeItem) -> str:
    """Return 32 hex digits of what a verdict is of: the question, the gold answer and the prediction."""
    return hashlib.sha256(json.dumps([item.question, item.gold, item.prediction]).encode()).hexdigest()[:32]


def to_record(identity: JudgeIdentity) -> dict[str, Any]:
    """Return the identity in plain values."""
    return {
        "model": identity.model,
        "wording": identity.wording,
        "configured": dict(identity.configured),
        "served": identity.served,
    }


def from_record(record: Mapping[str, Any]) -> JudgeIdentity:
    """Read what `to_record` made. Raises ``KeyError``, ``TypeError`` or ``AttributeError`` for anything else."""
    configured = tuple(sorted((str(name), str(value)) for name, value in record["configured"].items()))
    return JudgeIdentity(str(record["model"]), str(record["wording"]), configured, record["served"])


def _default(field: Any) -> object:
    if field.default_factory is not MISSING:
        return field.default_factory()
    return None if field.default is MISSING else field.default


@cache
def _served_as(base_url: str, model: str, key: str) -> str | None:
    """What ``GET /models`` says of the model beyond its name; asked once a process, and never waited for."""
    request = urllib.request.Request(f"{base_url.rstrip('/')}/models", headers={"Authorization": f"Bearer {key}"})
    try:
        with urllib.request.urlopen(request, timeout=_WAIT_S) as response:
            body = response.read(_MAX_LIST_BYTES).decode("utf-8", errors="replace")
    except (OSError, HTTPException, ValueError):
        return None
    served = read_model_list(body, model)
    return ", on ".join(name for name in (served.root, served.parent) if name not in (None, model)) or None
