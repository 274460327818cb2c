"""A dataset row becomes one typed, validated value; nothing further on reads raw rows."""

import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from egobench_tasks.errors import InputError


@dataclass(frozen=True, slots=True)
class Clip:
    """One video clip of a question.

    ``path`` is a local path or an fsspec URL (``hf://…``). ``label`` introduces the clip in the
    prompt; it is no key, since questions may repeat one (PROTOCOL 1.1). ``duration_s`` is the
    container's. ``sha256`` is of the file's bytes.
    """

    path: str
    duration_s: float
    sha256: str
    label: str | None = None


@dataclass(frozen=True, slots=True)
class ChoiceQuestion:
    """A multiple-choice question whose answer is a set of letters.

    ``options[0]`` is option A of the dataset (not the order shown to a model). ``answer`` holds
    original letters.
    """

    question_id: str
    question: str
    options: tuple[str, ...]
    answer: frozenset[str]
    clips: tuple[Clip, ...]
    unit: str
    question_type: str

    def __post_init__(self) -> None:
        if not self.clips:
            raise InputError(f"question {self.question_id}: no clip")
        if not 2 <= len(self.options) <= len(string.ascii_uppercase):
            raise InputError(f"question {self.question_id}: {len(self.options)} options, expected 2 to 26")
        if not self.answer or not self.answer <= set(self.letters):
            raise InputError(
                f"question {self.question_id}: answer {sorted(self.answer)} is not among the options {self.letters}"
            )

    @property
    def letters(self) -> str:
        """The original letters, "ABC…", one an option."""
        return string.ascii_uppercase[: len(self.options)]

    @property
    def n_select(self) -> int:
        """How many options are right. The answer's own count: upstream's field may differ from it."""
        return len(self.answer)


def choice_question(row: Mapping[str, Any]) -> ChoiceQuestion:
    """Read a row of EgoGears' ``single`` or ``multi`` config, videos undecoded.

    Raises ``InputError`` naming the question and the column that is missing or wrong.
    """
    question_id = str(row.get("question_id") or "<no question_id>")
    try:
        return ChoiceQuestion(
            question_id=row["question_id"],
            question=row["question"],
            options=tuple(row["options"]),
            answer=frozenset(row["answer"]),
            clips=_clips(row),
            unit=row["unit"],
            question_type=row["question_type"],
        )
    except KeyError as error:
        raise InputError(
            f"question {question_id}: column {error} is missing; build the dataset with `egobench build egogears`"
        ) from error


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A question answered in free text, and its gold answer.

    ``clip`` is None where the dataset was built without it. ``window_s`` is the part of the clip's
    file, (start, end) in seconds, that the question is about; None stands for all of it.
    """

    question_id: str
    question: str
    answer: str
    category: str
    clip: Clip | None
    window_s: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        if not self.question or not self.answer:
            raise InputError(f"question {self.question_id}: the question or the answer is empty")
        if self.window_s is not None and not 0 <= self.window_s[0] < self.window_s[1]:
            raise InputError(f"question {self.question_id}: window {self.window_s} does not end after its start")


def open_question(row: Mapping[str, Any]) -> OpenQuestion:
    """Read a row of EgoTempo, videos undecoded.

    Raises ``InputError`` naming the question and the column that is missing or wrong.
    """
    question_id = str(row.get("question_id") or "<no question_id>")
    try:
        start_s, end_s = row["window_start_s"], row["window_end_s"]
        return OpenQuestion(
            question_id=row["question_id"],
            question=row["question"],
            answer=row["answer"],
            category=row["category"],
            clip=None if row["video"] is None else Clip(_path(row["video"]), row["duration_s"], row["sha256"]),
            window_s=None if start_s is None or end_s is None else (start_s, end_s),
        )
    except KeyError as error:
        raise InputError(
            f"question {question_id}: column {error} is missing; build the dataset with `egobench build egotempo`"
        ) from error


def _clips(row: Mapping[str, Any]) -> tuple[Clip, ...]:
    if "videos" not in row:
        return (Clip(_path(row["video"]), row["duration_s"], row["sha256"]),)
    columns: tuple[Sequence[Any], ...] = (
        row["videos"],
        row["clip_duration_s"],
        row["clip_sha256"],
        row["clip_labels"],
    )
    if len({len(column) for column in columns}) != 1:
        raise InputError(f"question {row['question_id']}: videos and clip_* columns differ in length")
    return tuple(
        Clip(_path(video), duration_s, sha256, label) for video, duration_s, sha256, label in zip(*columns, strict=True)
    )


def _path(video: Mapping[str, Any]) -> str:
    """The path of an undecoded ``datasets.Video`` cell, ``{"bytes": None, "path": …}``."""
    return str(video["path"])
