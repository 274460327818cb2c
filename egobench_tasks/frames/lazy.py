"""Frames that are decoded when a host asks for them, not when a question is made.

A benchmark's questions are all made before the model runs; decoded, their frames would fill tens of
gigabytes (FACTS: about 37 GB for EgoGears' multi split).
"""

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import overload

from PIL import Image

from egobench_tasks.frames.spec import FrameSpec
from egobench_tasks.frames.store import FrameStore, StoredClip


@dataclass(frozen=True, slots=True)
class FrameRequest:
    """The frames of one clip: where it is, the SHA-256 of its bytes (hex), and what to take from it."""

    path: str
    sha256: str
    spec: FrameSpec


class FrameList(Sequence[Image.Image]):
    """The frames of a question's clips, in the order they are shown; decoded anew (or read from the store) at each use.

    Nothing is decoded when it is made, and nothing decoded stays alive in it. A deep copy of it is a
    short list of references: hosts deep-copy what they log. ``store``: the default one where none is given.
    Raises ``ClipError`` when frames are asked for and a clip cannot give them.
    """

    __slots__ = ("requests", "store")

    def __init__(self, requests: Sequence[FrameRequest], store: FrameStore | None = None) -> None:
        self.requests = tuple(requests)
        self.store = store

    def clips(self) -> list[StoredClip]:
        """Return the frames of each clip as JPEG files, in the order of the requests."""
        store = self.store if self.store is not None else FrameStore()
        return [store.get(request.path, request.sha256, request.spec) for request in self.requests]

    def __len__(self) -> int:
        return sum(len(clip.jpegs) for clip in self.clips())

    def __iter__(self) -> Iterator[Image.Image]:
        for clip in self.clips():
            yield from map(open_jpeg, clip.jpegs)

    @overload
    def __getitem__(self, index: int) -> Image.Image: ...
    @overload
    def __getitem__(self, index: slice) -> list[Image.Image]: ...
    def __getitem__(self, index: int | slice) -> Image.Image | list[Image.Image]:
        jpegs = [jpeg for clip in self.clips() for jpeg in clip.jpegs]
        if isinstance(index, slice):
            return [open_jpeg(jpeg) for jpeg in jpegs[index]]
        return open_jpeg(jpegs[index])

    def __deepcopy__(self, memo: dict[int, object]) -> list[dict[str, str]]:
        """Return references, not frames: lighteval deep-copies every sample it saves."""
        return [
            {"clip": PurePath(request.path).name, "sha256": request.sha256, "spec": request.spec.key()}
            for request in self.requests
        ]

    def __repr__(self) -> str:
        return f"FrameList({len(self.requests)} clips)"


def open_jpeg(jpeg: bytes) -> Image.Image:
    """Return a JPEG file's pixels, decoded, as an RGB image."""
    with Image.open(io.BytesIO(jpeg)) as image:
        return image.convert("RGB")
