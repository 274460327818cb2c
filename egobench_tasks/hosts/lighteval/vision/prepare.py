"""A batch of questions becomes the inputs that a model takes, and every prompt is known to fit before it is asked.

Knows nothing of lighteval and holds no weights: workers in processes of their own run it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from transformers import BatchFeature

from egobench_tasks.asking.prompts import Segment
from egobench_tasks.errors import EgobenchError
from egobench_tasks.frames.errors import ClipError
from egobench_tasks.frames.lazy import FrameList
from egobench_tasks.hosts.lighteval.vision.fitting import smaller_inputs
from egobench_tasks.hosts.lighteval.vision.inputs import InputMaker, Message, make_message


@dataclass(frozen=True, slots=True)
class Question:
    """What is needed of a question to ask it."""

    question_id: str
    segments: tuple[Segment, ...]
    frames: FrameList


@dataclass(frozen=True, slots=True)
class Prepared:
    """The inputs of some questions, which are named by their places among those that were given.

    ``readable``: those that ``inputs`` hold, in order; ``unreadable``: those whose clips could not be decoded, and why.
    """

    readable: tuple[int, ...]
    unreadable: tuple[tuple[int, ClipError], ...]
    inputs: BatchFeature | None
    texts: tuple[str, ...] = ()

    @property
    def n_bytes(self) -> int:
        """What the inputs fill in memory."""
        values = self.inputs.values() if self.inputs is not None else ()
        return sum(tensor.nbytes for tensor in tensors_of(list(values)))


def prepare(maker: InputMaker, questions: Sequence[Question]) -> Prepared:
    """Decode the questions' frames and make the inputs of those that can be read.

    Raises ``EgobenchError`` for a prompt that does not fit the context, or that differs from its message.
    """
    readable: list[int] = []
    messages: list[Message] = []
    unreadable: list[tuple[int, ClipError]] = []
    for place, question in enumerate(questions):
        try:
            clips = question.frames.clips()
        except ClipError as error:
            unreadable.append((place, error))
            continue
        messages.append(make_message(question.segments, clips, maker.visual))
        readable.append(place)
    if not messages:
        return Prepared((), tuple(unreadable), None)
    texts, inputs = maker.process(messages)
    for place, message, text, mask in zip(readable, messages, texts, inputs["attention_mask"], strict=True):
        _check_context(maker, questions[place].question_id, message, text, int(mask.sum()))
    return Prepared(tuple(readable), tuple(unreadable), inputs, tuple(texts))


def _check_context(maker: InputMaker, question_id: str, message: Message, text: str, n_prompt_tokens: int) -> None:
    """Refuse a prompt that leaves no room: cutting it would cut frames, in silence."""
    if n_prompt_tokens < maker.max_length_tokens:
        return
    n_text_tokens = len(maker.processor.tokenizer(text, add_special_tokens=False)["input_ids"])
    n_frame_tokens = max(0, n_prompt_tokens - n_text_tokens)
    each = f", about {n_frame_tokens / message.n_frames:,.0f} a frame" if message.n_frames else ""
    option = smaller_inputs(maker, message)
    otherwise = "use a model with a longer context, or give max_length=… if its config is wrong"
    raise EgobenchError(
        f"question {question_id}: the prompt has {n_prompt_tokens} tokens, the model's context "
        f"{maker.max_length_tokens}: {n_text_tokens:,} of text, {n_frame_tokens:,} of {message.n_frames} frames{each}. "
        + (f"{option}; or {otherwise}." if option else f"U{otherwise[1:]}.")
    )


def tensors_of(values: Sequence[Any]) -> list[torch.Tensor]:
    """Return the tensors among ``values`` and in lists of them: some families' pixels are a list of images."""
    found: list[torch.Tensor] = []
    for value in values:
        if isinstance(value, torch.Tensor):
            found.append(value)
        elif isinstance(value, list | tuple):
            found.extend(tensors_of(value))
    return found
