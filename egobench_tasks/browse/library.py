"""What the browser shows of a dataset and the runs over it, whichever benchmark it is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from egobench_tasks.browse.answers import Answers
from egobench_tasks.browse.catalogue import FACETS, Entry, Verdict
from egobench_tasks.browse.question import QuestionPage, RunAnswer


@dataclass(frozen=True, slots=True)
class Library:
    """``entries``: every question, in the dataset's order. ``runs``: their names. ``video_folders``: the folders
    that hold the dataset's clips and nothing else. ``pages`` make a question's page, ``probed`` the page of the same
    question as a probe shows it, None where the probe does not apply; both by question id. ``folders``: where
    each run lies, by its name."""

    title: str
    entries: tuple[Entry, ...]
    runs: tuple[str, ...]
    video_folders: tuple[Path, ...]
    pages: Mapping[str, Callable[[], QuestionPage]]
    probed: Mapping[str, Callable[[str], QuestionPage | None]] = field(default_factory=dict)
    folders: Mapping[str, str] = field(default_factory=dict)

    def page(self, question_id: str, probe: str = "") -> QuestionPage | None:
        """Lay out a question, no frame decoded yet; None where the dataset has no such question.

        ``probe``: as that probe shows it; None where there is no such probe, or it does not apply.
        """
        if probe:
            show = self.probed.get(question_id)
            return None if show is None else show(probe)
        make = self.pages.get(question_id)
        return None if make is None else make()


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
        options=tuple(row.get("options") or ()),
    )


def short_folder(folder: Path) -> str:
    """The end of a path, which tells a run's folder from others and says nothing of the machine.

    >>> short_folder(Path("/home/me/work/runs/qwen"))
    'runs/qwen'
    """
    return "/".join(folder.parts[-2:]).lstrip("/")


def answers_to(entry: Entry, answers: Mapping[str, Answers]) -> tuple[RunAnswer, ...]:
    """What each run said to a question, in the runs' order."""
    return tuple(found.get(entry.question_id, RunAnswer(run, Verdict.NOT_ASKED)) for run, found in answers.items())
