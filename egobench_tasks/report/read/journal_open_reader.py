"""Reading EgoTempo's answers from the journal of a run that was killed before anything was saved."""

import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from egobench_tasks.asking.open_settings import DEFAULT_SETTING
from egobench_tasks.benchmarks import EGOTEMPO
from egobench_tasks.report.read.journal_answers import journal_note, last_attempts
from egobench_tasks.report.read.open_responses import OpenResponse, OpenRun, OpenTask
from egobench_tasks.runs.journal import Answer, Journal

_OPEN_TASK = re.compile(rf"{EGOTEMPO.name}(?:_(?P<setting>(?!choice)[^:]+))?:(?P<category>\w+)(?:\|\d+)?")


def find_open_journal_run(folder: Path) -> OpenRun | None:
    """Return the run journalled in ``folder`` (its ``*.jsonl`` files), or None where there are no open answers.

    A journal holds no verdicts: nobody has judged its answers, unless ``verdicts/`` lies beside them.
    """
    by_task: dict[tuple[str, str], list[Answer]] = {}
    for answer in Journal(folder).answers().values():
        if match := _OPEN_TASK.fullmatch(answer.task):
            by_task.setdefault((match["setting"] or DEFAULT_SETTING, match["category"]), []).append(answer)
    if not by_task:
        return None
    tasks = tuple(
        OpenTask(setting, (category,), folder, partial(_responses, folder, answers))
        for (setting, category), answers in sorted(by_task.items())
    )
    return OpenRun(folder.name, folder.name, folder, tasks, notes=(journal_note(folder),))


def _responses(folder: Path, answers: Sequence[Answer]) -> Iterator[OpenResponse]:
    for question_id, (first, *_) in last_attempts(folder, answers):
        yield OpenResponse(question_id, first.text, first.finish_reason, first.reasoning)
