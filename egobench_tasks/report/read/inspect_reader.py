"""Reading Inspect logs (``.eval``) of `egobench_tasks/egogears_single` and `…_multi`."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from egobench_tasks.benchmarks import EGOGEARS
from egobench_tasks.errors import InputError
from egobench_tasks.extras import needs_extra
from egobench_tasks.hosts.lighteval.saved import MIXED
from egobench_tasks.report.read.responses import Repeat, Response, Run, Settings, Shown, TaskRun, run_of
from egobench_tasks.runs.journal import REQUEST_FAILED

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSample

_CHOICE_TASK = re.compile(rf"(?:\w+/)?{EGOGEARS.name}_(?P<config>\w+)")
_REQUIRED = ("question_id", "shown_letters", "original_letters", "answer")
# Of Inspect's generation settings.
_SHAPING_NOTHING = {
    *("max_retries", "timeout", "attempt_timeout", "max_connections", "adaptive_connections", "batch", "cache")
}


def find_inspect_runs(path: Path) -> list[Run]:
    """Return the runs in an Inspect log or in a folder of them, one a model and set of settings.

    Of several logs of one task the newest counts, by the time with its zone that Inspect saved.
    Raises ``InputError`` for a log that cannot be read.
    """
    logs = sorted(path.glob("*.eval")) if path.is_dir() else [path]
    headers = sorted(((log, _read_header(log)) for log in logs), key=lambda pair: _created(pair[1]))
    by_model: dict[str, dict[str, dict[tuple[str, str], TaskRun]]] = {}
    for log, header in headers:
        match = _CHOICE_TASK.fullmatch(header.eval.task)
        if match:
            probe = str((header.eval.metadata or {}).get("probe", ""))
            task = TaskRun(match["config"], log, _settings(header), partial(_first_answers, log), probe)
            by_model.setdefault(header.eval.model, {}).setdefault(_shaping(header), {})[probe, match["config"]] = task
    return [
        run_of(_name(model, settings if len(runs) > 1 else ""), path, tasks.values(), mixed=len(runs) > 1)
        for model, runs in sorted(by_model.items())
        for settings, tasks in runs.items()
    ]


def _name(model: str, settings: str) -> str:
    last = model.rsplit("/", 1)[-1]
    return f"{last} ({MIXED}: {settings})" if settings else last


def _created(header: "EvalLog") -> datetime:
    created = datetime.fromisoformat(header.eval.created)
    return created if created.tzinfo is not None else created.replace(tzinfo=UTC)


def _shaping(header: "EvalLog") -> str:
    """What shaped a log's answers, in words: wording, frames, and how the model generated."""
    settings = _settings(header)
    # A probe's frames are its own: they make no other run of it.
    frames = None if (header.eval.metadata or {}).get("probe") else settings.frames
    plan = header.plan.config.model_dump(exclude_none=True, exclude=_SHAPING_NOTHING)
    named = {"prompt": settings.prompt, "frames": frames, **plan, **header.eval.model_args}
    return ", ".join(f"{name}={value}" for name, value in sorted(named.items()) if value is not None)


def _read_header(path: Path) -> "EvalLog":
    with needs_extra("inspect", f"{path}: reading an Inspect log"):
        from inspect_ai.log import read_eval_log
    try:
        return read_eval_log(path, header_only=True)
    except Exception as error:  # zip, JSON and validation errors of a dozen types
        raise InputError(f"{path}: cannot be read as an Inspect log ({type(error).__name__}: {error})") from error


def _settings(header: "EvalLog") -> Settings:
    metadata: Mapping[str, Any] = header.eval.metadata or {}
    return Settings(*(str(metadata[name]) if name in metadata else None for name in ("prompt", "frames", "dataset")))


def _first_answers(path: Path) -> Iterator[Response]:
    """Yield a response a question: the first epoch's, with those of all epochs where there are several."""
    by_id: dict[str, list[tuple[int, Response]]] = {}
    for epoch, response in _responses(path):
        by_id.setdefault(response.question_id, []).append((epoch, response))
    for answers in by_id.values():
        in_order = [response for _, response in sorted(answers, key=lambda answer: answer[0])]
        repeats = tuple(Repeat(response.text, response.finish_reason) for response in in_order)
        yield replace(in_order[0], repeats=repeats) if len(repeats) > 1 else in_order[0]


def _responses(path: Path) -> Iterator[tuple[int, Response]]:
    """Yield every sample's epoch and response."""
    from inspect_ai.log import read_eval_log_samples

    try:
        for sample in read_eval_log_samples(path, all_samples_required=False, exclude_fields={"events", "attachments"}):
            yield sample.epoch, _response(path, sample)
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise InputError(f"{path}: cannot read its samples ({type(error).__name__}: {error})") from error


def _response(path: Path, sample: "EvalSample") -> Response:
    missing = [name for name in _REQUIRED if name not in sample.metadata]
    if missing:
        raise InputError(
            f"{path}: sample {sample.id} has no {', '.join(missing)} in its metadata: saved by another version of "
            "egobench or by another task; run it again with this version"
        )
    from egobench_tasks.hosts.inspect.attempts import counted_attempt

    question, said = sample.metadata, counted_attempt(sample.metadata, sample.output)
    return Response(
        question_id=question["question_id"],
        text=said.text,
        finish_reason=REQUEST_FAILED if sample.error is not None else said.finish_reason,
        reasoning=said.reasoning,
        thinking=said.thinking,
        shown=Shown(
            question["shown_letters"],
            question["original_letters"],
            frozenset(question["answer"]),
            question=question.get("question"),
        ),
    )
