"""How many tokens a frame costs: a family's defaults, the user's options checked by name, and what would cost less."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from egobench_tasks.errors import EgobenchError, InputError
from egobench_tasks.hosts.lighteval.vision.families import IMAGES_KWARGS, SMALLER_INPUTS
from egobench_tasks.hosts.lighteval.vision.inputs import InputMaker, Message
from egobench_tasks.hosts.lighteval.vision.prompt import Visual
from egobench_tasks.hosts.lighteval.vision.settings import FrameVLMConfig
from egobench_tasks.texts import nearest

_PARTS = {"images_kwargs": "image_processor", "videos_kwargs": "video_processor", "text_kwargs": "tokenizer"}
_OURS = {"text", "images", "videos", "audio", "padding", "padding_side", "return_tensors", "truncation", "max_length"}
"""What we give the processor ourselves, or must not be given: a prompt that is cut loses frames in silence."""


def family_defaults(model_type: str, settings: FrameVLMConfig, processor: Any) -> dict[str, Any]:
    """Return the family's default ``images_kwargs``, those aside that the user set, or that the processor lacks."""
    known = _names(processor, "images_kwargs")
    return {
        name: value
        for name, value in IMAGES_KWARGS.get(model_type, {}).items()
        if name not in settings.images_kwargs and name in known
    }


def check_options(settings: FrameVLMConfig, processor: Any) -> None:
    """Refuse options that the processor would ignore. Raises ``InputError`` that names the nearest known one."""
    _check("images_kwargs", settings.images_kwargs, _names(processor, "images_kwargs"))
    flat = set().union(*(_names(processor, part) for part in _PARTS)) | set(_PARTS)
    _check("processor_kwargs", settings.processor_kwargs, flat)
    for part in set(_PARTS) & set(settings.processor_kwargs):
        inner = settings.processor_kwargs[part]
        if not isinstance(inner, Mapping):
            raise InputError(f"processor_kwargs: {part} must be a mapping, got {inner!r}")
        _check(f"processor_kwargs.{part}", inner, _names(processor, part))
    twice = set(settings.images_kwargs) & set(settings.processor_kwargs) | (
        {"images_kwargs"} if settings.images_kwargs and "images_kwargs" in settings.processor_kwargs else set()
    )
    if twice:
        raise InputError(f"{', '.join(sorted(twice))}: given in images_kwargs and in processor_kwargs; give it once")


def processor_options(settings: FrameVLMConfig, defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Return all options for the processor: the user's, over the family's ``defaults``."""
    given = dict(settings.processor_kwargs)
    images = {**defaults, **settings.images_kwargs, **given.pop("images_kwargs", {})}
    images = {name: value for name, value in images.items() if name not in given}
    return {**given, "images_kwargs": images} if images else given


def smaller_inputs(maker: InputMaker, message: Message) -> str | None:
    """Return the mildest option with which the message would fit the context, in words; None where none is known.

    Each is tried on the message's first frame, so nothing is promised that the processor does not do.
    """
    if maker.visual is not Visual.IMAGE or not message.images:
        return None
    known = _names(maker.processor, "images_kwargs")
    used = maker.kwargs.get("images_kwargs", {})
    now = _frame_tokens(maker, message)
    _, inputs = maker.process([message])
    n_text_tokens = int(inputs["attention_mask"].sum()) - now * message.n_frames
    for option in SMALLER_INPUTS:
        if not set(option) <= known or all(used.get(name) == value for name, value in option.items()):
            continue
        smaller = replace(maker, kwargs={**maker.kwargs, "images_kwargs": {**used, **option}})
        try:
            n_tokens = n_text_tokens + _frame_tokens(smaller, message) * message.n_frames
        except EgobenchError:
            continue  # a name that this processor knows and cannot use
        if n_tokens < maker.max_length_tokens:
            return f"images_kwargs={_flow(option)} makes it about {n_tokens:,} tokens"
    return None


def _frame_tokens(maker: InputMaker, message: Message) -> int:
    """What a further frame costs: a prompt of two frames less one of a single frame."""
    counts = []
    for n_frames in (1, 2):
        parts = ("Frame", *[Visual.IMAGE] * n_frames, "End")
        _, inputs = maker.process([replace(message, parts=parts, images=message.images[:1] * n_frames)])
        counts.append(int(inputs["attention_mask"].sum()))
    return counts[1] - counts[0]


def _names(processor: Any, part: str) -> set[str]:
    """The options that one part of a processor takes."""
    declared = getattr(getattr(processor, "valid_processor_kwargs", None), "__annotations__", {})
    own = getattr(getattr(processor, _PARTS[part], None), "valid_kwargs", None)
    names = {*getattr(declared.get(part), "__annotations__", {}), *getattr(own, "__annotations__", {})}
    return names - _OURS


def _check(setting: str, given: Mapping[str, Any], known: set[str]) -> None:
    if not known and given:
        raise InputError(f"{setting}: this model's processor takes no such options")
    for name in given:
        if name not in known:
            raise InputError(f"{setting}: the model's processor has no option {name!r}; {nearest(name, known)}")


def _flow(option: Mapping[str, Any]) -> str:
    """A mapping as it is typed on the command line."""
    inner = (f"{name}: {_flow(one) if isinstance(one, Mapping) else json.dumps(one)}" for name, one in option.items())
    return "{" + ", ".join(inner) + "}"
