"""Shuffling of answer options by question id, and the way back (PROTOCOL 1.2)."""

import random
from collections.abc import Iterable, Mapping


def shuffle_options(question_id: str, letters: Iterable[str]) -> dict[str, str]:
    """Return ``{shown letter: original letter}`` for one question.

    The letters are sorted, then shuffled by a generator seeded with the question id, so every
    model sees the same order and no order favours a position. Source: PROTOCOL 1.2.
    """
    shown = sorted(letters)
    original = list(shown)
    random.Random(question_id).shuffle(original)
    return dict(zip(shown, original, strict=True))


def to_original(shown_letters: Iterable[str], shown_to_original: Mapping[str, str]) -> frozenset[str]:
    """Map the letters a model named back to the letters of the dataset.

    Raises ``KeyError`` for a letter that was not shown; `answers.parse_answer` refuses those first.
    """
    return frozenset(shown_to_original[letter] for letter in shown_letters)
