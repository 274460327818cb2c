"""The order in which questions are asked: it changes no answer, only what can be used again."""

from collections.abc import Callable, Sequence
from typing import TypeVar

_T = TypeVar("_T")


def clips_together(
    items: Sequence[_T], clips_of: Callable[[_T], Sequence[str]], size_of: Callable[[_T], tuple[int, ...]]
) -> list[_T]:
    """Return the items so that those that share their first clip follow each other, the largest group first.

    Servers and stores keep what they saw last; a prompt that fits neither context nor memory fails at once.

    Args:
        items: questions, in any order.
        clips_of: the clips that one shows, in order, each by its content.
        size_of: what stands for the length of its prompt.
    """
    groups: dict[str, list[_T]] = {}
    for item in items:
        clips = clips_of(item)
        groups.setdefault(clips[0] if clips else "", []).append(item)
    ordered = [
        sorted(group, key=lambda item: (*_negative(size_of(item)), *clips_of(item))) for group in groups.values()
    ]
    ordered.sort(key=lambda group: size_of(group[0]), reverse=True)
    return [item for group in ordered for item in group]


def _negative(size: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(-part for part in size)
