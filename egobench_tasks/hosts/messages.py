"""A lighteval Doc of ours becomes the interleaved message that a model gets."""

import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from PIL import Image

from egobench_tasks.frames.lazy import FrameList
from egobench_tasks.prompts import ClipFrames, Segment, Text

if TYPE_CHECKING:
    from lighteval.tasks.requests import Doc

MessagePart = str | Image.Image


def is_ours(doc: "Doc") -> bool:
    """Whether a document holds frames of one of our benchmarks."""
    return isinstance(doc.images, FrameList)


def message_parts(doc: "Doc") -> list[MessagePart]:
    """Decode the document's frames and return the message: texts and RGB images in order.

    Raises ``ClipError`` where a clip cannot be read. Nothing decoded stays on the document.
    """
    return [
        part if isinstance(part, str) else Image.open(io.BytesIO(part)).convert("RGB")
        for part in jpeg_parts(from_record(doc.specific["segments"]), doc.images)
    ]


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
