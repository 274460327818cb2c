"""What lmms-eval calls for the task beside this file: messages of texts and pictures, in the order they are shown."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from PIL import Image

_HERE = Path(__file__).parent


def doc_to_messages(doc: Mapping[str, Any], lmms_eval_specific_kwargs: object = None) -> list[dict[str, Any]]:
    """Return a question as a chat of one turn, its pictures opened."""
    content = [
        {"type": "text", "text": part["value"]}
        if part["type"] == "text"
        else {"type": "image", "url": _picture(part["value"])}
        for part in doc["content"]
    ]
    return [{"role": "user", "content": content}]


def doc_to_visual(doc: Mapping[str, Any]) -> list[Any]:
    """Refuse models that are not asked in messages: they would get all pictures before or after all text."""
    raise NotImplementedError("egobench interleaves text and frames: use one of lmms-eval's chat models")


def doc_to_text(doc: Mapping[str, Any], lmms_eval_specific_kwargs: object = None) -> str:
    """Return a question's words, for logs."""
    return "".join(part["value"] for part in doc["content"] if part["type"] == "text")


def process_results(doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, float]:
    """Say whether there is a reply at all; `egobench score` scores it from the samples that lmms-eval logs."""
    return {"replied": float(bool(results and str(results[0]).strip()))}


def _picture(name: str) -> Any:
    with Image.open(_HERE / name) as image:
        return image.convert("RGB")
