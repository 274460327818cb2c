"""Segments become a message's parts: texts and JPEGs in order. Hosts put them into their own form."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from egobench_tasks.asking.prompts import ClipFrames, Segment, Text
from egobench_tasks.frames.lazy import FrameList

_T = TypeVar("_T")


def jpeg_parts(segments: Sequence[Segment], frames: FrameList) -> list[str | bytes]:
    """Decode the frames and return the message: texts and JPEGs in order.

    Raises ``ClipError`` where a clip cannot be read.
    """
    clips = frames.clips()
    parts: list[str | bytes] = []
    for segment in segments:
        if isinstance(segment, Text):
            parts.append(segment.text)
        else:
            parts.extend(in_order(clips[segment.clip_index].jpegs, segment.order))
    return parts


def in_order(frames: Sequence[_T], order: Sequence[int] | None) -> list[_T]:
    """Return a clip's frames in the order in which a segment shows them (`ClipFrames.order`)."""
    return list(frames) if order is None else [frames[place] for place in order if place < len(frames)]


def to_record(segments: Sequence[Segment]) -> list[dict[str, Any]]:
    """Segments as plain rows, since details are saved as a table; ``order`` stands only where there is one.

    Journal keys are made of these rows: another form would ask every question anew.
    """
    return [_row(segment) for segment in segments]


def _row(segment: Segment) -> dict[str, Any]:
    if isinstance(segment, Text):
        return {"text": segment.text, "clip_index": None}
    row: dict[str, Any] = {"text": None, "clip_index": segment.clip_index}
    return row if segment.order is None else {**row, "order": list(segment.order)}


def from_record(records: Sequence[Mapping[str, Any]]) -> list[Segment]:
    """The inverse of `to_record`."""
    return [Text(row["text"]) if row["clip_index"] is None else _clip_frames(row) for row in records]


def _clip_frames(row: Mapping[str, Any]) -> ClipFrames:
    order = row.get("order")
    return ClipFrames(row["clip_index"], None if order is None else tuple(order))
