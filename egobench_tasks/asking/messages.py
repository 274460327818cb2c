"""Segments become a message's parts: texts and JPEGs in order. Hosts put them into their own form."""

from collections.abc import Mapping, Sequence
from typing import Any

from egobench_tasks.asking.prompts import ClipFrames, Segment, Text
from egobench_tasks.frames.lazy import FrameList


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
            parts.extend(clips[segment.clip_index].jpegs)
    return parts


def to_record(segments: Sequence[Segment]) -> list[dict[str, Any]]:
    """Segments as plain rows of one schema, since details are saved as a table."""
    return [
        {"text": segment.text, "clip_index": None}
        if isinstance(segment, Text)
        else {"text": None, "clip_index": segment.clip_index}
        for segment in segments
    ]


def from_record(records: Sequence[Mapping[str, Any]]) -> list[Segment]:
    """The inverse of `to_record`."""
    return [
        Text(record["text"]) if record["clip_index"] is None else ClipFrames(record["clip_index"]) for record in records
    ]
