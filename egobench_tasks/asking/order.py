"""The order in which questions are asked: it changes no answer, only what can be used again."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from egobench_tasks.frames.lazy import FrameList

_T = TypeVar("_T")
_Clips = tuple[str, ...]
_Size = tuple[int, int]


def clips_together(items: Sequence[_T], shown: Callable[[_T], tuple[FrameList, str]]) -> list[_T]:
    """Return the items so that those that share their clips, or the first of them, follow each other.

    Servers and stores keep what they saw last. Otherwise the longest prompts come first: one that fits neither context
    nor memory fails at once. ``shown``: an item's frames and its prompt in words.
    """
    views = [_view(*shown(item)) for item in items]
    of_first: dict[_Clips, _Size] = {}  # the longest prompt of those that share the first clip
    of_all: dict[_Clips, _Size] = {}  # … and of those that share every clip
    for clips, size in views:
        of_first[clips[:1]] = min(size, of_first.get(clips[:1], size))
        of_all[clips] = min(size, of_all.get(clips, size))

    def place(index: int) -> tuple[_Size, _Clips, _Size, _Clips, _Size]:
        clips, size = views[index]
        return of_first[clips[:1]], clips[:1], of_all[clips], clips, size

    return [items[index] for index in sorted(range(len(items)), key=place)]


def _view(frames: FrameList, prompt: str) -> tuple[_Clips, _Size]:
    """The clips by their content, and what stands for the prompt's length without decoding anything, negative."""
    n_frames = sum(request.spec.count or 0 for request in frames.requests)
    return tuple(request.sha256 for request in frames.requests), (-n_frames, -len(prompt))
