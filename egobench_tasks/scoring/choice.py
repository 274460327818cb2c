"""A generation becomes the scores of one multiple-choice question: read, mapped back, compared."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from egobench_tasks.scoring.answers import ParsedAnswer, parse_answer
from egobench_tasks.scoring.scores import ChoiceScore, chance_exact, score_choice


@dataclass(frozen=True, slots=True)
class ScoredAnswer:
    """What was read from a generation, and its scores. ``chance`` is that of an exact match by guessing."""

    parsed: ParsedAnswer
    score: ChoiceScore
    chance: float


def score_text(facts: Mapping[str, Any], text: str, finish_reason: str) -> ScoredAnswer:
    """Parse and score one generation by PROTOCOL 1.3 and 1.4; ``facts`` are `asking.choice.ShownQuestion.facts`.

    Every failure to answer is a zero, never a skip.
    """
    shown_to_original = dict(zip(facts["shown_letters"], facts["original_letters"], strict=True))
    parsed = parse_answer(text, shown_to_original, finish_reason)
    predicted = None if parsed.letters is None else to_original(parsed.letters, shown_to_original)
    gold = frozenset(facts["answer"])
    chance = chance_exact(len(shown_to_original), len(gold))
    return ScoredAnswer(parsed, score_choice(predicted, gold), chance)


def to_original(shown_letters: Iterable[str], shown_to_original: Mapping[str, str]) -> frozenset[str]:
    """Map the letters a model named back to the letters of the dataset.

    Raises ``KeyError`` for a letter that was not shown; `answers.parse_answer` refuses those first.
    """
    return frozenset(shown_to_original[letter] for letter in shown_letters)
