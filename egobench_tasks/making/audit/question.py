"""A question as an audit looks at it: words, gold and footage, of either benchmark."""

import string
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from egobench_tasks.asking.questions import choice_question, open_question
from egobench_tasks.benchmarks import EGOGEARS, Benchmark
from egobench_tasks.data import DatasetLocation, benchmark_of, load_rows


def letter_of(index: int) -> str:
    """Return an option's letter in the dataset."""
    return string.ascii_uppercase[index]


@dataclass(frozen=True, slots=True)
class Footage:
    """What a question is asked of: a clip by content, or a part of a long video in seconds."""

    source: str
    start_s: float = 0.0
    end_s: float = float("inf")

    def overlaps(self, other: "Footage") -> bool:
        """Whether any moment is in both."""
        return self.source == other.source and self.start_s < other.end_s and other.start_s < self.end_s


@dataclass(frozen=True, slots=True)
class AuditedQuestion:
    """``kind`` is the question's type or category. ``options`` is empty for open questions, ``right`` holds the
    right options' indices; ``answer`` is the gold answer's text (right options joined)."""

    question_id: str
    kind: str
    question: str
    options: tuple[str, ...]
    right: frozenset[int]
    answer: str
    labels: tuple[str, ...]
    footage: tuple[Footage, ...]

    @property
    def gold(self) -> str:
        """The gold as a model's answer is read: the right options' letters in the dataset, or the answer's text."""
        return "".join(map(letter_of, sorted(self.right))) if self.options else self.answer

    @property
    def wrong_options(self) -> tuple[str, ...]:
        """The options that are not right."""
        return tuple(text for index, text in enumerate(self.options) if index not in self.right)


def load_audited(location: DatasetLocation) -> tuple[Benchmark, list[Mapping[str, Any]], list[AuditedQuestion]]:
    """Return a dataset's benchmark, its rows, and each as a question. Raises ``InputError`` where it is of neither."""
    benchmark, configs = benchmark_of(location)
    read = audited_choice if benchmark is EGOGEARS else audited_open
    rows = [row for config in configs for row in load_rows(location, config)]
    return benchmark, rows, [read(row) for row in rows]


def audited_choice(row: Mapping[str, Any]) -> AuditedQuestion:
    """Read a row of EgoGears."""
    question = choice_question(row)
    right = frozenset(question.letters.index(letter) for letter in question.answer)
    return AuditedQuestion(
        question.question_id,
        question.question_type,
        question.question,
        question.options,
        right,
        "; ".join(question.options[index] for index in sorted(right)),
        tuple(clip.label for clip in question.clips if clip.label is not None),
        tuple(Footage(clip.sha256) for clip in question.clips),
    )


def audited_open(row: Mapping[str, Any]) -> AuditedQuestion:
    """Read a row of EgoTempo; its footage is its window of the Ego4D video, whether or not the clip is there."""
    question = open_question(row)
    footage = Footage(str(row["video_uid"]), float(row["start_s"]), float(row["end_s"]))
    return AuditedQuestion(
        question.question_id, question.category, question.question, (), frozenset(), question.answer, (), (footage,)
    )


def pairs_on_the_same_footage(questions: Iterable[AuditedQuestion]) -> list[tuple[AuditedQuestion, AuditedQuestion]]:
    """Return every pair of questions that share a clip, or a moment of a video, in the order given."""
    by_source: dict[str, list[tuple[int, AuditedQuestion]]] = {}
    for number, question in enumerate(questions):
        for source in {footage.source for footage in question.footage}:
            by_source.setdefault(source, []).append((number, question))
    pairs = {
        (number, later): (question, other)
        for members in by_source.values()
        for number, question in members
        for later, other in members
        if number < later and any(one.overlaps(two) for one in question.footage for two in other.footage)
    }
    return [pairs[key] for key in sorted(pairs)]
