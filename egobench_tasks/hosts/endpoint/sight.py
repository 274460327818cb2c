"""Does the server look at images? Some drop them without a word, and a blind model still scores above zero."""

import io

from PIL import Image, ImageDraw

from egobench_tasks.errors import EgobenchError
from egobench_tasks.hosts.endpoint.message import user_message
from egobench_tasks.hosts.endpoint.settings import EndpointSettings
from egobench_tasks.runs.attempts import growing_budgets
from egobench_tasks.scoring.endings import Ending, ending
from egobench_tasks.servers.client import ServerClient, tell
from egobench_tasks.servers.dialect import Message
from egobench_tasks.servers.failures import RequestFailed
from egobench_tasks.servers.reply import Reply

QUESTION = "Which shape does the picture show? Answer with one word."
# Reasoning models spend hundreds of tokens before their first word, and some servers refuse less than they need.
_BUDGET_TOKENS, _LAST_BUDGET_TOKENS = 256, 4096
SIZE_PX = (480, 270)  # a frame of 16:9 footage, so that the cost of a frame can be read off


async def check_sight(client: ServerClient, settings: EndpointSettings) -> int | None:
    """Ask one tiny question with and without a picture; return the prompt tokens that the picture took.

    None where the server counts no tokens for it and yet answers otherwise, or refuses the question without a
    picture. Raises ``EgobenchError`` where nothing differs, or the server cannot be asked with a picture at all.
    """
    words, shown = user_message([QUESTION], settings), user_message([QUESTION, picture()], settings)
    blind = await _ask(client, words)
    seeing = await _ask(client, shown)
    if isinstance(seeing, RequestFailed):
        raise EgobenchError(f"the server does not answer a question of a picture: {seeing}")
    if isinstance(blind, RequestFailed):
        tell(f"{settings.model} answers a picture and refuses words alone, so it is taken to see: {blind}")
        return None
    if blind.n_prompt_tokens is not None and seeing.n_prompt_tokens is not None:
        n_tokens = seeing.n_prompt_tokens - blind.n_prompt_tokens
        if n_tokens != 0:
            return n_tokens
    # Answers tell something only where they are whole, and the same question gets the same one twice.
    if Ending.LENGTH in (ending(blind.finish_reason), ending(seeing.finish_reason)):
        blind, seeing = await _ask(client, words, to_its_end=True), await _ask(client, shown, to_its_end=True)
    if _said(seeing) != _said(blind) == _said(await _ask(client, words, to_its_end=True)):
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


async def ask_probe(client: ServerClient, message: Message, *, to_its_end: bool = False) -> Reply | RequestFailed:
    """Ask with more and more tokens until there is a reply, or one that was not cut; return the refusal if all are.

    Raises `RequestFailed` for an outage.
    """
    cap_tokens = client.settings.max_tokens_cap
    budgets = growing_budgets(min(_BUDGET_TOKENS, cap_tokens), min(_LAST_BUDGET_TOKENS, cap_tokens))
    last: Reply | RequestFailed | None = None
    for budget_tokens in budgets:
        try:
            last, _ = await client.complete([message], budget_tokens)
        except RequestFailed as error:
            if error.kind.is_outage:
                raise
            last = last or error
        else:
            if not to_its_end or ending(last.finish_reason) is not Ending.LENGTH:
                break
    assert last is not None  # there is a first budget
    return last


async def _ask(client: ServerClient, message: Message, *, to_its_end: bool = False) -> Reply | RequestFailed:
    """As `ask_probe`; raises ``EgobenchError`` for an outage."""
    try:
        return await ask_probe(client, message, to_its_end=to_its_end)
    except RequestFailed as error:
        what = "text alone" if len(message["content"]) == 1 else "a picture"
        raise EgobenchError(f"the server does not answer a question of {what}: {error}") from None


def _said(reply: Reply | RequestFailed) -> tuple[str, str] | None:
    return (reply.reasoning, reply.text) if isinstance(reply, Reply) else None
