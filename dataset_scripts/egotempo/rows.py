"""Reading EgoTempo's annotation file strictly (PROTOCOL 2): every complaint names the file and the row."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from egobench_tasks.benchmarks import EGOTEMPO
from egobench_tasks.documents import parse_json
from egobench_tasks.errors import InputError

_FIELDS = ("question_id", "clip_id", "question_type", "question", "answer")
_SECONDS = r"-?\d+(?:\.\d+)?(?:e-?\d+)?"
# Ids hold dots, which a path library takes for an ending: the ".mp4" that may follow is matched here.
_CLIP_ID = re.compile(rf"(?P<uid>[\w-]+)_(?P<start>{_SECONDS})_(?P<end>{_SECONDS})(?:\.mp4)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Window:
    """A clip: a stretch of an Ego4D video, in seconds from the video's start.

    ``clip_id`` is as upstream writes it, without ``.mp4``. ``start_s`` is never below zero; ``clamped`` says that
    upstream's was.
    """

    clip_id: str
    video_uid: str
    start_s: float
    end_s: float
    clamped: bool = False


@dataclass(frozen=True, slots=True)
class OpenRecord:
    """One question of the file; ``where`` names file and row. Texts are as they are, but for whitespace at the ends.

    ``status``: what its review said, if anything.
    """

    where: str
    question_id: str
    window: Window
    category: str
    question: str
    answer: str
    status: str | None = None


def read_annotations(path: Path) -> list[OpenRecord]:
    """Read the annotation file, in its order.

    Raises ``InputError`` for a file or a row of another form, an unknown category, or a question id given twice.
    """
    records = [_record(row, f"{path}: annotation {index}") for index, row in enumerate(_rows(path))]
    first_with: dict[str, str] = {}
    for record in records:
        if twin := first_with.get(record.question_id):
            raise InputError(f"{record.where}: question_id {record.question_id!r} is also that of {twin}")
        first_with[record.question_id] = record.where
    return records


def read_window(clip_id: str, where: str) -> Window:
    """Split ``{video_uid}_{start}_{end}``; a start below zero becomes zero (PROTOCOL 2).

    Raises ``InputError`` for another form, or an end that is not after the start.
    """
    match = _CLIP_ID.fullmatch(clip_id)
    if match is None:
        raise InputError(f"{where}: clip_id {clip_id!r} is not of the form VIDEO-UID_START_END in seconds")
    start_s, end_s = float(match["start"]), float(match["end"])
    if not max(start_s, 0.0) < end_s < float("inf"):
        raise InputError(f"{where}: clip_id {clip_id!r} does not end after its start")
    return Window(clip_id.removesuffix(".mp4"), match["uid"], max(start_s, 0.0), end_s, clamped=start_s < 0)


def distinct_windows(records: Sequence[OpenRecord]) -> list[Window]:
    """Return every clip once, in the order of first use."""
    return list({record.window.clip_id: record.window for record in records}.values())


def _rows(path: Path) -> Sequence[object]:
    try:
        content = parse_json(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot read the annotations: {error}") from error
    rows = content.get("annotations") if isinstance(content, dict) else None
    if not isinstance(rows, list) or not rows:
        raise InputError(f"{path}: holds no list `annotations`; give EgoTempo's egotempo_openQA.json")
    return rows


def _record(row: object, where: str) -> OpenRecord:
    if not isinstance(row, dict):
        raise InputError(f"{where}: is not an object")
    texts = {name: _text(row, name, where) for name in _FIELDS}
    if texts["question_type"] not in EGOTEMPO.category_codes:
        known = ", ".join(EGOTEMPO.category_codes)
        raise InputError(f"{where}: question_type {texts['question_type']!r} is none of: {known}")
    return OpenRecord(
        where=where,
        question_id=texts["question_id"],
        window=read_window(texts["clip_id"], where),
        category=texts["question_type"],
        question=texts["question"],
        answer=texts["answer"],
        status=_text(row, "status", where) if row.get("status") is not None else None,
    )


def _text(row: Mapping[str, object], name: str, where: str) -> str:
    value = row.get(name)
    if not isinstance(value, str) or not value.strip() or any("\ud800" <= char <= "\udfff" for char in value):
        raise InputError(f"{where}: field {name!r} is {value!r}, not a text; fetch the file again or mend the row")
    return value.strip()
