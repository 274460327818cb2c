"""Does the server see the whole prompt? Some cut what does not fit their context, without a word, frames first.

What a question's images must take at least is measured at the server; a reply whose prompt counts fewer tokens is to
another question than was asked (ollama/ollama#17889).
"""

import asyncio
import base64
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from PIL import Image

from egobench_tasks.hosts.endpoint.message import user_message
from egobench_tasks.hosts.endpoint.settings import EndpointSettings
from egobench_tasks.hosts.endpoint.sight import QUESTION, SIZE_PX, ask_probe
from egobench_tasks.servers.client import ServerClient
from egobench_tasks.servers.dialect import Message
from egobench_tasks.servers.reply import Reply

Size = tuple[int, int]
"""Width and height in pixels."""

# Some models give a picture alone more tokens than one of many (LLaVA-OneVision tiles it).
_HEAD_CHARACTERS = 4096
_N_PICTURES = 2
_MARKS_OF_SIZE = frozenset({0xC0, 0xC1, 0xC2})  # SOF0 to SOF2: baseline, extended and progressive JPEG
# Patches and tiles are cut from sizes rounded up.
_AMPLE = 1.25


class PromptMeter:
    """Compares prompts' token counts with what their images take.

    ``tokens_per_image``: what the sight check measured for its picture; None where the server counts none, and nothing
    can be said. Pictures of other sizes are measured where a count is suspiciously low, each size once.
    """

    def __init__(self, client: ServerClient, settings: EndpointSettings, tokens_per_image: int | None) -> None:
        self._client = client
        self._settings = settings
        self._tokens_per_image = tokens_per_image
        self._measured: dict[Size, float] = {}
        self._one_at_a_time = asyncio.Lock()
        self._asked_blind = False
        self._blind_tokens: int | None = None

    async def complaint(self, message: Message, reply: Reply) -> str | None:
        """Return why a reply's prompt cannot have held all images of the message; None where it can."""
        n_tokens = reply.n_prompt_tokens
        if self._tokens_per_image is None or n_tokens is None:
            return None
        sizes = _image_sizes(message["content"])
        if n_tokens >= sum(count * self._ample_tokens(size) for size, count in sizes.items()):
            return None
        needed = sum([count * await self._tokens(size) for size, count in sizes.items()])
        if n_tokens >= needed:
            return None
        return (
            f"the server cuts prompts: it counted {n_tokens:,} prompt tokens, and the {sizes.total()} images sent to "
            f"it take {needed:,.0f}; serve the model with a longer context (and no limit of its own on images)"
        )

    def _ample_tokens(self, size: Size) -> float:
        """More than an image of a size takes, be it by its area or the same for all."""
        if size in self._measured:
            return self._measured[size]
        assert self._tokens_per_image is not None
        if size == SIZE_PX:
            return self._tokens_per_image
        area, known_area = size[0] * size[1], SIZE_PX[0] * SIZE_PX[1]
        return self._tokens_per_image * _AMPLE * max(1.0, area / known_area)

    async def _tokens(self, size: Size) -> float:
        """Prompt tokens of an image of a size among several; 0 where the server does not count them."""
        async with self._one_at_a_time:  # questions under way at once have frames of one size
            if size not in self._measured:
                if not self._asked_blind:
                    self._blind_tokens, self._asked_blind = await self._count([QUESTION]), True
                n_tokens = await self._count([QUESTION, *[_picture(size)] * _N_PICTURES])
                if n_tokens is None or self._blind_tokens is None:
                    self._measured[size] = 0.0
                else:
                    self._measured[size] = max(0, n_tokens - self._blind_tokens) / _N_PICTURES
        return self._measured[size]

    async def _count(self, parts: Sequence[str | bytes]) -> int | None:
        """Prompt tokens of a message; None where the server counts none, or refuses it: then nothing can be said."""
        reply = await ask_probe(self._client, user_message(parts, self._settings))
        return reply.n_prompt_tokens if isinstance(reply, Reply) else None


def _image_sizes(content: Sequence[Mapping[str, Any]]) -> Counter[Size]:
    uris = [part["image_url"]["url"] for part in content if "image_url" in part]
    return Counter(map(_image_size, uris))


def _image_size(uri: str) -> Size:
    """Read from the head alone: decoding all of 64 frames would take longer than sending them.

    Here and not by Pillow where the head is plain, since that reads every table in it: 5 ms for a question's frames.
    """
    start = uri.index(",") + 1
    head = base64.b64decode(uri[start : start + _HEAD_CHARACTERS])
    place = 2  # behind the mark of a JPEG's start
    while head[place : place + 1] == b"\xff" and place + 9 <= len(head):
        if head[place + 1] in _MARKS_OF_SIZE:
            height, width = (int.from_bytes(head[at : at + 2], "big") for at in (place + 5, place + 7))
            return width, height
        place += 2 + int.from_bytes(head[place + 2 : place + 4], "big")
    return Image.open(io.BytesIO(head)).size


def _picture(size: Size) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", size, "white").save(file, format="JPEG")
    return file.getvalue()
