"""EgoGears' upstream rows as typed, validated records (PROTOCOL 1.1). Nothing further on reads raw rows."""

import re
import string
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from dataset_scripts.repository.jsonl import Row, is_text, read_jsonl
from egobench_tasks.errors import InputError

_SPAN_IN_NAME = re.compile(r".*_(\d+(?:\.\d+)?)_(\d+(?:\.\d+)?)")
_BUNDLE = re.compile(r"[A-Za-z0-9_-]+")
_DECISION = re.compile(r"[A-Z0-9_]+")
_REASON_TAG = re.compile(r"[a-z0-9_]+")
_NAMES_A_PERSON = "trusted_human_clear"
_EVIDENCE_SOURCES = ("human", "gemini_v0")

LetteredTexts = tuple[tuple[str, str], ...]
"""Texts about options: (letter, text) in order of letters."""


@dataclass(frozen=True, slots=True)
class SingleRecord:
    """A question about one clip. ``where`` names its file and line; times are seconds of the recording.

    ``media_file`` is relative to the folder that holds ``videos/``. ``status``: what its review said, if anything.
    """

    where: str
    question_id: str
    question: str
    options: tuple[str, ...]
    answer: tuple[str, ...]
    question_type: str
    category: str | None
    unit: str
    recording: str
    start_s: float
    end_s: float
    media_file: str
    status: str | None


@dataclass(frozen=True, slots=True)
class ClipRecord:
    """A clip of a multi question. Its label is no key: questions repeat labels.

    ``path`` is relative to the unpacked bundle. Start and end are seconds of the recording, from the file name;
    None where the name holds none (clips of anonymous questions are just ``CLIP_C.mp4``).
    """

    label: str
    path: str
    start_s: float | None
    end_s: float | None


@dataclass(frozen=True, slots=True)
class Review:
    """How a question's answer was checked, without anything that names a person."""

    decision: str | None
    reasons: tuple[str, ...]
    repair_rounds: int | None
    blind_guessable: bool | None
    evidence_source: str | None
    evidence: LetteredTexts
    distractor_basis: LetteredTexts


@dataclass(frozen=True, slots=True)
class MultiRecord:
    """A question about several clips. ``n_select`` is upstream's field: the answer's own count decides."""

    where: str
    question_id: str
    question: str
    options: tuple[str, ...]
    answer: tuple[str, ...]
    question_type: str
    unit: str
    bundle: str
    clips: tuple[ClipRecord, ...]
    n_select: int | None
    status: str
    review: Review


def read_single(path: Path) -> tuple[SingleRecord, ...]:
    """Read the single-video questions. Raises ``InputError`` naming file and line, or a duplicate id."""
    return _read(path, single_record)


def read_multi(path: Path) -> tuple[MultiRecord, ...]:
    """Read the multi-video questions. Raises ``InputError`` naming file and line, or a duplicate id."""
    return _read(path, multi_record)


Record = TypeVar("Record", SingleRecord, MultiRecord)


def _read(path: Path, parse: Callable[[Row], Record]) -> tuple[Record, ...]:
    records: dict[str, Record] = {}
    for row in read_jsonl(path):
        record = parse(row)
        first = records.setdefault(record.question_id, record)
        if first is not record:
            raise InputError(
                f"{row.where}: id {record.question_id} is also that of {first.where}; fetch the file again"
            )
    if not records:
        raise InputError(f"{path}: holds no question; fetch it again")
    return tuple(records.values())


def single_record(row: Row) -> SingleRecord:
    """Validate one row of ``single_567_human_eval.jsonl``."""
    options = row.options("options")
    start_s, end_s = row.span_s("span_sec")
    return SingleRecord(
        where=row.where,
        question_id=row.text("id"),
        question=row.text("question"),
        options=options,
        answer=row.letters("answer", options),
        question_type=row.text("question_type"),
        category=row.optional_text("category"),
        unit=row.text("unit"),
        recording=row.text("video"),
        start_s=start_s,
        end_s=end_s,
        media_file=_inner_path(row, "media_file", row.text("media_file")),
        status=row.optional_text("status"),
    )


