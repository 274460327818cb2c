"""Reading EgoTempo's open answers and their verdicts from what `lighteval --save-details` wrote."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from egobench_tasks.asking.open_settings import DEFAULT_SETTING
from egobench_tasks.benchmarks import EGOTEMPO
from egobench_tasks.data import DatasetLocation, load_rows
from egobench_tasks.errors import InputError
from egobench_tasks.hosts.lighteval.details import OPEN_TASK, latest_details, read_rows
from egobench_tasks.report.read.choice_results import PARTIAL
from egobench_tasks.report.read.open_outcomes import OpenOutcome

_COLUMNS = (
    *(f"doc.specific.{name}" for name in ("question_id", "question", "answer", "category")),
    "metric.judged",
    "metric.judge_accuracy",
)

Key = tuple[str, str]
"""A task's name without its few-shot count, and a question's id."""


@dataclass(frozen=True, slots=True)
class OpenRun:
    """One model's details by task (``egotempo_f16:counting_actions|0``), and one judge's verdicts.

    ``verdicts`` is None where those saved with the answers count; else `egobench judge` wrote the file.
    """

    name: str
    folder: Path
    details: Mapping[str, Path]
    verdicts: Path | None


@dataclass(frozen=True, slots=True)
class OpenRow:
    """A question of the dataset."""

    question_id: str
    question: str
    answer: str
    category: str
    duration_s: float | None


def find_open_runs(folder: Path) -> list[OpenRun]:
    """Return the runs of EgoTempo whose details lie under ``folder``: one a model and judge.

    Where `egobench judge` has judged the folder, its verdicts count, all of one judge; with several
    judges a run appears once for each, named after it.
    """
    judges: list[Path | None] = [*sorted((folder / "verdicts").glob("*.json"))]
    runs = []
    for model, tasks in latest_details(folder, OPEN_TASK).items():
        details = {task: paths[-1] for task, paths in tasks.items()}
        name = model.rsplit("/", 1)[-1]
        for judge in judges or [None]:
            label = f"{name}, judged by {judge.stem}" if judge and len(judges) > 1 else name
            runs.append(OpenRun(label, folder, details, judge))
    return runs


def load_open_rows(location: DatasetLocation) -> dict[str, OpenRow]:
    """Load EgoTempo's questions by id; clips are not opened."""
    return {
        row["question_id"]: OpenRow(
            row["question_id"], row["question"], row["answer"], row["category"], row["duration_s"]
        )
        for row in load_rows(location, EGOTEMPO.config)
    }


def open_outcomes(run: OpenRun, rows: Mapping[str, OpenRow]) -> list[OpenOutcome]:
    """Return an outcome for every question of the categories that the run was asked; missing ones are wrong.

    The run's label is marked where questions are missing. Raises ``InputError`` for details of
    another dataset, of another version, or with a question twice.
    """
    judged = None if run.verdicts is None else _read_verdicts(run.verdicts)
    outcomes: list[OpenOutcome] = []
    n_missing = 0
    for task, path in run.details.items():
        found = dict(_verdicts(path, task, rows, judged))
        match = OPEN_TASK.fullmatch(task)
        assert match is not None  # find_open_runs took no other
        setting = match["setting"] or DEFAULT_SETTING
        asked = [row for row in rows.values() if _slug(row.category) == match["category"]]
        n_missing += len(asked) - len(found)
        outcomes += [
            OpenOutcome(
                run=run.name,
                setting=setting,
                question_id=row.question_id,
                category_code=EGOTEMPO.category_codes[row.category],
                duration_s=row.duration_s,
                correct=found.get(row.question_id, False),
            )
            for row in asked
        ]
    return [_marked(outcome) for outcome in outcomes] if n_missing else outcomes


def _verdicts(
    path: Path, task: str, rows: Mapping[str, OpenRow], judged: Mapping[Key, bool | None] | None
) -> Iterator[tuple[str, bool | None]]:
    """Yield question ids and verdicts of one details file, checked against the dataset."""
    seen: set[str] = set()
    for row in read_rows(path, _COLUMNS):
        facts, metric = row["doc"]["specific"], row["metric"]
        question_id = facts["question_id"]
        known = rows.get(question_id)
        if known is None or any(getattr(known, name) != facts[name] for name in ("question", "answer", "category")):
            raise InputError(
                f"{path}: question {question_id} is not, or not with the same wording and answer, in the dataset here; "
                f"point {EGOTEMPO.data_variable} at the revision that was run"
            )
        if question_id in seen:
            raise InputError(f"{path}: answers question {question_id} more than once; remove the file and run again")
        seen.add(question_id)
        if judged is None:
            yield question_id, bool(metric["judge_accuracy"]) if metric["judged"] else None
        else:
            yield question_id, judged.get((task.rsplit("|", 1)[0], question_id))


def _read_verdicts(path: Path) -> dict[Key, bool | None]:
    """Read what `egobench judge` wrote: True, False, or None for no verdict."""
    try:
        records: Sequence[Mapping[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["verdicts"]
        return {
            (record["task"], record["question_id"]): record["verdict"] and record["verdict"]["correct"]
            for record in records
        }
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: cannot be read as verdicts ({error}); run `egobench judge` again") from error


def _marked(outcome: OpenOutcome) -> OpenOutcome:
    return replace(outcome, run=f"{outcome.run} {PARTIAL}")


def _slug(category: str) -> str:
    """A category as task names have it."""
    return category.replace(" ", "_").replace("-", "_")
