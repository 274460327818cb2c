"""A look at a model before the first question: do the frames reach it, and in the order of the message?"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from PIL import Image
from transformers import BatchFeature

from egobench_tasks.errors import InputError
from egobench_tasks.hosts.lighteval.vision.inputs import InputMaker, Message
from egobench_tasks.hosts.lighteval.vision.prompt import Visual

_SIZE_PX = (480, 270)
_VIDEO_FRAMES = 8
_TEXTS = ("Alpha-7 begins", "Bravo-7 follows", "Charlie-7 ends")


def check_inputs(maker: InputMaker) -> tuple[BatchFeature, BatchFeature]:
    """Return a small message's inputs, and those of the same message with its two frames (or clips) exchanged.

    Raises ``InputError`` where the exchange changes nothing, or the processor moves texts and images. No weights.
    """
    message = _message(maker.visual)
    _, first = maker.process([message])
    _, second = maker.process([_exchanged(message)])
    if not _differ(first, second):
        raise InputError(
            f"the processor ({type(maker.processor).__name__}) gives a model the same inputs when two frames are "
            "exchanged: their order, or their pixels, would not count"
        )
    _check_token_order(maker, first)
    return first, second


def check_sight(logits: Callable[[BatchFeature], torch.Tensor], probes: tuple[BatchFeature, BatchFeature]) -> None:
    """Compare the model's first word for the probes of `check_inputs`.

    ``logits``: those of the first new token. Raises ``InputError`` where the exchange of frames moves none of them.
    """
    first, second = (logits(inputs) for inputs in probes)
    if not bool(torch.isfinite(first.float()).any()):
        raise InputError("the model computes nothing but NaN on two frames; try another dtype=…")
    if torch.equal(first, second):
        raise InputError(
            "the model's logits do not move when two frames are exchanged: it answers blind. Is its vision part there, "
            "and does processor=… (if given) belong to it?"
        )


def _message(visual: Visual) -> Message:
    random = np.random.default_rng(7)
    frames = [Image.fromarray(random.integers(0, 256, (_SIZE_PX[1], _SIZE_PX[0], 3), np.uint8)) for _ in range(2)]
    first, second, third = _TEXTS
    parts = (first, visual, second, visual, third)
    if visual is Visual.IMAGE:
        return Message(parts, images=tuple(frames))
    # The second clip is the first one backwards: a model that loses the order of a clip's frames is found out, too.
    clip = tuple(frames[place % 2] for place in range(_VIDEO_FRAMES))
    times_s = tuple(float(place) for place in range(_VIDEO_FRAMES))
    return Message(parts, videos=((clip, times_s), (clip[::-1], times_s)))


def _exchanged(message: Message) -> Message:
    return replace(message, images=message.images[::-1], videos=message.videos[::-1])


def _check_token_order(maker: InputMaker, inputs: BatchFeature) -> None:
    """Compare what the tokens say with the message: a processor may move images after the template has not."""
    shown = inputs["input_ids"][0][inputs["attention_mask"][0].bool()]
    text = _without_blanks(maker.processor.tokenizer.decode(shown, skip_special_tokens=False))
    names = [_without_blanks(name) for name in _TEXTS]
    if any(text.count(name) != 1 for name in names):
        return  # a tokenizer that does not give its text back; the prompt was compared already
    begins = [text.find(name) for name in names]
    between = [text[begin + len(name) : end] for name, begin, end in zip(names, begins, begins[1:], strict=False)]
    if begins != sorted(begins) or not all(between):
        raise InputError(
            f"the processor ({type(maker.processor).__name__}) moves images away from their place between the texts, "
            "whatever the template says; serve the model and run it as an endpoint, if its server keeps the order"
        )


def _without_blanks(text: str) -> str:
    return "".join(text.split())


def _differ(first: Any, second: Any) -> bool:
    if isinstance(first, torch.Tensor):
        return first.shape != second.shape or not torch.equal(first, second)
    if isinstance(first, BatchFeature | dict):
        return any(_differ(first[name], second[name]) for name in first)
    if isinstance(first, Sequence) and not isinstance(first, str):
        return len(first) != len(second) or any(_differ(*pair) for pair in zip(first, second, strict=True))
    return bool(first != second)