def multi_record(row: Row) -> MultiRecord:
    """Validate one row of ``runningbench_v2_kept.jsonl``."""
    options = row.options("options")
    bundle = row.text("bundle")
    if not _BUNDLE.fullmatch(bundle):
        raise row.wrong("bundle", f"is {bundle!r}, not the name of a bundle")
    row.get("n_select")
    return MultiRecord(
        where=row.where,
        question_id=row.text("review_id"),
        question=row.text("question"),
        options=options,
        answer=row.letters("answer", options),
        question_type=row.text("question_type"),
        unit=row.text("unit"),
        bundle=bundle,
        clips=_clips(row),
        n_select=row.optional("n_select", int),
        status=row.text("status"),
        review=_review(row, string.ascii_uppercase[: len(options)]),
    )


def _clips(row: Row) -> tuple[ClipRecord, ...]:
    value = row.get("clips")
    if not isinstance(value, list) or not value or not all(isinstance(clip, dict) for clip in value):
        raise row.wrong("clips", "is not a list of clips")
    return tuple(_clip(row, Row(f"{row.where}, clip {number}", clip)) for number, clip in enumerate(value, start=1))


def _clip(row: Row, clip: Row) -> ClipRecord:
    path = _inner_path(clip, "path", clip.text("path"))
    start_s, end_s = span_in_file_name(path)
    return ClipRecord(clip.text("label"), path, start_s, end_s)


def span_in_file_name(path: str) -> tuple[float | None, float | None]:
    """Return start and end in seconds from ``LABEL_<start>_<end>.mp4``, or (None, None) where there are none."""
    match = _SPAN_IN_NAME.fullmatch(PurePosixPath(path).stem)
    if match is None or float(match[1]) >= float(match[2]):
        return None, None
    return float(match[1]), float(match[2])


def _inner_path(row: Row, name: str, path: str) -> str:
    """Refuse a path that leaves its folder."""
    parts = PurePosixPath(path).parts
    if not is_inner_path(path) or not parts:
        raise row.wrong(name, f"is {path!r}, which leaves its folder")
    return PurePosixPath(path).as_posix()


def is_inner_path(path: str) -> bool:
    """Whether a path is relative and climbs nowhere, read as POSIX and as Windows would."""
    return not (path.startswith(("/", "\\")) or ".." in re.split(r"[/\\]", path) or ":" in path or "\0" in path)


def _review(row: Row, letters: str) -> Review:
    decision = row.optional_text("decision")
    source = row.optional_text("evidence_source")
    return Review(
        decision=decision if decision and _DECISION.fullmatch(decision) else None,
        reasons=clean_reasons(row, letters),
        repair_rounds=row.optional("repair_rounds", int),
        blind_guessable=row.optional("blind_guessable", bool),
        evidence_source=source if source in _EVIDENCE_SOURCES else None,
        evidence=lettered_texts(row.fields.get("evidence"), letters),
        distractor_basis=lettered_texts(row.fields.get("distractor_basis"), letters),
    )


def clean_reasons(row: Row, letters: str) -> tuple[str, ...]:
    """Return the reasons as tags, with option letters after the colon and nothing else: a name may stand there."""
    cleaned = []
    for reason in row.optional("reasons", list) or ():
        tag, _, detail = str(reason).partition(":")
        if tag == _NAMES_A_PERSON or not _REASON_TAG.fullmatch(tag):
            continue
        cleaned.append(f"{tag}:{detail}" if _names_options(detail, letters) else tag)
    return tuple(cleaned)


def _names_options(detail: str, letters: str) -> bool:
    return bool(detail) and all(item.strip() in set(letters) for item in detail.split(","))


def lettered_texts(value: Any, letters: str) -> LetteredTexts:
    """Return the texts under option letters. Evidence a person wrote has them under ``per_option``.

    Whatever else stands there is left out: upstream puts the annotator's name and free notes beside the texts.
    """
    if not isinstance(value, Mapping):
        return ()
    texts = {**value, **value["per_option"]} if isinstance(value.get("per_option"), Mapping) else value
    return tuple((letter, texts[letter].strip()) for letter in letters if is_text(texts.get(letter)))
