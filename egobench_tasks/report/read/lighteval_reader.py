"""Reading EgoGears' answers from what `lighteval … --output-dir DIR --save-details` wrote: results and details."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from egobench_tasks.benchmarks import EGOGEARS
from egobench_tasks.errors import InputError
from egobench_tasks.hosts.lighteval.details import latest_details, read_rows
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
# The printed name of hosts.lighteval.docs.ChoicePrompt.
_PROMPT_NAME = re.compile(
    r"\w+\((?:probe \w+, )?prompt (?P<prompt>\S+), frames (?P<frames>.+), dataset (?P<dataset>[^,]+)\)"
)

_REQUIRED = (
    *(f"doc.specific.{name}" for name in ("question_id", "shown_letters", "original_letters", "answer")),
    "doc.choices",
    "doc.query",
    "model_response.text",
    *(f"metric.{name}" for name in SCORE_NAMES),
)
_COSTS = ("n_prompt_tokens", "n_new_tokens", "latency_s")
_OPTIONAL = (
    "model_response.finish_reason",
    "model_response.finish_reasons",
    *(f"model_response.{name}" for name in _COSTS),
)


def find_lighteval_runs(folder: Path) -> list[Run]:
    """Return the runs whose details lie under ``folder``, one a model, in the order of their names.

    Of several details of one task the latest counts.
    """
    by_model = latest_details(folder, _CHOICE_TASK)
    short_names = {model: model.rsplit("/", 1)[-1] for model in by_model}
    counts = Counter(short_names.values())
    return [
        _run(folder, model, tasks, model if counts[short_names[model]] > 1 else short_names[model])
        for model, tasks in by_model.items()
    ]


def has_results_only(folder: Path) -> bool:
    """Whether lighteval wrote results under ``folder`` but no details."""
    return any((folder / "results").glob("**/results_*.json")) and not any((folder / "details").glob("**/*.parquet"))


def _run(folder: Path, model: str, tasks: Mapping[str, list[Path]], name: str) -> Run:
    notes = [
        f"{task}: {len(paths)} details files of {model} in {folder}; the latest is read ({paths[-1].name})"
        for task, paths in tasks.items()
        if len(paths) > 1
    ]
    return run_of(name, folder, [_task_run(folder, model, task, paths[-1]) for task, paths in tasks.items()], notes)


def _task_run(folder: Path, model: str, task: str, path: Path) -> TaskRun:
    results = folder / "results" / model / f"results_{path.parent.name}.json"
    match = _CHOICE_TASK.fullmatch(task)
    assert match is not None  # find_lighteval_runs took no other
    return TaskRun(match["config"], path, _settings(results, task), partial(read_details, path), match["probe"] or "")


def _settings(results: Path, task: str) -> Settings:
    """What the task's printed prompt function says; empty where the results file is not there."""
    if not results.is_file():
        return Settings()
    try:
        saved = json.loads(results.read_text(encoding="utf-8"))
        printed = str(saved["config_tasks"][task]["prompt_function"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{results}: cannot be read as lighteval's results of {task} ({type(error).__name__}: {error})"
        ) from error
    match = _PROMPT_NAME.fullmatch(printed)
    return Settings(**match.groupdict()) if match else Settings()


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
        ),
        saved_scores={name: metric[name] for name in SCORE_NAMES if metric[name] is not None},
        repeats=_repeats(response),
        cost=Cost(*(response.get(name) for name in _COSTS)),
    )


def _repeats(response: Mapping[str, Any]) -> tuple[Repeat, ...]:
    """All generations of a question that was asked several times (`generation.Generation.finish_reasons`)."""
    reasons = response.get("finish_reasons") or ()
    if len(reasons) < 2:
        return ()
    return tuple(Repeat(text or "", reason) for text, reason in zip(response["text"], reasons, strict=True))
