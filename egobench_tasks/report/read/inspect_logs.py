"""Inspect's logs (``.eval``): which there are, in what order, what shaped them, and their samples."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from egobench_tasks.errors import InputError
from egobench_tasks.extras import needs_extra
from egobench_tasks.hosts.lighteval.saved import MIXED
from egobench_tasks.report.read.responses import Settings

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSample

LOG_SUFFIX = ".eval"
# Of Inspect's generation settings.
_SHAPING_NOTHING = {
    *("max_retries", "timeout", "attempt_timeout", "max_connections", "adaptive_connections", "batch", "cache")
}


def read_headers(path: Path) -> list[tuple[Path, "EvalLog"]]:
    """Return a log, or the logs of a folder, without their samples: the oldest first, by the time with its zone that
    Inspect saved. Raises ``InputError`` for a log that cannot be read."""
    logs = sorted(path.glob(f"*{LOG_SUFFIX}")) if path.is_dir() else [path]
    return sorted(((log, _read_header(log)) for log in logs), key=lambda pair: _created(pair[1]))


def settings_of(header: "EvalLog") -> Settings:
    """Return what a log says of its task's input."""
    metadata: Mapping[str, Any] = header.eval.metadata or {}
    return Settings(*(str(metadata[name]) if name in metadata else None for name in ("prompt", "frames", "dataset")))


def shaping(header: "EvalLog", *, with_frames: bool) -> str:
    """Return what shaped a log's answers, in words: wording, frames, and how the model generated."""
    settings = settings_of(header)
    plan = header.plan.config.model_dump(exclude_none=True, exclude=_SHAPING_NOTHING)
    frames = settings.frames if with_frames else None
    named = {"prompt": settings.prompt, "frames": frames, **plan, **header.eval.model_args}
    return ", ".join(f"{name}={value}" for name, value in sorted(named.items()) if value is not None)


def name_of(model: str, settings: str, n_runs: int) -> str:
    """Return a run's name: the model's last part, with the settings where the logs hold several runs of it."""
    last = model.rsplit("/", 1)[-1]
    return f"{last} ({MIXED}: {settings})" if n_runs > 1 else last


def read_samples(path: Path, required: tuple[str, ...]) -> Iterator["EvalSample"]:
    """Yield a log's samples. Raises ``InputError`` for a log that cannot be read, and for a sample whose metadata lack
    what is required."""
    from inspect_ai.log import read_eval_log_samples

    try:
        for sample in read_eval_log_samples(path, all_samples_required=False, exclude_fields={"events", "attachments"}):
            _check_metadata(path, sample, required)
            yield sample
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise InputError(f"{path}: cannot read its samples ({type(error).__name__}: {error})") from error


def _check_metadata(path: Path, sample: "EvalSample", required: tuple[str, ...]) -> None:
    missing = [name for name in required if name not in sample.metadata]
    if missing:
        raise InputError(
            f"{path}: sample {sample.id} has no {', '.join(missing)} in its metadata: saved by another version of "
            "egobench or by another task; run it again with this version"
        )


def _created(header: "EvalLog") -> datetime:
    created = datetime.fromisoformat(header.eval.created)
    return created if created.tzinfo is not None else created.replace(tzinfo=UTC)


def _read_header(path: Path) -> "EvalLog":
    with needs_extra("inspect", f"{path}: reading an Inspect log"):
        from inspect_ai.log import read_eval_log
    try:
        return read_eval_log(path, header_only=True)
    except Exception as error:  # zip, JSON and validation errors of a dozen types
        raise InputError(f"{path}: cannot be read as an Inspect log ({type(error).__name__}: {error})") from error
