"""What every run answered to every question of EgoGears, read and scored as for a report."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from egobench_tasks.browse.catalogue import Verdict
from egobench_tasks.browse.question import RunAnswer
from egobench_tasks.errors import InputError
from egobench_tasks.report.read.choice_outcomes import Outcome, score_task
from egobench_tasks.report.read.choice_questions import Split
from egobench_tasks.report.read.responses import Response, Run, TaskRun
from egobench_tasks.report.read.states import ANSWERED, TITLES, UNFINISHED

Answers = Mapping[str, RunAnswer]
"""A run's answers by question id."""


def choice_answers(runs: Sequence[Run], splits: Mapping[str, Split]) -> dict[str, Answers]:
    """Return ``{run: {question id: answer}}``; the texts of all runs stay in memory, to open a question at once.

    A question that a run's config has and the run does not is there without an answer. Raises
    ``InputError`` where a run answers a config or questions that this dataset does not have.
    """
    return {run.name: _answers_of(run, splits) for run in runs}


def _answers_of(run: Run, splits: Mapping[str, Split]) -> dict[str, RunAnswer]:
    found: dict[str, RunAnswer] = {}
    for task in run.tasks:
        if task.config not in splits:
            raise InputError(
                f"{task.source}: answers the config {task.config!r}; this dataset has {', '.join(splits)}: "
                "browse the dataset that was run"
            )
        found |= _task_answers(run.name, task, splits[task.config])
    return found


def _task_answers(name: str, task: TaskRun, split: Split) -> dict[str, RunAnswer]:
    responses = list(task.responses())
    outcomes = score_task(replace(task, responses=lambda: responses), split)  # the report's own path
    by_id = {response.question_id: response for response in responses}
    return {outcome.question_id: _answer(name, task, outcome, by_id.get(outcome.question_id)) for outcome in outcomes}


def _answer(name: str, task: TaskRun, outcome: Outcome, response: Response | None) -> RunAnswer:
    answered = outcome.state == ANSWERED
    return RunAnswer(
        run=name,
        verdict=_verdict(outcome),
        text="" if response is None else response.text,
        reasoning="" if response is None else response.reasoning,
        finish_reason="" if response is None else response.finish_reason,
        parsed=f"{_listed(outcome.shown_predicted)} as shown, {_listed(outcome.predicted)} in the dataset"
        if answered
        else "",
        chosen=frozenset(outcome.shown_predicted),
        failure="" if answered else TITLES[outcome.state],
        score=f"Jaccard {outcome.score.jaccard:.2f}, overlap {outcome.score.overlap:.2f}" if answered else "",
        frames=task.settings.frames or "",
    )


def _verdict(outcome: Outcome) -> Verdict:
    if outcome.state in UNFINISHED:
        return Verdict.LOST
    if outcome.state != ANSWERED:
        return Verdict.NO_ANSWER
    return Verdict.RIGHT if outcome.score.exact_set else Verdict.WRONG


def _listed(letters: str) -> str:
    return ", ".join(letters)
