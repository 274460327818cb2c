"""One vision-language model: its parts, what was settled about it, and its new tokens for some inputs."""

import hashlib
import logging
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from transformers import BatchFeature, PretrainedConfig

from egobench_tasks.errors import EgobenchError, InputError
from egobench_tasks.hosts.lighteval.vision.fitting import check_options, family_defaults, processor_options
from egobench_tasks.hosts.lighteval.vision.inputs import InputMaker, cast
from egobench_tasks.hosts.lighteval.vision.loading import find_checkpoint, load_model, load_processor
from egobench_tasks.hosts.lighteval.vision.pieces import process_in_pieces
from egobench_tasks.hosts.lighteval.vision.placing import input_device, put_aside
from egobench_tasks.hosts.lighteval.vision.probe import check_inputs, check_sight
from egobench_tasks.hosts.lighteval.vision.prompt import Part, PromptForm, Visual, prompt_form
from egobench_tasks.hosts.lighteval.vision.settings import IN_ORDER, FrameVLMConfig, InputForm
from egobench_tasks.texts import first_line

logger = logging.getLogger(__name__)

_CONTEXT_NAMES = ("max_position_embeddings", "max_sequence_length", "seq_length", "n_positions", "model_max_length")
_UNKNOWN_CONTEXT_TOKENS = 2048


class VisionModel:
    """A model that is known to be fit for the questions, before its weights are read.

    ``settings.settled`` says afterwards what was decided here: the family, its defaults, the template.
    Raises ``InputError`` for whatever stands against asking it; see `find_checkpoint`, `prompt_form`, `check_inputs`.
    """

    def __init__(self, settings: FrameVLMConfig, placement: Mapping[str, Any], device: torch.device) -> None:
        self._settings = settings
        self._placement = placement
        self._device = device
        self.checkpoint = find_checkpoint(settings)
        self.processor = load_processor(settings, self.checkpoint)
        self.max_length = context_tokens(settings, self.checkpoint.config)
        self.maker = self._maker()
        self._probes = check_inputs(self.maker)
        process_in_pieces(self.maker)

    @cached_property
    def weights(self) -> Any:
        """The model itself, read when it is first needed, and looked at before the first question."""
        model = load_model(self._settings, self.checkpoint, dict(self._placement))
        if not self._placement:
            model = model.to(self._device)
        try:
            check_sight(lambda inputs: _first_logits(model, inputs), self._probes)
        except (ValueError, TypeError, KeyError, IndexError, AttributeError, RuntimeError) as error:
            question = "Do its processor and images_kwargs belong to it?"
            raise InputError(
                f"{self._settings.model_name}: the model fails on a short message with two {self.maker.visual}s "
                f"({type(error).__name__}: {first_line(error)}). {put_aside(model) or question}"
            ) from error
        return model

    def prompt(self, parts: Sequence[Part]) -> str:
        """Return a message in the model's chat template, up to where its answer begins."""
        return self.maker.form.render(self.processor, parts)

    def new_tokens(self, inputs: BatchFeature, budget_tokens: int, **parameters: Any) -> torch.Tensor:
        """Return the tokens that the model adds, padded on the right; ``parameters``: as ``generate`` takes them.

        Raises ``EgobenchError`` where it adds none at all: an answer holds at least the token that ends it.
        """
        prompt = inputs["input_ids"]
        is_apart = self.checkpoint.is_encoder_decoder
        room_tokens = self.max_length if is_apart else self.max_length - prompt.shape[1]
        asked = {**parameters, "max_new_tokens": min(budget_tokens, room_tokens)}
        generated = self.weights.generate(**_placed(self.weights, inputs), **asked).cpu()
        new = added_tokens(generated, prompt, is_encoder_decoder=is_apart)
        if new.shape[1] == 0:
            raise EgobenchError(
                f"{self._settings.model_name}: generate gave back no new token; this kind of model cannot be asked here"
            )
        return new

    def _maker(self) -> InputMaker:
        settings, processor = self._settings, self.processor
        check_options(settings, processor)
        model_type = self.checkpoint.config.model_type
        defaults = family_defaults(model_type, settings, processor)
        visual = Visual.VIDEO if settings.input is InputForm.VIDEO else Visual.IMAGE
        if visual is Visual.VIDEO and getattr(processor, "video_processor", None) is None:
            raise InputError(f"input=video: {type(processor).__name__} has no part for videos; leave it out")
        template = _template(settings, processor)
        form = prompt_form(
            processor,
            visual,
            template=template,
            in_order=settings.chat_template == IN_ORDER,
            variables=settings.chat_template_kwargs,
            system=settings.system_prompt,
        )
        settings.settled = _settled(model_type, defaults, form, self.max_length)
        for name, value in settings.settled["images_kwargs"].items():
            logger.warning(
                f"{settings.model_name}: {name}={value}, the default here for {model_type} (one tile a frame)"
            )
        return InputMaker(
            processor=processor,
            form=form,
            visual=visual,
            kwargs=processor_options(settings, defaults),
            add_special_tokens=settings.add_special_tokens,
            dtype=settings.torch_dtype or _saved_dtype(self.checkpoint.config),
            max_length_tokens=self.max_length,
            left_padded=not self.checkpoint.is_encoder_decoder,
        )


