"""Reading the journal of a run that was killed before lighteval saved anything."""

import re
from collections.abc import Iterable
from functools import partial
from pathlib import Path

from egobench_tasks.benchmarks import EGOGEARS
from egobench_tasks.errors import InputError
from egobench_tasks.hosts.journal import Answer, Journal
from egobench_tasks.report.responses import Response, Run, Settings, TaskRun

_CHOICE_TASK = re.compile(rf"{EGOGEARS.name}:(?P<config>\w+)(?:\|\d+)?")


def find_journal_run(folder: Path) -> Run | None:
    """Return the run journalled in ``folder`` (its ``*.jsonl`` files), or None where there are no answers of ours.

    A journal does not say what was shown nor with which settings: the options' order follows from
    the question id, the gold comes from the dataset.
    """
    by_config: dict[str, list[Answer]] = {}
    for answer in Journal(folder).answers().values():
        match = _CHOICE_TASK.fullmatch(answer.task)
        if match:
            by_config.setdefault(match["config"], []).append(answer)
    if not by_config:
        return None
    tasks = tuple(
        TaskRun(config, folder, Settings(), partial(_responses, folder, answers))
        for config, answers in sorted(by_config.items())
    )
    note = f"{folder}: read from the journal of an unfinished run; it does not say which prompt, frames and dataset"
    return Run(name=folder.name, folder=folder, tasks=tasks, notes=(note,))


def _responses(folder: Path, answers: Iterable[Answer]) -> Iterable[Response]:
    first: dict[str, Answer] = {}
    for answer in answers:
        if first.setdefault(answer.question_id, answer) is not answer:
            raise InputError(
                f"{folder}: the journal answers question {answer.question_id} under several settings (prompt, frames "
                "or token limit) and does not say which is which; let the run finish, then report on its details"
            )
        yield Response(answer.question_id, answer.text, answer.finish_reason)
