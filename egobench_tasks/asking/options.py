"""Shuffling of answer options by question id, and the way back (PROTOCOL 1.2)."""

import random
from collections.abc import Iterable


def shuffle_options(question_id: str, letters: Iterable[str]) -> dict[str, str]:
    """Return ``{shown letter: original letter}`` for one question.

    The letters are sorted, then shuffled by a generator seeded with the question id, so every
    model sees the same order and no order favours a position. Source: PROTOCOL 1.2.
    """
    shown = sorted(letters)
    original = list(shown)
    random.Random(question_id).shuffle(original)
    return dict(zip(shown, original, strict=True))
