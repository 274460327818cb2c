"""Segments become an OpenAI message: text parts and JPEG data URIs, interleaved as they are shown."""

import base64
from collections.abc import Sequence
from typing import Any

from egobench_tasks.asking.messages import jpeg_parts
from egobench_tasks.asking.prompts import Segment
from egobench_tasks.frames.lazy import FrameList
from egobench_tasks.hosts.endpoint.settings import ImageDetail


def message_content(segments: Sequence[Segment], frames: FrameList, detail: ImageDetail) -> list[dict[str, Any]]:
    """Decode a question's frames and return its message. Raises ``ClipError`` where a clip cannot be read."""
    return content_parts(jpeg_parts(segments, frames), detail)


def content_parts(parts: Sequence[str | bytes], detail: ImageDetail) -> list[dict[str, Any]]:
    """Texts and JPEGs as parts of a message, in their order; the JPEGs' bytes go out as they are."""
    return [
        {"type": "text", "text": part}
        if isinstance(part, str)
        else {"type": "image_url", "image_url": _image(part, detail)}
        for part in parts
    ]


def data_uri(jpeg: bytes) -> str:
    """A JPEG as a ``data:`` URI."""
    return "data:image/jpeg;base64," + base64.b64encode(jpeg).decode("ascii")


def _image(jpeg: bytes, detail: ImageDetail) -> dict[str, str]:
    url = {"url": data_uri(jpeg)}
    return url if detail is ImageDetail.AUTO else {**url, "detail": detail.value}
