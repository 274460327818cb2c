"""A batch's images are made a question at a time, where that gives the same inputs.

Image processors hold a batch several times in float32 while they work: 512 frames of Gemma 3's size fill 5 GB once.
"""

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from PIL import Image
from transformers import BatchFeature

from egobench_tasks.hosts.lighteval.vision.inputs import InputMaker, Message, cast
from egobench_tasks.hosts.lighteval.vision.prompt import Visual

_IMAGES_AT_A_TIME = 64
_SEED = 0

Empty = Callable[[Sequence[int], torch.dtype], torch.Tensor]
"""Gives a tensor of a shape to be filled, as ``torch.empty`` does."""


class ImageProcessorInPieces:
    """An image processor that works on a question's images, or on 64 of a flat list, at a time.

    Each piece is cast as soon as it is made. Where pieces do not fit together (some processors pad to the largest
    image of a batch), the whole batch is processed at once.
    """

    def __init__(self, whole: Any, dtype: torch.dtype | None, images_at_a_time: int = _IMAGES_AT_A_TIME) -> None:
        self.whole = whole
        self.dtype = dtype
        self.images_at_a_time = images_at_a_time
        self.empty: Empty = _empty

    def __getattr__(self, name: str) -> Any:
        if name == "whole" or name.startswith("__"):  # asked for before there is one, while this is unpickled
            raise AttributeError(name)
        return getattr(self.whole, name)

    def __call__(self, images: Any, *arguments: Any, **options: Any) -> BatchFeature:
        """Return what the processor returns for all images."""
        pieces = self._pieces(images)
        if len(pieces) < 2:
            return self.whole(images, *arguments, **options)
        made = (cast(self.whole(piece, *arguments, **options), self.dtype) for piece in pieces)
        joined = _joined(made, sum(map(len, pieces)) / len(pieces[0]), self.empty)
        return self.whole(images, *arguments, **options) if joined is None else joined

    def _pieces(self, images: Any) -> list[Any]:
        if not isinstance(images, list | tuple) or not images:
            return []
        if isinstance(images[0], list | tuple):
            return [[one] for one in images]
        return [list(piece) for piece in _batched(images, self.images_at_a_time)]


def process_in_pieces(maker: InputMaker) -> bool:
    """Let the maker's processor make images in pieces, if two short messages come out the same so. Returns whether."""
    whole = getattr(maker.processor, "image_processor", None)
    if whole is None or maker.visual is not Visual.IMAGE:
        return False
    messages = [_short_message(seed) for seed in (_SEED, _SEED + 1)]
    _, expected = maker.process(messages)
    maker.processor.image_processor = ImageProcessorInPieces(whole, maker.dtype, images_at_a_time=2)
    try:
        _, made = maker.process(messages)
        same = _same(dict(made), dict(expected))
    except Exception:  # a processor may do with the images what pieces do not allow
        same = False
    maker.processor.image_processor = ImageProcessorInPieces(whole, maker.dtype) if same else whole
    return same


def make_in(maker: InputMaker, empty: Empty) -> None:
    """Let images that are made in pieces be written, as they are made, into tensors that ``empty`` gives."""
    in_pieces = getattr(maker.processor, "image_processor", None)
    if isinstance(in_pieces, ImageProcessorInPieces):
        in_pieces.empty = empty


def _short_message(seed: int) -> Message:
    pixels = np.random.default_rng(seed).integers(0, 256, (2, 48, 64, 3), np.uint8)
    return Message(("Q", Visual.IMAGE, "and", Visual.IMAGE, "E"), tuple(Image.fromarray(one) for one in pixels))


def _batched(images: Sequence[Any], size: int) -> list[tuple[Any, ...]]:
    left = iter(images)
    return list(iter(lambda: tuple(itertools.islice(left, size)), ()))


def _empty(shape: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
    return torch.empty(shape, dtype=dtype)


class _Rows:
    """Tensors end to end. They are written, as they come, into room for as many rows as are expected."""

    def __init__(self, first: torch.Tensor, n_rows: int, empty: Empty) -> None:
        self.room = empty((n_rows, *first.shape[1:]), first.dtype)
        self.n_rows = 0

    def add(self, tensor: torch.Tensor) -> bool:
        """Write the tensor after the others; False where it does not go there."""
        end = self.n_rows + len(tensor)
        fits = tensor.shape[1:] == self.room.shape[1:] and tensor.dtype == self.room.dtype
        if not fits:
            return False
        if end > len(self.room):
            self.room = torch.cat([self.room[: self.n_rows], tensor])
        else:
            self.room[self.n_rows : end] = tensor
        self.n_rows = end
        return True

    @property
    def joined(self) -> torch.Tensor:
        """All that was added."""
        return self.room[: self.n_rows]


def _joined(pieces: Iterator[BatchFeature], n_times_the_first: float, empty: Empty) -> BatchFeature | None:
    """Return the pieces end to end, together about so many times the first; None where they do not fit."""
    joined: dict[str, _Rows | list[Any]] = {}
    for n_before, piece in enumerate(pieces):
        if n_before and set(piece) != set(joined):
            return None
        for name, value in piece.items():
            if not n_before:
                if isinstance(value, torch.Tensor) and value.ndim:
                    joined[name] = _Rows(value, round(len(value) * n_times_the_first), empty)
                elif isinstance(value, list):
                    joined[name] = []
                else:
                    return None
            if not _add(joined[name], value):
                return None
    return BatchFeature({name: rows.joined if isinstance(rows, _Rows) else rows for name, rows in joined.items()})


def _add(rows: _Rows | list[Any], value: Any) -> bool:
    if isinstance(rows, _Rows):
        return isinstance(value, torch.Tensor) and bool(value.ndim) and rows.add(value)
    rows.extend(value if isinstance(value, list) else [])
    return isinstance(value, list)


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, torch.Tensor):
        return isinstance(other, torch.Tensor) and one.dtype == other.dtype and torch.equal(one, other)
    if isinstance(one, dict):
        return (
            isinstance(other, dict) and one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
        )
    if isinstance(one, list | tuple):
        return isinstance(other, list | tuple) and len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other)
