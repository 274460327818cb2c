"""EgoTempo as a library: open questions, their windows of a video, judged answers."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from egobench_tasks.asking.open import show_open
from egobench_tasks.asking.open_settings import DEFAULT_SETTING, open_settings
from egobench_tasks.asking.prompts import load_open_templates
from egobench_tasks.benchmarks import EGOGEARS, EGOTEMPO
from egobench_tasks.browse.answers import Answers, first_reasoning
from egobench_tasks.browse.catalogue import Entry, Verdict
from egobench_tasks.browse.library import Library, answers_to, make_entry
from egobench_tasks.browse.question import QuestionPage, RunAnswer, ShownClip
from egobench_tasks.data import DatasetLocation, load_rows
from egobench_tasks.errors import InputError
from egobench_tasks.frames.lazy import FrameList
from egobench_tasks.hosts.lighteval.details import read_rows
from egobench_tasks.report.read.open_outcomes import OpenOutcome
from egobench_tasks.report.read.open_reader import OpenRow, OpenRun, load_open_rows, open_outcomes
from egobench_tasks.report.read.runs import find_runs
from egobench_tasks.report.read.states import TITLES
from egobench_tasks.runs.journal import MISSING
from egobench_tasks.scoring.answers import NORMAL_STOP, open_answer

_COLUMNS = ("doc.specific.question_id", "model_response.text")
_OPTIONAL = ("model_response.finish_reason", "model_response.reasonings")


def load_open_library(location: DatasetLocation, run_paths: Sequence[Path]) -> Library:
    """Load EgoTempo and the runs over it; a run's settings (``f16``, ``fps1``) are listed as runs of their own.

    Raises ``InputError`` as `load.load_library`.
    """
    found = find_runs(run_paths)
    if run_paths and not found.open:
        raise InputError(f"the runs given answer {EGOGEARS.title}, and {location} is {EGOTEMPO.title}")
    questions = load_open_rows(location)
    answers: dict[str, Answers] = {}
    for run in found.open:
        answers |= open_answers(run, questions)
    rows = load_rows(location, EGOTEMPO.config)
    entries = [make_entry(row, answers) for row in rows.select_columns(["question_id", "question", "category"])]
    pages = {entry.question_id: _page_maker(rows, index, entry, answers) for index, entry in enumerate(entries)}
    folders = {Path(video["path"]).parent for video in rows["video"] if video is not None}
    return Library(EGOTEMPO.title, tuple(entries), tuple(answers), tuple(sorted(folders)), pages)


def open_answers(run: OpenRun, questions: Mapping[str, OpenRow]) -> dict[str, Answers]:
    """Return ``{run's name and setting: {question id: answer}}``.

    A question that a category of the run's has and the run does not is there without an answer.
    Raises ``InputError`` as `open_reader.open_outcomes`.
    """
    outcomes = open_outcomes(run, questions)  # first: it checks the files that are read here
    said = {
        (_setting(task), row["doc"]["specific"]["question_id"]): row["model_response"]
        for task, path in run.details.items()
        for row in read_rows(path, _COLUMNS, _OPTIONAL)
    }
    judged = {} if run.verdicts is None else _judged(run.verdicts)
    answers: dict[str, dict[str, RunAnswer]] = {}
    for outcome in outcomes:
        name, key = f"{run.name} ({outcome.setting})", (outcome.setting, outcome.question_id)
        answers.setdefault(name, {})[outcome.question_id] = _answer(name, outcome, said.get(key), judged.get(key, {}))
    return dict(answers)


def _setting(task: str) -> str:
    """The setting in a task's name: ``egotempo_f16:counting_actions|0`` → ``f16``."""
    return task.partition(":")[0].removeprefix(EGOTEMPO.name).removeprefix("_") or DEFAULT_SETTING


def _judged(path: Path) -> dict[tuple[str, str], Mapping[str, Any]]:
    """The verdicts of a judge by setting and question id: score and reason."""
    records = json.loads(path.read_text(encoding="utf-8"))["verdicts"]
    return {(_setting(record["task"]), record["question_id"]): record["verdict"] or {} for record in records}


def _answer(
    name: str, outcome: OpenOutcome, response: Mapping[str, Any] | None, judged: Mapping[str, Any]
) -> RunAnswer:
    if response is None:
        return RunAnswer(name, Verdict.NO_ANSWER, failure=TITLES[MISSING], frames=outcome.setting)
    text, finish_reason = "".join(response["text"] or ()), response.get("finish_reason") or NORMAL_STOP
    score = judged.get("score")
    return RunAnswer(
        run=name,
        verdict=_verdict(outcome.correct, answered=open_answer(text, finish_reason) is not None),
        text=text,
        reasoning=first_reasoning(response),
        finish_reason=finish_reason,
        score="" if score is None else f"judged {score:g} of 5",
        reason=judged.get("reason") or "",
        frames=outcome.setting,
    )


def _verdict(correct: bool | None, *, answered: bool) -> Verdict:
    if correct is None:
        return Verdict.NO_VERDICT
    if correct:
        return Verdict.RIGHT
    return Verdict.WRONG if answered else Verdict.NO_ANSWER


def _page_maker(rows: Any, index: int, entry: Entry, answers: Mapping[str, Answers]) -> Callable[[], QuestionPage]:
    return lambda: _open_page(rows[index], entry, answers)


def _open_page(row: Mapping[str, Any], entry: Entry, answers: Mapping[str, Answers]) -> QuestionPage:
    given = answers_to(entry, answers)
    setting = next((answer.frames for answer in given if answer.frames), DEFAULT_SETTING)
    shown = show_open(row, load_open_templates(), open_settings()[setting])
    clip = shown.question.clip
    return QuestionPage(
        entry=entry,
        clips=(
            ShownClip(
                label=None,
                path=None if clip is None else clip.path,
                duration_s=row["duration_s"],
                window_s=shown.question.window_s,
            ),
        ),
        options=(),
        answer=shown.question.answer,
        answers=given,
        frames=FrameList(()) if clip is None else shown.frames,
        frames_rule=f"The setting {setting}" + ("" if any(answer.frames for answer in given) else ", the default"),
    )
