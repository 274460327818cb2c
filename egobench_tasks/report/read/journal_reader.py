"""Reading the journal of a run that was killed before lighteval saved anything."""

import re
from collections.abc import Iterable
from functools import partial
from pathlib import Path

from egobench_tasks.benchmarks import EGOGEARS
from egobench_tasks.errors import InputError
from egobench_tasks.report.read.responses import Cost, Response, Run, Settings, TaskRun, run_of
from egobench_tasks.runs.journal import Answer, Journal

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
    note = f"{folder}: read from the journal of an unfinished run; it does not say which prompt, frames and dataset"
    return run_of(folder.name, folder, tasks, [note])


def _responses(folder: Path, answers: Iterable[Answer]) -> Iterable[Response]:
    attempts: dict[str, list[Answer]] = {}
    for answer in answers:
        attempts.setdefault(answer.question_id, []).append(answer)
    for question_id, tries in attempts.items():
        last = max(tries, key=_budget)
        if len(tries) > len({_budget(answer) for answer in tries}) or len({answer.prompt for answer in tries}) > 1:
            raise InputError(
                f"{folder}: the journal answers question {question_id} under several settings and does not say which "
                "is which; let the run finish, then report on its details"
            )
        cost = Cost(last.n_prompt_tokens, last.n_new_tokens, last.latency_s)
        yield Response(question_id, last.text, last.finish_reason, reasoning=last.reasoning, cost=cost)


def _budget(answer: Answer) -> int:
    """Of attempts with growing budgets (PROTOCOL 1.2), the largest one's answer counts."""
    return answer.budget_tokens or 0
