"""Segments become an OpenAI message: text parts and JPEG data URIs, interleaved as they are shown."""

import base64
import io
from collections.abc import Sequence
from typing import Any

from PIL import Image

from egobench_tasks.asking.messages import jpeg_parts
from egobench_tasks.asking.prompts import Segment
from egobench_tasks.frames.lazy import FrameList
from egobench_tasks.hosts.endpoint.settings import EndpointSettings, ImageDetail
from egobench_tasks.servers.body import DataUri
from egobench_tasks.servers.dialect import Message

_QUALITY_OF_SCALED = 90
"""Of frames that are scaled and given no quality of their own: hardly worse than what they are made of."""


def question_message(segments: Sequence[Segment], frames: FrameList, settings: EndpointSettings) -> Message:
    """Decode a question's frames and return its message. Raises ``ClipError`` where a clip cannot be read."""
    return user_message(jpeg_parts(segments, frames), settings)


def user_message(parts: Sequence[str | bytes], settings: EndpointSettings) -> Message:
    """Texts and JPEGs as a user's turn, in their order; the JPEGs' bytes go out as they are unless settings say so."""
    content = [
        {"type": "text", "text": part}
        if isinstance(part, str)
        else {"type": "image_url", "image_url": _image(part, settings)}
        for part in parts
    ]
    return {"role": "user", "content": content}


def data_uri(jpeg: bytes) -> DataUri:
    """A JPEG as a ``data:`` URI."""
    return DataUri(b"data:image/jpeg;base64," + base64.b64encode(jpeg), "ascii")


def encoded_anew(jpeg: bytes, quality: int | None, width_px: int | None) -> bytes:
    """Return a JPEG in another quality, or scaled to another width with its height following."""
    with Image.open(io.BytesIO(jpeg)) as image:
        picture = image.convert("RGB")
    if width_px is not None and width_px != picture.width:
        height_px = max(2, round(picture.height * width_px / picture.width / 2) * 2)
        picture = picture.resize((width_px, height_px), Image.Resampling.LANCZOS)
    file = io.BytesIO()
    picture.save(file, format="JPEG", quality=_QUALITY_OF_SCALED if quality is None else quality)
    return file.getvalue()


def _image(jpeg: bytes, settings: EndpointSettings) -> dict[str, str]:
    if settings.jpeg_quality is not None or settings.jpeg_width_px is not None:
        jpeg = encoded_anew(jpeg, settings.jpeg_quality, settings.jpeg_width_px)
    url: dict[str, Any] = {"url": data_uri(jpeg)}
    return url if settings.image_detail is ImageDetail.AUTO else {**url, "detail": settings.image_detail.value}
