"""A lighteval Doc of ours becomes the interleaved message that a model gets."""

import io
from typing import TYPE_CHECKING

from PIL import Image

from egobench_tasks.asking.messages import from_record, jpeg_parts
from egobench_tasks.frames.lazy import FrameList

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
