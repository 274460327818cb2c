"""Which judge to ask and how, from the environment or a YAML file."""

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import get_type_hints

from egobench_tasks.errors import InputError
from egobench_tasks.servers import check_base_url, read_settings

PREFIX = "EGOBENCH_JUDGE_"
API_KEY_VARIABLE = f"{PREFIX}API_KEY"
CONFIG_VARIABLE = f"{PREFIX}CONFIG"
PROMPT_VARIABLE = f"{PREFIX}PROMPT"
"""Names a file of wording in place of ours; `judge.prompt` reads it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeSettings:
    """A judge behind an OpenAI-compatible endpoint.

    ``base_url`` ends in the API's root (``http://127.0.0.1:8000/v1``). ``api_key_variable`` names
    the environment variable that holds the key; the key itself is read when it is sent, and is
    never kept here. ``timeout_s`` bounds each wait for the server; ``max_retries`` is how often a
    request is repeated after a timeout, a lost connection, a 429 or a 5xx; ``concurrency`` is how many
    requests are under way at once; ``max_tokens`` bounds a reply; ``label`` tells this judge from
    another that once had the same name: verdicts of the two are kept apart. Raises ``InputError`` for values
    that cannot work.
    """

    base_url: str
    model: str
    api_key_variable: str = API_KEY_VARIABLE
    timeout_s: float = 60.0
    max_retries: int = 5
    concurrency: int = 8
    max_tokens: int = 512
    label: str = ""

    def __post_init__(self) -> None:
        for name in ("base_url", "model", "api_key_variable"):
            if not getattr(self, name):
                raise InputError(f"judge settings: {name} is empty")
        check_base_url(self.base_url)
        if not (math.isfinite(self.timeout_s) and self.timeout_s > 0):
            raise InputError(f"judge settings: timeout_s must be a positive number of seconds, got {self.timeout_s}")
        for name, lowest in (("max_retries", 0), ("concurrency", 1), ("max_tokens", 1)):
            if getattr(self, name) < lowest:
                raise InputError(f"judge settings: {name} must be at least {lowest}, got {getattr(self, name)}")


_TYPES: Mapping[str, type] = get_type_hints(JudgeSettings)


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
    values: dict[str, object] = {}
    if config is None and environ.get(CONFIG_VARIABLE):
        config = Path(environ[CONFIG_VARIABLE])
    if config is not None:
        values |= _from_yaml(config)
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
    return JudgeSettings(**values)  # type: ignore[arg-type]  # _typed has checked every value


def _from_yaml(path: Path) -> dict[str, object]:
    loaded = read_settings(path, "the judge's")
    return {name: _typed(name, value, f"{path}: {name}") for name, value in loaded.items()}


def _from_environment(environ: Mapping[str, str]) -> dict[str, object]:
    apart = {API_KEY_VARIABLE, CONFIG_VARIABLE, PROMPT_VARIABLE}
    return {
        variable.removeprefix(PREFIX).lower(): _typed(variable.removeprefix(PREFIX).lower(), text, variable)
        for variable, text in sorted(environ.items())
        if variable.startswith(PREFIX) and variable not in apart and text
    }


def _typed(name: str, value: object, where: str) -> object:
    """Return a value in its field's type: text is read as a number where the field holds one."""
    if name not in _TYPES:
        raise InputError(f"{where}: unknown setting; known are {sorted(_TYPES)}")
    wanted = _TYPES[name]
    try:
        if type(value) in (wanted, str) or (wanted is float and type(value) is int):
            return wanted(value)  # text for a number may not be one: ValueError
    except ValueError:
        pass
    raise InputError(f"{where}: must be of type {wanted.__name__}, got {value!r}")
