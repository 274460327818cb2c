"""Which judge to ask and how, from the environment or a YAML file."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from egobench_tasks.errors import InputError
from egobench_tasks.servers.reading import file_values, variable_value
from egobench_tasks.servers.settings import ServerSettings

PREFIX = "EGOBENCH_JUDGE_"
API_KEY_VARIABLE = f"{PREFIX}API_KEY"
CONFIG_VARIABLE = f"{PREFIX}CONFIG"
PROMPT_VARIABLE = f"{PREFIX}PROMPT"

_VERDICT_TOKENS = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeSettings(ServerSettings):
    """A judge behind an OpenAI-compatible endpoint: all that `ServerSettings` has, with a judge's own figures.

    A verdict takes few tokens, a judge that reasons before it many: a reply that is cut is asked for again with twice
    the budget. Without ``api_key_variable`` the key is ``$EGOBENCH_JUDGE_API_KEY``, and there need be none.
    """

    api_key_variable: str | None = API_KEY_VARIABLE
    timeout_s: float = 300.0
    max_tokens_cap: int = 16_384

    @property
    def first_budget(self) -> int:
        """New tokens of a verdict's first attempt."""
        return self.max_tokens or min(_VERDICT_TOKENS, self.max_tokens_cap)

    def api_key(self, environ: Mapping[str, str] = os.environ) -> str | None:
        """Return the key to send, None for none. Raises ``InputError`` as `ServerSettings.api_key`."""
        if self.api_key_variable == API_KEY_VARIABLE and not environ.get(API_KEY_VARIABLE, "").strip():
            return None  # local servers need none
        return ServerSettings.api_key(self, environ)


def load_settings(
    environ: Mapping[str, str] = os.environ,
    *,
    config: Path | None = None,
    overrides: Mapping[str, object] | None = None,
) -> JudgeSettings | None:
    """Return the judge that the user configured, or None where nothing configures one.

    Values come from, each over the one before it: the YAML file (``config``, else
    ``$EGOBENCH_JUDGE_CONFIG``), the variables ``EGOBENCH_JUDGE_<FIELD>``, and ``overrides`` (the
    command line's options; None values are passed over). Raises ``InputError`` for an unknown
    name, a value of a wrong type, or a judge without base_url or model.
    """
    values: dict[str, Any] = {}
    if config is None and environ.get(CONFIG_VARIABLE):
        config = Path(environ[CONFIG_VARIABLE])
    if config is not None:
        values |= file_values(config, JudgeSettings, "the judge's")
    values |= _from_environment(environ)
    values |= {name: value for name, value in (overrides or {}).items() if value is not None}
    if not values:
        return None
    if missing := sorted({"base_url", "model"} - values.keys()):
        raise InputError(
            f"the judge has no {' and no '.join(missing)}: set "
            + " and ".join(f"{PREFIX}{name.upper()}" for name in missing)
            + f", or name a YAML file with {CONFIG_VARIABLE}"
        )
    try:
        return JudgeSettings(**values)
    except InputError as error:
        raise InputError(f"judge settings: {error}") from error


def _from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    apart = {API_KEY_VARIABLE, CONFIG_VARIABLE, PROMPT_VARIABLE}
    found: dict[str, Any] = {}
    for variable, text in sorted(environ.items()):
        if variable.startswith(PREFIX) and variable not in apart and text:
            name = variable.removeprefix(PREFIX).lower()
            found[name] = variable_value(name, text, JudgeSettings, variable)
    return found