def added_tokens(generated: torch.Tensor, prompt: torch.Tensor, *, is_encoder_decoder: bool) -> torch.Tensor:
    """Return what a model added: some give back prompt and answer, some the answer alone.

    An encoder-decoder's answer is a sequence of its own that begins with the decoder's start token.
    """
    if is_encoder_decoder:
        return generated[:, 1:]
    n_prompt = prompt.shape[1]
    holds_prompt = generated.shape[1] >= n_prompt and torch.equal(generated[:, :n_prompt], prompt.to(generated.device))
    return generated[:, n_prompt:] if holds_prompt else generated


def context_tokens(settings: FrameVLMConfig, config: PretrainedConfig) -> int:
    """Return the model's context: ``max_length`` where the user set it, else what its config says."""
    if settings.max_length is not None:
        return settings.max_length
    text = config.get_text_config()
    for holder in (text, config):
        for name in _CONTEXT_NAMES:
            value = getattr(holder, name, None)
            if isinstance(value, int) and value > 0:
                return value
    logger.warning(
        f"{settings.model_name}: its config states no context; {_UNKNOWN_CONTEXT_TOKENS} is assumed. Set max_length=…"
    )
    return _UNKNOWN_CONTEXT_TOKENS


def _first_logits(model: Any, inputs: BatchFeature) -> torch.Tensor:
    with torch.inference_mode():
        made = model.generate(
            **_placed(model, inputs),
            max_new_tokens=1,
            do_sample=False,
            return_dict_in_generate=True,
            output_logits=True,
        )
    return made.logits[0]


def _placed(model: Any, inputs: BatchFeature) -> BatchFeature:
    """Inputs where the model is, and in its own type: checkpoints and processors each have their own mind."""
    return cast(inputs, model.dtype).to(input_device(model))


def _saved_dtype(config: PretrainedConfig) -> torch.dtype | None:
    """What the checkpoint's weights are in, as its config says; None where it does not."""
    dtype = getattr(config, "dtype", None) or getattr(config.get_text_config(), "dtype", None)
    return getattr(torch, dtype) if isinstance(dtype, str) else dtype


def _template(settings: FrameVLMConfig, processor: Any) -> str:
    if settings.chat_template is not None and settings.chat_template != IN_ORDER:
        return Path(settings.chat_template).read_text(encoding="utf-8")
    for holder in (processor, processor.tokenizer):
        template = getattr(holder, "chat_template", None)
        if isinstance(template, dict):
            template = template.get("default")
        if template:
            return str(template)
    raise InputError(
        f"{settings.model_name}: has no chat template, and so no way of writing a message that holds frames. "
        "Give chat_template=FILE (Jinja), or processor=NAME of a model whose template it was trained with"
    )


def _settled(model_type: str, defaults: Mapping[str, Any], form: PromptForm, max_length: int) -> dict[str, Any]:
    return {
        "model_type": model_type,
        "images_kwargs": dict(defaults),
        "template_sha256": hashlib.sha256(form.template.encode()).hexdigest()[:16],
        "image_mark_written_by_us": form.inline,
        "context_tokens": max_length,
    }
