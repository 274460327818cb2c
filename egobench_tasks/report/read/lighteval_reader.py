"""Reading EgoGears' answers from what `lighteval … --output-dir DIR --save-details` wrote: results and details."""

import re
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from egobench_tasks.benchmarks import EGOGEARS
from egobench_tasks.hosts.lighteval.details import read_rows
from egobench_tasks.hosts.lighteval.saved import saved_runs
from egobench_tasks.hosts.lighteval.saved_task import SavedTask
from egobench_tasks.report.read.responses import (
    SCORE_NAMES,
    Cost,
    Repeat,
    Response,
    Run,
    Settings,
    Shown,
    TaskRun,
    run_of,
)
from egobench_tasks.scoring.answers import NORMAL_STOP

_CHOICE_TASK = re.compile(rf"{EGOGEARS.name}(?:_(?P<probe>\w+))?:(?P<config>\w+)\|\d+")

_REQUIRED = (
    *(f"doc.specific.{name}" for name in ("question_id", "shown_letters", "original_letters", "answer")),
    "doc.choices",
    "doc.query",
    "model_response.text",
    *(f"metric.{name}" for name in SCORE_NAMES),
)
_COSTS = ("n_prompt_tokens", "n_new_tokens", "latency_s")
_RESPONSE = ("finish_reason", "finish_reasons", "reasonings", "thinking", *_COSTS)
_OPTIONAL = (
    *(f"model_response.{name}" for name in _RESPONSE),
    "doc.specific.question",
)


def find_lighteval_runs(folder: Path) -> list[Run]:
    """Return the runs whose details lie under ``folder``, one a model and set of settings.

    Raises ``InputError`` as `saved.saved_runs` does.
    """
    return [
        run_of(
            saved.name,
            folder,
            [_task_run(task) for task in saved.tasks.values()],
            notes=saved.notes,
            mixed=bool(saved.differing),
            records=saved.records,
        )
        for saved in saved_runs(folder, _CHOICE_TASK)
    ]


def has_results_only(folder: Path) -> bool:
    """Whether lighteval wrote results under ``folder`` but no details."""
    return any((folder / "results").glob("**/results_*.json")) and not any((folder / "details").glob("**/*.parquet"))


def _task_run(task: SavedTask) -> TaskRun:
    match = _CHOICE_TASK.fullmatch(task.name)
    assert match is not None  # find_lighteval_runs took no other
    inputs = task.inputs
    settings = Settings(inputs.prompt, inputs.frames, inputs.dataset)
    return TaskRun(match["config"], task.details, settings, partial(read_details, task.details), match["probe"] or "")


def read_details(path: Path) -> Iterator[Response]:
    """Yield a details file's responses. Raises ``InputError`` as `details.read_rows` does."""
    yield from map(_response, read_rows(path, _REQUIRED, _OPTIONAL))


def _response(row: Mapping[str, Any]) -> Response:
    question, response, metric = row["doc"]["specific"], row["model_response"], row["metric"]
    texts = response["text"]
    return Response(
        question_id=question["question_id"],
        text=(texts if isinstance(texts, str) else next(iter(texts or ()), "")) or "",
        finish_reason=response.get("finish_reason") or NORMAL_STOP,
        shown=Shown(
            letters=question["shown_letters"],
            originals=question["original_letters"],
            answer=frozenset(question["answer"]),
            texts=tuple(row["doc"]["choices"]),
            query=row["doc"]["query"],
            question=question.get("question"),
        ),
        saved_scores={name: metric[name] for name in SCORE_NAMES if metric[name] is not None},
        repeats=_repeats(response),
        reasoning=next(iter(response.get("reasonings") or ()), "") or "",
        thinking=bool(response.get("thinking")),
        cost=Cost(*(response.get(name) for name in _COSTS)),
    )


def _repeats(response: Mapping[str, Any]) -> tuple[Repeat, ...]:
    """All generations of a question that was asked several times (`generation.Generation.finish_reasons`)."""
    reasons = response.get("finish_reasons") or ()
    if len(reasons) < 2:
        return ()
    return tuple(Repeat(text or "", reason) for text, reason in zip(response["text"], reasons, strict=True))
