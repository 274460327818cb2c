"""Does the server look at images? Some drop them without a word, and a blind model still scores above zero."""

import io

from PIL import Image, ImageDraw

from egobench_tasks.errors import EgobenchError
from egobench_tasks.hosts.endpoint.client import EndpointClient, RequestFailed
from egobench_tasks.hosts.endpoint.message import content_parts
from egobench_tasks.hosts.endpoint.reply import Reply
from egobench_tasks.hosts.endpoint.settings import ImageDetail

QUESTION = "Which shape does the picture show? Answer with one word."
BUDGET_TOKENS = 32
SIZE_PX = (480, 270)  # a frame of 16:9 footage, so that the cost of a frame can be read off


async def check_sight(client: EndpointClient, detail: ImageDetail) -> int | None:
    """Ask one tiny question with and without a picture; return the prompt tokens that the picture took.

    None where the server counts no tokens for it and yet answers otherwise. Raises ``EgobenchError``
    where nothing differs, or the server cannot be asked at all.
    """
    blind = await _ask(client, [QUESTION], detail)
    seeing = await _ask(client, [QUESTION, picture()], detail)
    if blind.n_prompt_tokens is not None and seeing.n_prompt_tokens is not None:
        n_tokens = seeing.n_prompt_tokens - blind.n_prompt_tokens
        if n_tokens != 0:
            return n_tokens
    # Answers tell something only where the same question gets the same one twice.
    if _said(seeing) != _said(blind) == _said(await _ask(client, [QUESTION], detail)):
        return None
    raise EgobenchError(
        "this server ignores images: a question has the same prompt tokens and the same answer with and without one. "
        "Serve the model with its vision part, and check that the chat template takes images."
    )


def picture() -> bytes:
    """A red disc on white, as a JPEG of the size of a frame."""
    image = Image.new("RGB", SIZE_PX, "white")
    ImageDraw.Draw(image).ellipse((140, 35, 340, 235), fill="red")
    file = io.BytesIO()
    image.save(file, format="JPEG")
    return file.getvalue()


async def _ask(client: EndpointClient, parts: list[str | bytes], detail: ImageDetail) -> Reply:
    try:
        reply, _ = await client.complete(content_parts(parts, detail), BUDGET_TOKENS)
    except RequestFailed as error:
        what = "text alone" if len(parts) == 1 else "a picture"
        raise EgobenchError(f"the server does not answer a question of {what}: {error}") from None
    return reply


def _said(reply: Reply) -> tuple[str, str]:
    return reply.reasoning, reply.text
