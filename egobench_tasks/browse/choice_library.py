"""EgoGears as a library: multiple-choice questions over one or more clips."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from egobench_tasks.asking.choice import show_choice
from egobench_tasks.asking.prompts import load_choice_templates
from egobench_tasks.benchmarks import EGOGEARS, EGOTEMPO
from egobench_tasks.browse.answers import Answers, choice_answers
from egobench_tasks.browse.catalogue import FACETS, Entry
from egobench_tasks.browse.library import Library, answers_to, make_entry
from egobench_tasks.browse.question import QuestionPage, ShownClip, shown_options
from egobench_tasks.data import DatasetLocation, load_rows
from egobench_tasks.errors import InputError
from egobench_tasks.report.read.choice_questions import load_split
from egobench_tasks.report.read.runs import find_runs

CHOICE_RULE = (
    f"{EGOGEARS.frames_per_question} frames shared over the clips by duration, "
    f"at least {EGOGEARS.min_frames_per_clip} a clip, {EGOGEARS.max_width_px} px wide at most"
)


def load_choice_library(location: DatasetLocation, configs: Sequence[str], run_paths: Sequence[Path]) -> Library:
    """Load the named configs of EgoGears and the runs over them. Raises ``InputError`` as `load.load_library`."""
    splits = {config: load_split(location, config) for config in configs}
    found = find_runs(run_paths)
    if run_paths and not found.choice:
        raise InputError(f"the runs given answer {EGOTEMPO.title}, and {location} is {EGOGEARS.title}")
    answers = choice_answers(found.choice, splits)
    entries: list[Entry] = []
    pages: dict[str, Callable[[], QuestionPage]] = {}
    for config in configs:
        rows = load_rows(location, config)
        for index, row in enumerate(rows.remove_columns(_not_listed(rows.column_names))):
            entry = make_entry(row | {"config": config}, answers)
            entries.append(entry)
            pages[entry.question_id] = _page_maker(rows, index, entry, answers)
    folders = {
        Path(clip.path).parent for split in splits.values() for q in split.questions.values() for clip in q.clips
    }
    return Library(EGOGEARS.title, tuple(entries), tuple(answers), tuple(sorted(folders)), pages)


def _not_listed(columns: Sequence[str]) -> list[str]:
    return [column for column in columns if column not in {"question_id", "question", *FACETS}]


def _page_maker(rows: Any, index: int, entry: Entry, answers: Mapping[str, Answers]) -> Callable[[], QuestionPage]:
    return lambda: _choice_page(rows[index], entry, answers)


def _choice_page(row: Mapping[str, Any], entry: Entry, answers: Mapping[str, Answers]) -> QuestionPage:
    shown = show_choice(row, load_choice_templates(), EGOGEARS.frames_per_question, EGOGEARS.min_frames_per_clip)
    question = shown.question
    return QuestionPage(
        entry=entry,
        clips=tuple(ShownClip(clip.label, clip.path, clip.duration_s) for clip in question.clips),
        options=shown_options(question.options, question.letters, question.answer, shown.shown_to_original),
        answer="",
        answers=answers_to(entry, answers),
        frames=shown.frames,
        frames_rule=CHOICE_RULE,
    )
