"""From messages to a model's inputs: the message in the model's prompt, its frames as tensors.

Knows nothing of lighteval and holds no weights: workers in processes of their own make inputs with it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
from PIL import Image
from transformers import BatchFeature

from egobench_tasks.asking.prompts import Segment, Text
from egobench_tasks.errors import EgobenchError, InputError
from egobench_tasks.frames.lazy import open_jpeg
from egobench_tasks.frames.store import StoredClip
from egobench_tasks.hosts.lighteval.vision.prompt import Part, PromptForm, Visual
from egobench_tasks.texts import first_line

_VIDEO_TICKS_PER_S = 1000
_VIDEOS = "videos_kwargs"
_REMEDY = {
    Visual.IMAGE: "Other images_kwargs or processor_kwargs may mend it",
    Visual.VIDEO: "Some take no clips of different lengths in one message; leave out input=video",
}


@dataclass(frozen=True, slots=True)
class Message:
    """A question's message: its parts in order, and what each image or video of them holds.

    ``images``: of single frames; ``videos``: of clips, with the times of their frames in seconds.
    """

    parts: tuple[Part, ...]
    images: tuple[Image.Image, ...] = ()
    videos: tuple[tuple[tuple[Image.Image, ...], tuple[float, ...]], ...] = ()

    @property
    def n_frames(self) -> int:
        """How many frames the message shows."""
        return len(self.images) + sum(len(frames) for frames, _ in self.videos)


@dataclass(frozen=True, slots=True)
class InputMaker:
    """Makes a model's inputs from messages.

    Attributes:
        processor: transformers' processor of the model.
        form: how messages are written.
        visual: whether frames are shown one by one, or a clip as one video.
        kwargs: for the processor, beside text and images.
        add_special_tokens: whether the tokenizer may add a first token where the template wrote none.
        dtype: what numbers are cast to; None leaves them as they come.
        max_length_tokens: the model's context.
        left_padded: the answer follows the prompt in one sequence, so nothing may stand between.
    """

    processor: Any
    form: PromptForm
    visual: Visual
    kwargs: Mapping[str, Any]
    add_special_tokens: bool
    dtype: torch.dtype | None
    max_length_tokens: int
    left_padded: bool

    def process(self, messages: Sequence[Message]) -> tuple[list[str], BatchFeature]:
        """Return the messages' prompts and inputs. Raises ``InputError`` for a prompt that differs from its message."""
        texts = [self.form.render(self.processor, message.parts) for message in messages]
        for text, message in zip(texts, messages, strict=True):
            self.form.check(text, message.parts)
        try:
            inputs = self._inputs(texts, messages)
        except (ValueError, TypeError, KeyError, IndexError, RuntimeError) as error:
            raise InputError(
                f"the processor ({type(self.processor).__name__}) fails on a message of texts and {self.visual}s "
                f"({type(error).__name__}: {first_line(error)}). {_REMEDY[self.visual]}"
            ) from error
        if "attention_mask" not in inputs:
            inputs["attention_mask"] = torch.ones_like(inputs["input_ids"])
        self._check_tokens(inputs)
        return texts, cast(inputs, self.dtype)

    def _inputs(self, texts: Sequence[str], messages: Sequence[Message]) -> BatchFeature:
        return self.processor(
            text=[*texts],  # some processors write into the list
            **_visuals(messages, self.kwargs),
            padding="longest",
            return_tensors="pt",
            add_special_tokens=self.add_special_tokens and not self._starts_with_bos(texts),
        )

    def _starts_with_bos(self, texts: Sequence[str]) -> bool:
        """Whether the chat template wrote the first token already; a second one shifts every answer."""
        bos = self.processor.tokenizer.bos_token
        return bool(bos) and texts[0].startswith(bos)

    def _check_tokens(self, inputs: BatchFeature) -> None:
        bos = self.processor.tokenizer.bos_token_id
        for ids, mask in zip(inputs["input_ids"], inputs["attention_mask"], strict=True):
            shown = ids[mask.bool()].tolist()
            if bos is not None and shown[:2] == [bos, bos]:
                raise InputError(
                    "the first token stands twice, from the chat template and from the processor, which shifts every "
                    "answer. Give chat_template=FILE without it, or add_special_tokens=false"
                )
            if self.left_padded and not mask[-1]:
                raise EgobenchError("the processor pads on the right, where answers begin; use batch_size=1")


def make_message(segments: Sequence[Segment], clips: Sequence[StoredClip], visual: Visual) -> Message:
    """Return a message of texts and clips, each clip as single images or as one video."""
    parts: list[Part] = []
    images: list[Image.Image] = []
    videos = []
    for segment in segments:
        if isinstance(segment, Text):
            parts.append(segment.text)
            continue
        clip = clips[segment.clip_index]
        frames = tuple(open_jpeg(jpeg) for jpeg in clip.jpegs)
        if visual is Visual.IMAGE:
            parts.extend([Visual.IMAGE] * len(frames))
            images.extend(frames)
        else:
            parts.append(Visual.VIDEO)
            videos.append((frames, clip.times_s))
    return Message(tuple(parts), tuple(images), tuple(videos))


def video_metadata(times_s: Sequence[float]) -> dict[str, Any]:
    """Return what tells a processor when each frame was: its tick of a clock of a millisecond.

    The rate that processors derive, frames for the clip's length, is that of the frames as they follow each other.
    """
    ticks = [round(time_s * _VIDEO_TICKS_PER_S) for time_s in times_s]
    steps = sorted(abs(later - earlier) for earlier, later in pairwise(sorted(ticks)))
    step = (sum(steps) / len(steps) if steps else 0) or _VIDEO_TICKS_PER_S
    total = max(round(step * len(ticks)), max(ticks) + 1)
    return {
        "total_num_frames": total,
        "fps": float(_VIDEO_TICKS_PER_S),
        "duration": total / _VIDEO_TICKS_PER_S,
        "frames_indices": ticks,
    }


def cast(inputs: BatchFeature, dtype: torch.dtype | None) -> BatchFeature:
    """Return the inputs with every number that is no integer in ``dtype``, nested ones, too."""
    return inputs if dtype is None else BatchFeature({name: _cast(value, dtype) for name, value in inputs.items()})


def _cast(value: Any, dtype: torch.dtype) -> Any:
    if isinstance(value, torch.Tensor):
        return value.to(dtype) if value.is_floating_point() else value
    return [_cast(one, dtype) for one in value] if isinstance(value, list | tuple) else value


def _visuals(messages: Sequence[Message], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """What the processor gets beside the text: images and videos, a list of each a message, and its options."""
    given = dict(kwargs)
    if any(message.images for message in messages):
        given["images"] = [list(message.images) for message in messages]
    if any(message.videos for message in messages):
        given["videos"] = [list(frames) for message in messages for frames, _ in message.videos]
        metadata = [video_metadata(times_s) for message in messages for _, times_s in message.videos]
        given[_VIDEOS] = {**given.get(_VIDEOS, {}), "do_sample_frames": False, "video_metadata": metadata}
    return given
