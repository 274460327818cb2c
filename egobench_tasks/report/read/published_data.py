"""Whether a dataset is the published one: its size, and for EgoTempo, whose annotations are public, its very words."""

import hashlib
import json
from collections.abc import Iterable

from egobench_tasks.benchmarks import EGOGEARS, EGOTEMPO


def choice_difference(config: str, n_questions: int) -> str | None:
    """Return in words how a config of EgoGears differs from the published split; None where it has its size.

    The published release has no dataset of ours to compare the content with.
    """
    published = EGOGEARS.rows[config]
    return None if n_questions == published else f"{n_questions:,} of {published:,} questions"


def open_difference(questions: Iterable[tuple[str, str, str, str]]) -> str | None:
    """Return in words how EgoTempo's questions differ from the published annotations; None where they are those.

    ``questions`` are (question id, question, answer, category).
    """
    rows = list(questions)
    if len(rows) != EGOTEMPO.rows:
        return f"{len(rows):,} of {EGOTEMPO.rows:,} questions"
    if content_digest(rows) != EGOTEMPO.content:
        return f"{len(rows):,} questions, but not all with the published wording, answer and category"
    return None


def content_digest(questions: Iterable[tuple[str, str, str, str]]) -> str:
    """Return 16 hex digits of questions' ids, words, answers and categories, whatever their order."""
    return hashlib.sha256(json.dumps(sorted(questions)).encode()).hexdigest()[:16]
