"""EgoGears' published tables: their columns, and how a record becomes a row (DESIGN.md, "Datasets on disk")."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import pyarrow as pa

from dataset_scripts.egogears.recordings import read_recording_name
from dataset_scripts.egogears.rows import LetteredTexts, MultiRecord, SingleRecord
from dataset_scripts.repository.clips import ClipFacts
from dataset_scripts.repository.videofolder import clip_file_name

_TEXTS = pa.list_(pa.string())
_SECONDS = pa.list_(pa.float64())
_LETTERED = pa.list_(pa.struct([("letter", pa.string()), ("text", pa.string())]))

SINGLE_SCHEMA = pa.schema(
    [
        ("file_name", pa.string()),
        ("question_id", pa.string()),
        ("question", pa.string()),
        ("options", _TEXTS),
        ("answer", _TEXTS),
        ("n_select", pa.int32()),
        ("question_type", pa.string()),
        ("category", pa.string()),
        ("unit", pa.string()),
        ("recording", pa.string()),
        ("start_s", pa.float64()),
        ("end_s", pa.float64()),
        ("participant", pa.string()),
        ("speed", pa.string()),
        ("lighting", pa.string()),
        ("route", pa.string()),
        ("duration_s", pa.float64()),
        ("sha256", pa.string()),
    ]
)

MULTI_SCHEMA = pa.schema(
    [
        ("file_name", pa.string()),
        ("file_names", _TEXTS),
        ("clip_labels", _TEXTS),
        ("clip_start_s", _SECONDS),
        ("clip_end_s", _SECONDS),
        ("clip_duration_s", _SECONDS),
        ("clip_sha256", _TEXTS),
        ("question_id", pa.string()),
        ("question", pa.string()),
        ("options", _TEXTS),
        ("answer", _TEXTS),
        ("n_select", pa.int32()),
        ("question_type", pa.string()),
        ("capability", pa.string()),
        ("unit", pa.string()),
        ("bundle", pa.string()),
        ("status", pa.string()),
    ]
)

EVIDENCE_SCHEMA = pa.schema(
    [
        ("file_name", pa.string()),
        ("question_id", pa.string()),
        ("status", pa.string()),
        ("decision", pa.string()),
        ("reasons", _TEXTS),
        ("repair_rounds", pa.int32()),
        ("blind_guessable", pa.bool_()),
        ("evidence_source", pa.string()),
        ("evidence", _LETTERED),
        ("distractor_basis", _LETTERED),
    ]
)
"""How the multi answers were checked. Its ``file_name`` is always null: ``datasets`` reads all configs of a repository
with one builder, VideoFolder, and that one asks for the column."""

SCHEMAS: Mapping[str, pa.Schema] = MappingProxyType(
    {"single": SINGLE_SCHEMA, "multi": MULTI_SCHEMA, "evidence": EVIDENCE_SCHEMA}
)


def single_row(record: SingleRecord, clip: ClipFacts) -> dict[str, Any]:
    """Return a row of ``single``; what the recording's name does not say is null."""
    recording = read_recording_name(record.recording)
    return {
        "file_name": clip_file_name(clip.sha256),
        **_question(record),
        "category": record.category,
        "recording": record.recording,
        "start_s": record.start_s,
        "end_s": record.end_s,
        "participant": recording.participant,
        "speed": recording.speed,
        "lighting": recording.lighting,
        "route": recording.route,
        "duration_s": clip.duration_s,
        "sha256": clip.sha256,
    }


def multi_row(record: MultiRecord, clips: Sequence[ClipFacts]) -> dict[str, Any]:
    """Return a row of ``multi``: ``clip_*`` columns and ``file_names`` go by the clip's index, not its label."""
    names = [clip_file_name(clip.sha256) for clip in clips]
    return {
        "file_name": names[0],
        "file_names": names,
        "clip_labels": [clip.label for clip in record.clips],
        "clip_start_s": [clip.start_s for clip in record.clips],
        "clip_end_s": [clip.end_s for clip in record.clips],
        "clip_duration_s": [clip.duration_s for clip in clips],
        "clip_sha256": [clip.sha256 for clip in clips],
        **_question(record),
        "capability": None,
        "bundle": record.bundle,
        "status": record.status,
    }


def evidence_row(record: MultiRecord) -> dict[str, Any]:
    """Return a row of ``evidence``; nothing in it names a person (`rows.Review`)."""
    review = record.review
    return {
        "file_name": None,
        "question_id": record.question_id,
        "status": record.status,
        "decision": review.decision,
        "reasons": list(review.reasons),
        "repair_rounds": review.repair_rounds,
        "blind_guessable": review.blind_guessable,
        "evidence_source": review.evidence_source,
        "evidence": _lettered(review.evidence),
        "distractor_basis": _lettered(review.distractor_basis),
    }


def _question(record: SingleRecord | MultiRecord) -> dict[str, Any]:
    return {
        "question_id": record.question_id,
        "question": record.question,
        "options": list(record.options),
        "answer": list(record.answer),
        "n_select": len(record.answer),  # not upstream's field, which may differ (PROTOCOL 1.3)
        "question_type": record.question_type,
        "unit": record.unit,
    }


def _lettered(texts: LetteredTexts) -> list[dict[str, str]]:
    return [{"letter": letter, "text": text} for letter, text in texts]
