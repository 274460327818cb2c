"""EgoGears as a library: multiple-choice questions over one or more clips."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from egobench_tasks.asking.choice import ShownQuestion, show_choice
from egobench_tasks.asking.probes import PROBES, Probe
from egobench_tasks.asking.prompts import load_choice_templates
from egobench_tasks.asking.questions import choice_question
from egobench_tasks.benchmarks import EGOGEARS, EGOTEMPO
from egobench_tasks.browse.answers import Answers, choice_answers
from egobench_tasks.browse.catalogue import FACETS, Entry
from egobench_tasks.browse.library import Library, answers_to, make_entry, short_folder
from egobench_tasks.browse.question import QuestionPage, ShownClip, shown_options
from egobench_tasks.data import DatasetLocation, load_rows
from egobench_tasks.errors import InputError
from egobench_tasks.report.read.choice_questions import Split, load_split
from egobench_tasks.report.read.responses import Run
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
    probed: dict[str, Callable[[str], QuestionPage | None]] = {}
    answers_under = cache(partial(_probe_answers, found.choice, splits))
    for config in configs:
        rows = load_rows(location, config)
        for index, row in enumerate(rows.remove_columns(_not_listed(rows.column_names))):
            entry = make_entry(row | {"config": config}, answers)
            entries.append(entry)
            pages[entry.question_id] = _page_maker(rows, index, entry, answers)
            probed[entry.question_id] = _probed_maker(rows, index, entry, answers_under)
    places = {run.name: short_folder(run.folder.resolve()) for run in found.choice}
    folders = {
        Path(clip.path).parent for split in splits.values() for q in split.questions.values() for clip in q.clips
    }
    return Library(EGOGEARS.title, tuple(entries), tuple(answers), tuple(sorted(folders)), pages, probed, places)


def _not_listed(columns: Sequence[str]) -> list[str]:
    return [column for column in columns if column not in {"question_id", "question", "options", *FACETS}]


def _page_maker(rows: Any, index: int, entry: Entry, answers: Mapping[str, Answers]) -> Callable[[], QuestionPage]:
    return lambda: _choice_page(rows[index], entry, answers, None)


def _probed_maker(
    rows: Any, index: int, entry: Entry, answers_under: Callable[[str], Mapping[str, Answers]]
) -> Callable[[str], QuestionPage | None]:
    def make(name: str) -> QuestionPage | None:
        if name not in PROBES or not PROBES[name].applies(choice_question(rows[index])):
            return None
        return _choice_page(rows[index], entry, answers_under(name), PROBES[name])

    return make


def _probe_answers(runs: Sequence[Run], splits: Mapping[str, Split], probe: str) -> Mapping[str, Answers]:
    """What the runs answered under a probe; read when a question is first shown by it."""
    asked = (replace(run, tasks=tuple(task for task in run.probes if task.probe == probe)) for run in runs)
    return choice_answers(list(asked), splits)


def _choice_page(
    row: Mapping[str, Any], entry: Entry, answers: Mapping[str, Answers], probe: Probe | None
) -> QuestionPage:
    n_frames, min_frames = EGOGEARS.frames_per_question, EGOGEARS.min_frames_per_clip
    shown = show_choice(row, load_choice_templates(), n_frames, min_frames, probe)
    question = shown.question
    return QuestionPage(
        entry=replace(entry, question=question.question),
        clips=tuple(ShownClip(clip.label, clip.path, clip.duration_s) for clip in question.clips),
        options=shown_options(question.options, question.letters, question.answer, shown.shown_to_original),
        answer="",
        answers=answers_to(entry, answers),
        frames=shown.frames,
        frames_rule=CHOICE_RULE if probe is None or probe.frames is None else f"frames: {probe.frames}",
        shown=shown.clips,
        message=shown.readable(),
        probe=probe.name if probe else "",
        probe_note=_probe_note(probe, shown) if probe else "",
        probes=tuple(name for name, one in PROBES.items() if one.applies(choice_question(row))),
    )


def _probe_note(probe: Probe, shown: ShownQuestion) -> str:
    facts = shown.facts()
    seed = f", drawn with the seed {facts['probe_seed']!r}" if facts["probe_seed"] else ""
    implied = f" The answer becomes {', '.join(facts['implied_answer'])}." if facts["implied_answer"] else ""
    return f"Shown with {probe.changes}: {facts['probe_did']}{seed}. A sound model {probe.expects}.{implied}"
