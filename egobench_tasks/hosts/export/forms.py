"""A finished message becomes a line of an export, in one of its forms; frames leave it for files of their own."""

import base64
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from egobench_tasks.files import write_atomically
from egobench_tasks.hosts.endpoint.settings import EndpointSettings
from egobench_tasks.hosts.export.manifest import FRAMES_FOLDER, Form, Written, digest_of
from egobench_tasks.servers.dialect import Message, first_dialect

BATCH_URL = "/v1/chat/completions"


def message_digest(message: Message) -> str:
    """Return the digest of a message as the endpoint host makes it, whatever becomes of its frames: by their bytes."""
    return digest_of(_with_images(message, lambda jpeg: hashlib.sha256(jpeg).hexdigest()))


def with_files(message: Message, folder: Path) -> Message:
    """Write a message's frames into ``folder/frames``, each once, and return it with their paths in place of the bytes.

    A frame's name is the digest of its bytes: questions that show one share its file.
    """

    def write(jpeg: bytes) -> str:
        name = f"{FRAMES_FOLDER}/{hashlib.sha256(jpeg).hexdigest()[:32]}.jpg"
        if not (folder / name).exists():
            with write_atomically(folder / name) as file:
                file.write(jpeg)
        return name

    (folder / FRAMES_FOLDER).mkdir(exist_ok=True)
    return _with_images(message, write)


def line_of(form: Form, question: Written, message: Message, settings: EndpointSettings) -> bytes:
    """Return a question's line: JSON and its line end."""
    named = {"id": question.id, "task": question.task, "question_id": question.question_id}
    if form is Form.OPENAI_BATCH:
        # As `servers.client` puts a request, before a server has refused anything.
        body = first_dialect(settings).put(settings.request_fields(question.budget_tokens), [message])
        row: dict[str, Any] = {"custom_id": question.id, "method": "POST", "url": BATCH_URL, "body": body}
    elif form is Form.LMMS_EVAL:
        row = {**named, "content": [_plain(part) for part in message["content"]]}
    else:
        row = {**named, "max_tokens": question.budget_tokens, "messages": [message]}
    return (json.dumps(row, ensure_ascii=False) + "\n").encode("utf-8", "replace")


def _plain(part: dict[str, Any]) -> dict[str, str]:
    """A part with the same two fields whatever it is, as a table's rows have them."""
    if part["type"] == "text":
        return {"type": "text", "value": part["text"]}
    return {"type": "image", "value": part["image_url"]["url"]}


def _with_images(message: Message, put: Callable[[bytes], str]) -> Message:
    content = []
    for part in message["content"]:
        if "image_url" in part:
            jpeg = base64.b64decode(part["image_url"]["url"].partition(",")[2])
            part = {**part, "image_url": {**part["image_url"], "url": put(jpeg)}}
        content.append(part)
    return {**message, "content": content}
