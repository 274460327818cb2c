"""Taking back what was said last: records are only ever added, so one more says which of them no longer counts."""

from collections.abc import Callable, Sequence
from typing import TypeVar

_Said = TypeVar("_Said")


def without_last(said: Sequence[_Said], is_it: Callable[[_Said], bool]) -> tuple[_Said, ...]:
    """Return all but the last that ``is_it`` holds for; all, where it holds for none."""
    last = max((place for place, one in enumerate(said) if is_it(one)), default=None)
    return tuple(one for place, one in enumerate(said) if place != last)
