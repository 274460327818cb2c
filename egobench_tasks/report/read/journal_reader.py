"""Reading the journal of a run that was killed before lighteval saved anything."""

import re
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

from egobench_tasks.benchmarks import EGOGEARS
from egobench_tasks.report.read.journal_answers import journal_note, last_attempts
from egobench_tasks.report.read.responses import Cost, Repeat, Response, Run, Settings, TaskRun, run_of
from egobench_tasks.runs.journal import Answer, Journal
from egobench_tasks.runs.repeats import total

_CHOICE_TASK = re.compile(rf"{EGOGEARS.name}(?:_(?P<probe>\w+))?:(?P<config>\w+)(?:\|\d+)?")


def find_journal_run(folder: Path) -> Run | None:
    """Return the run journalled in ``folder`` (its ``*.jsonl`` files), or None where there are no answers of ours.

    A journal does not say what was shown nor with which settings: the options' order follows from
    the question id, the gold comes from the dataset.
    """
    by_task: dict[tuple[str, str], list[Answer]] = {}
    for answer in Journal(folder).answers().values():
        match = _CHOICE_TASK.fullmatch(answer.task)
        if match:
            by_task.setdefault((match["probe"] or "", match["config"]), []).append(answer)
    if not by_task:
        return None
    tasks = [
        TaskRun(config, folder, Settings(), partial(_responses, folder, answers), probe)
        for (probe, config), answers in sorted(by_task.items())
    ]
    return run_of(folder.name, folder, tasks, [journal_note(folder)])


def _responses(folder: Path, answers: Iterable[Answer]) -> Iterable[Response]:
    for question_id, last in last_attempts(folder, answers):
        repeats = tuple(Repeat(answer.text, answer.finish_reason) for answer in last)
        yield Response(
            question_id,
            last[0].text,
            last[0].finish_reason,
            reasoning=last[0].reasoning,
            repeats=repeats if len(repeats) > 1 else (),
            cost=_cost(last),
        )


def _cost(answers: Sequence[Answer]) -> Cost:
    return Cost(
        total([answer.n_prompt_tokens for answer in answers]),
        total([answer.n_new_tokens for answer in answers]),
        total([answer.latency_s for answer in answers]),
    )
