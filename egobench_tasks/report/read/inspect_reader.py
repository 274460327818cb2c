"""Reading Inspect logs (``.eval``) of `egobench_tasks/egogears_single` and `…_multi`."""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from egobench_tasks.benchmarks import EGOGEARS
from egobench_tasks.report.read.inspect_logs import name_of, read_headers, read_samples, settings_of, shaping
from egobench_tasks.report.read.responses import Repeat, Response, Run, Shown, TaskRun, run_of
from egobench_tasks.runs.journal import REQUEST_FAILED

if TYPE_CHECKING:
    from inspect_ai.log import EvalSample

_CHOICE_TASK = re.compile(rf"(?:\w+/)?{EGOGEARS.name}_(?P<config>\w+)")
_REQUIRED = ("question_id", "shown_letters", "original_letters", "answer")


def find_inspect_runs(path: Path) -> list[Run]:
    """Return the runs in an Inspect log or in a folder of them, one a model and set of settings.

    Of several logs of one task the newest counts, by the time with its zone that Inspect saved.
    Raises ``InputError`` for a log that cannot be read.
    """
    by_model: dict[str, dict[str, dict[tuple[str, str], TaskRun]]] = {}
    for log, header in read_headers(path):
        match = _CHOICE_TASK.fullmatch(header.eval.task)
        if match:
            probe = str((header.eval.metadata or {}).get("probe", ""))
            task = TaskRun(match["config"], log, settings_of(header), partial(_first_answers, log), probe)
            # A probe's frames are its own: they make no other run of it.
            shaped = shaping(header, with_frames=not probe)
            by_model.setdefault(header.eval.model, {}).setdefault(shaped, {})[probe, match["config"]] = task
    return [
        run_of(name_of(model, settings, len(runs)), path, tasks.values(), mixed=len(runs) > 1)
        for model, runs in sorted(by_model.items())
        for settings, tasks in runs.items()
    ]


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
    for sample in read_samples(path, _REQUIRED):
        yield sample.epoch, _response(sample)


def _response(sample: "EvalSample") -> Response:
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
