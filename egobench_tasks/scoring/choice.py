"""A generation becomes the scores of one multiple-choice question: read, mapped back, compared."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from egobench_tasks.scoring.answers import ParsedAnswer, parse_answer
from egobench_tasks.scoring.reasoning import has_trace
from egobench_tasks.scoring.scores import ChoiceScore, chance_exact, score_choice


@dataclass(frozen=True, slots=True)
class ScoredAnswer:
    """What was read from a generation, and its scores. ``chance`` is that of an exact match by guessing.

    ``no_trace``: there is an answer without any reasoning, although the model was told to think.
    """

    parsed: ParsedAnswer
    score: ChoiceScore
    chance: float
    no_trace: bool

    @property
    def exact_traced(self) -> float:
        """Exact match under upstream's stricter rule: an answer without a trace is wrong (PROTOCOL 1.2)."""
        return 0.0 if self.no_trace else self.score.exact_set


def score_text(
    facts: Mapping[str, Any], text: str, finish_reason: str, *, reasoning: str = "", thinking: bool = False
) -> ScoredAnswer:
    """Parse and score one generation by PROTOCOL 1.3 and 1.4; ``facts`` are `asking.choice.ShownQuestion.facts`.

    ``reasoning`` is what a host had split off the text, ``thinking`` whether the model was told to reason.
    Every failure to answer is a zero, never a skip.
    """
    shown_to_original = dict(zip(facts["shown_letters"], facts["original_letters"], strict=True))
    parsed = parse_answer(text, shown_to_original, finish_reason)
    predicted = None if parsed.letters is None else to_original(parsed.letters, shown_to_original)
    gold = frozenset(facts["answer"])
    chance = chance_exact(len(shown_to_original), len(gold))
    no_trace = lacks_trace(parsed, text, reasoning, thinking=thinking)
    return ScoredAnswer(parsed, score_choice(predicted, gold), chance, no_trace)


def lacks_trace(parsed: ParsedAnswer, text: str, reasoning: str, *, thinking: bool) -> bool:
    """Whether an answer came without reasoning although thinking was on (PROTOCOL 1.2)."""
    return thinking and parsed.letters is not None and not has_trace(text, reasoning)


def to_original(shown_letters: Iterable[str], shown_to_original: Mapping[str, str]) -> frozenset[str]:
    """Map the letters a model named back to the letters of the dataset.

    Raises ``KeyError`` for a letter that was not shown; `answers.parse_answer` refuses those first.
    """
    return frozenset(shown_to_original[letter] for letter in shown_letters)
