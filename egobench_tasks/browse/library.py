"""A dataset and the runs over it, ready to be listed and opened question by question."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from egobench_tasks.benchmarks import EGOGEARS, EGOTEMPO
from egobench_tasks.browse.answers import Answers, choice_answers
from egobench_tasks.browse.catalogue import FACETS, Entry, Verdict
from egobench_tasks.browse.question import QuestionPage, RunAnswer, ShownClip, shown_options
from egobench_tasks.data import DatasetLocation, load_rows
from egobench_tasks.errors import InputError
from egobench_tasks.hosts.choice import show_choice
from egobench_tasks.prompts import load_choice_templates
from egobench_tasks.report.questions import load_split
from egobench_tasks.report.runs import find_runs

CHOICE_RULE = (
    f"{EGOGEARS.frames_per_question} frames shared over the clips by duration, "
    f"at least {EGOGEARS.min_frames_per_clip} a clip, {EGOGEARS.max_width_px} px wide at most"
)


@dataclass(frozen=True, slots=True)
class Library:
    """``entries``: every question, in the dataset's order. ``runs``: their names. ``video_folders``: the folders
    that hold the dataset's clips and nothing else."""

    title: str
    entries: tuple[Entry, ...]
    runs: tuple[str, ...]
    video_folders: tuple[Path, ...]
    pages: Mapping[str, Callable[[], QuestionPage]]

    def page(self, question_id: str) -> QuestionPage | None:
        """Lay out a question, no frame decoded yet; None where the dataset has no such question."""
        make = self.pages.get(question_id)
        return None if make is None else make()


def load_library(location: DatasetLocation, runs: Sequence[Path]) -> Library:
    """Load a dataset of either benchmark and the runs over it.

    Raises ``InputError`` for a dataset of neither, for what is no run, and for runs over other questions.
    """
    from datasets import get_dataset_config_names

    configs = get_dataset_config_names(location.path, revision=location.revision)
    splits = [config for config in EGOGEARS.rows if config in configs]
    if splits:
        return _egogears(location, splits, runs)
    if "default" in configs:
        from egobench_tasks.browse.open_library import load_open_library

        return load_open_library(location, runs)
    raise InputError(f"{location}: has the configs {configs}, which are neither EgoGears' nor EgoTempo's")


def _egogears(location: DatasetLocation, configs: Sequence[str], run_paths: Sequence[Path]) -> Library:
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


def make_entry(row: Mapping[str, Any], answers: Mapping[str, Answers]) -> Entry:
    """List a row; ``answers`` are the runs', by name and question id."""
    question_id = row["question_id"]
    return Entry(
        question_id=question_id,
        question=row["question"],
        facets={facet: row[facet] for facet in FACETS if row.get(facet) is not None},
        verdicts={
            run: found[question_id].verdict if question_id in found else Verdict.NOT_ASKED
            for run, found in answers.items()
        },
    )


def answers_to(entry: Entry, answers: Mapping[str, Answers]) -> tuple[RunAnswer, ...]:
    """What each run said to a question, in the runs' order."""
    return tuple(found.get(entry.question_id, RunAnswer(run, Verdict.NOT_ASKED)) for run, found in answers.items())


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
