"""Reading EgoTempo's open answers and their verdicts from what `lighteval --save-details` wrote."""

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from egobench_tasks.asking.open_settings import DEFAULT_SETTING
from egobench_tasks.hosts.lighteval.details import OPEN_TASK, read_rows
from egobench_tasks.hosts.lighteval.judge_run import saved_verdict
from egobench_tasks.hosts.lighteval.saved import saved_runs
from egobench_tasks.hosts.lighteval.saved_task import SavedTask
from egobench_tasks.report.read.open_responses import OpenFacts, OpenResponse, OpenRun, OpenTask
from egobench_tasks.scoring.answers import NORMAL_STOP

_FACTS = ("question", "answer", "category")
_COLUMNS = (
    *(f"doc.specific.{name}" for name in ("question_id", *_FACTS)),
    "model_response.text",
    "metric.judged",
    "metric.judge_accuracy",
)
_OPTIONAL = ("model_response.finish_reason", "model_response.reasonings", "metric.judge_score")


def find_lighteval_open_runs(folder: Path) -> list[OpenRun]:
    """Return the runs of EgoTempo whose details lie under ``folder``, one a model and set of settings.

    Raises ``InputError`` as `saved.saved_runs` does.
    """
    return [
        OpenRun(
            name=saved.name,
            model=saved.name,
            folder=folder,
            tasks=tuple(_task(name, task) for name, task in saved.tasks.items()),
            notes=saved.notes,
            mixed=bool(saved.differing),
            records=saved.records,
        )
        for saved in saved_runs(folder, OPEN_TASK)
    ]


def _task(name: str, task: SavedTask) -> OpenTask:
    match = OPEN_TASK.fullmatch(name)
    assert match is not None  # saved_runs took no other
    return OpenTask(
        setting=match["setting"] or DEFAULT_SETTING,
        categories=(match["category"],),
        source=task.details,
        responses=partial(_responses, task),
        inputs=task.inputs,
        judge=task.judge,
    )


def _responses(task: SavedTask) -> Iterator[OpenResponse]:
    for row in read_rows(task.details, _COLUMNS, _OPTIONAL):
        facts, response = row["doc"]["specific"], row["model_response"]
        yield OpenResponse(
            question_id=facts["question_id"],
            text=response["text"][0] if response["text"] else "",
            finish_reason=response.get("finish_reason") or NORMAL_STOP,
            reasoning=_first_reasoning(response),
            facts=OpenFacts(*(facts[name] for name in _FACTS)),
            # Details of before results named a judge: a verdict without a judge is none.
            verdict=None if task.judge is None else saved_verdict(row["metric"]),
        )


def _first_reasoning(response: Mapping[str, object]) -> str:
    """The reasoning that a host kept apart from a saved response's one generation; empty where it has none."""
    kept = response.get("reasonings")
    return str(kept[0] or "") if isinstance(kept, list) and kept else ""
