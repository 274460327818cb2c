"""EgoTempo as a library: open questions, their windows of a video, judged answers."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from egobench_tasks.asking.open import show_open
from egobench_tasks.asking.open_settings import DEFAULT_SETTING, open_settings
from egobench_tasks.asking.prompts import load_open_templates
from egobench_tasks.benchmarks import EGOGEARS, EGOTEMPO
from egobench_tasks.browse.answers import Answers
from egobench_tasks.browse.catalogue import Entry, Verdict
from egobench_tasks.browse.library import Library, answers_to, make_entry, short_folder
from egobench_tasks.browse.question import QuestionPage, RunAnswer, ShownClip
from egobench_tasks.data import DatasetLocation, load_rows
from egobench_tasks.errors import InputError
from egobench_tasks.frames.lazy import FrameList
from egobench_tasks.report.read.open_outcomes import OpenState
from egobench_tasks.report.read.open_reader import OpenAnswer, OpenRow, load_open_rows, read_open_run
from egobench_tasks.report.read.open_responses import OpenRun
from egobench_tasks.report.read.runs import find_runs
from egobench_tasks.report.read.states import TITLES
from egobench_tasks.runs.journal import MISSING


def load_open_library(location: DatasetLocation, run_paths: Sequence[Path]) -> Library:
    """Load EgoTempo and the runs over it; a run's settings (``f16``, ``fps1``) are listed as runs of their own.

    Raises ``InputError`` as `load.load_library`.
    """
    found = find_runs(run_paths)
    if run_paths and not found.open:
        raise InputError(f"the runs given answer {EGOGEARS.title}, and {location} is {EGOTEMPO.title}")
    questions = load_open_rows(location)
    answers: dict[str, Answers] = {}
    places: dict[str, str] = {}
    for run in found.open:
        given = open_answers(run, questions)
        answers |= given
        places |= dict.fromkeys(given, short_folder(run.folder.resolve()))
    rows = load_rows(location, EGOTEMPO.config)
    entries = [make_entry(row, answers) for row in rows.select_columns(["question_id", "question", "category"])]
    pages = {entry.question_id: _page_maker(rows, index, entry, answers) for index, entry in enumerate(entries)}
    folders = {Path(video["path"]).parent for video in rows["video"] if video is not None}
    return Library(EGOTEMPO.title, tuple(entries), tuple(answers), tuple(sorted(folders)), pages, folders=places)


def open_answers(run: OpenRun, questions: Mapping[str, OpenRow]) -> dict[str, Answers]:
    """Return ``{run's name and setting: {question id: answer}}``.

    A question that a category of the run's has and the run does not is there without an answer.
    Raises ``InputError`` as `open_reader.read_open_run`.
    """
    answers: dict[str, dict[str, RunAnswer]] = {}
    for answer in read_open_run(run, questions).answers:
        name = f"{run.name} ({answer.outcome.setting})"
        answers.setdefault(name, {})[answer.outcome.question_id] = _answer(name, answer)
    return dict(answers)


_VERDICTS = {
    OpenState.CORRECT: Verdict.RIGHT,
    OpenState.INCORRECT: Verdict.WRONG,
    OpenState.UNANSWERED: Verdict.NO_ANSWER,
    OpenState.NO_VERDICT: Verdict.NO_VERDICT,
    OpenState.LOST: Verdict.LOST,
}


def _answer(name: str, answer: OpenAnswer) -> RunAnswer:
    given, reason = answer.verdict, answer.finish_reason
    lost = answer.outcome.state is OpenState.LOST
    return RunAnswer(
        run=name,
        verdict=_VERDICTS[answer.outcome.state],
        text=answer.text,
        reasoning=answer.reasoning,
        finish_reason=reason,
        failure=TITLES.get(reason, TITLES[MISSING]) if lost else "",
        score="" if given is None or given.score is None else f"judged {given.score:g} of 5",
        reason="" if given is None else given.reason or "",
        frames=answer.outcome.setting,
    )


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
