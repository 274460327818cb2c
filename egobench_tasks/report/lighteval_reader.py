"""Reading what `lighteval … --output-dir DIR --save-details` wrote: results (JSON) and details (parquet)."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from egobench_tasks.answers import NORMAL_STOP
from egobench_tasks.benchmarks import EGOGEARS
from egobench_tasks.errors import InputError
from egobench_tasks.report.responses import SCORE_NAMES, Response, Run, Settings, Shown, TaskRun

# details_egogears:multi|0_2026-11-30T05-15-00.123456.parquet
_DETAILS_NAME = re.compile(r"details_(?P<task>.+)_(?P<date>[^_]+)\.parquet")
_CHOICE_TASK = re.compile(rf"{EGOGEARS.name}:(?P<config>\w+)\|\d+")
# The printed name of hosts.lighteval_docs.ChoicePrompt.
_PROMPT_NAME = re.compile(r"\w+\(prompt (?P<prompt>\S+), frames (?P<frames>.+), dataset (?P<dataset>[^,]+)\)")

_REQUIRED = (
    *(f"doc.specific.{name}" for name in ("question_id", "shown_letters", "original_letters", "answer")),
    "doc.choices",
    "doc.query",
    "model_response.text",
    *(f"metric.{name}" for name in SCORE_NAMES),
)
_OPTIONAL = ("model_response.finish_reason",)
_BATCH_ROWS = 256


def find_lighteval_runs(folder: Path) -> list[Run]:
    """Return the runs whose details lie under ``folder``, one a model, in the order of their names.

    Of several details of one task the latest counts. Raises ``InputError`` where there are results
    without details: scores alone cannot be broken down or checked.
    """
    by_model: dict[str, dict[str, list[Path]]] = {}
    for path in sorted((folder / "details").glob("**/details_*.parquet")):
        match = _DETAILS_NAME.fullmatch(path.name)
        if match and _CHOICE_TASK.fullmatch(match["task"]):
            model = path.parent.parent.relative_to(folder / "details").as_posix()
            by_model.setdefault(model, {}).setdefault(match["task"], []).append(path)
    if not by_model and any((folder / "results").glob("**/results_*.json")):
        raise InputError(
            f"{folder}: holds results without details of {EGOGEARS.title}; run again with --save-details "
            "(answers come from the journal, nothing is generated twice)"
        )
    short_names = {model: model.rsplit("/", 1)[-1] for model in by_model}
    counts = Counter(short_names.values())
    return [
        _run(folder, model, tasks, model if counts[short_names[model]] > 1 else short_names[model])
        for model, tasks in sorted(by_model.items())
    ]


def _run(folder: Path, model: str, tasks: Mapping[str, list[Path]], name: str) -> Run:
    notes = [
        f"{task}: {len(paths)} details files of {model} in {folder}; the latest is read ({paths[-1].name})"
        for task, paths in tasks.items()
        if len(paths) > 1
    ]
    return Run(
        name=name,
        folder=folder,
        tasks=tuple(_task_run(folder, model, task, paths[-1]) for task, paths in tasks.items()),
        notes=tuple(notes),
    )


def _task_run(folder: Path, model: str, task: str, path: Path) -> TaskRun:
    results = folder / "results" / model / f"results_{path.parent.name}.json"
    match = _CHOICE_TASK.fullmatch(task)
    assert match is not None  # find_lighteval_runs took no other
    return TaskRun(match["config"], path, _settings(results, task), partial(read_details, path))


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
    """Yield a details file's responses, a few hundred rows in memory at a time.

    Raises ``InputError`` for a file that is no parquet, is cut short, holds no rows, or was
    written by a version that saved other columns.
    """
    try:
        with pq.ParquetFile(path) as file:
            optional = _check_columns(path, file.schema_arrow)
            if not file.metadata.num_rows:
                raise InputError(f"{path}: holds no questions; was the run stopped before its first? Run it again")
            for batch in file.iter_batches(_BATCH_ROWS, columns=[*_REQUIRED, *optional]):
                yield from map(_response, batch.to_pylist())
    except (pa.ArrowException, OSError) as error:
        raise InputError(
            f"{path}: cannot be read as parquet ({error}); run again with --save-details: "
            "answers come from the journal, nothing is generated twice"
        ) from error


def _check_columns(path: Path, schema: pa.Schema) -> list[str]:
    """Return the optional columns that are there; a required one that is not is an error."""
    missing = [name for name in _REQUIRED if not _has_column(schema, name)]
    if missing:
        raise InputError(
            f"{path}: has no {', '.join(missing)}: these details were saved by another version of egobench or by "
            "another task; run again with this version (--save-details)"
        )
    return [name for name in _OPTIONAL if _has_column(schema, name)]


def _has_column(schema: pa.Schema, dotted: str) -> bool:
    first, *inner = dotted.split(".")
    if first not in schema.names:
        return False
    kind = schema.field(first).type
    for name in inner:
        if not pa.types.is_struct(kind) or kind.get_field_index(name) < 0:
            return False
        kind = kind.field(name).type
    return True


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
    )
