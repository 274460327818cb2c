"""Reading Inspect logs (``.eval``) of `egobench_tasks/egogears_single` and `…_multi`."""

import re
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from egobench_tasks.benchmarks import EGOGEARS
from egobench_tasks.errors import InputError
from egobench_tasks.report.read.responses import Response, Run, Settings, Shown, TaskRun, run_of
from egobench_tasks.runs.journal import CLIP_UNREADABLE, REQUEST_FAILED
from egobench_tasks.scoring.answers import LENGTH_STOP

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSample

_CHOICE_TASK = re.compile(rf"(?:\w+/)?{EGOGEARS.name}_(?P<config>\w+)")
_REQUIRED = ("question_id", "shown_letters", "original_letters", "answer")
_TRUNCATED = ("max_tokens", "model_length")


def find_inspect_runs(path: Path) -> list[Run]:
    """Return the runs in an Inspect log or in a folder of them, one a model.

    Of several logs of one task the latest by name counts (Inspect's names begin with the date).
    Raises ``InputError`` for a log that cannot be read.
    """
    logs = sorted(path.glob("*.eval")) if path.is_dir() else [path]
    by_model: dict[str, dict[tuple[str, str], TaskRun]] = {}
    for log in logs:
        header = _read_header(log)
        match = _CHOICE_TASK.fullmatch(header.eval.task)
        if match:
            probe = str((header.eval.metadata or {}).get("probe", ""))
            task = TaskRun(match["config"], log, _settings(header), partial(_responses, log), probe)
            by_model.setdefault(header.eval.model, {})[probe, match["config"]] = task
    return [run_of(model.rsplit("/", 1)[-1], path, tasks.values()) for model, tasks in sorted(by_model.items())]


def _read_header(path: Path) -> "EvalLog":
    try:
        from inspect_ai.log import read_eval_log
    except ImportError as error:
        raise InputError(f"{path}: reading Inspect logs needs inspect-ai: pip install 'egobench[inspect]'") from error
    try:
        return read_eval_log(path, header_only=True)
    except Exception as error:  # zip, JSON and validation errors of a dozen types
        raise InputError(f"{path}: cannot be read as an Inspect log ({type(error).__name__}: {error})") from error


def _settings(header: "EvalLog") -> Settings:
    metadata: Mapping[str, Any] = header.eval.metadata or {}
    return Settings(*(str(metadata[name]) if name in metadata else None for name in ("prompt", "frames", "dataset")))


def _responses(path: Path) -> Iterator[Response]:
    from inspect_ai.log import read_eval_log_samples

    try:
        for sample in read_eval_log_samples(path, all_samples_required=False, exclude_fields={"events", "attachments"}):
            yield _response(path, sample)
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise InputError(f"{path}: cannot read its samples ({type(error).__name__}: {error})") from error


def _response(path: Path, sample: "EvalSample") -> Response:
    missing = [name for name in _REQUIRED if name not in sample.metadata]
    if missing:
        raise InputError(
            f"{path}: sample {sample.id} has no {', '.join(missing)} in its metadata: saved by another version of "
            "egobench or by another task; run it again with this version"
        )
    question = sample.metadata
    return Response(
        question_id=question["question_id"],
        text=sample.output.completion,
        finish_reason=_finish_reason(sample),
        shown=Shown(question["shown_letters"], question["original_letters"], frozenset(question["answer"])),
    )


def _finish_reason(sample: "EvalSample") -> str:
    """Inspect's stop reason in the OpenAI API's words."""
    if sample.error is not None:
        return REQUEST_FAILED
    if not sample.output.choices:  # hosts.inspect.solvers: the clip could not be decoded
        return CLIP_UNREADABLE
    reason = sample.output.stop_reason
    return LENGTH_STOP if reason in _TRUNCATED else str(reason)
