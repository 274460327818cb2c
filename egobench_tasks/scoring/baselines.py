"""What guessing scores, simulated and in closed form: the floor under every model's figure."""

import math
import random
import string
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from egobench_tasks.scoring.scores import ChoiceScore, chance_exact, chance_overlap, score_choice


@dataclass(frozen=True, slots=True)
class ChoiceChance:
    """The expected scores of a uniform guess of as many options as there are right ones, each in [0, 1].

    ``exact_set`` and ``jaccard`` are means over questions; ``overlap`` is averaged over answer
    slots, as the paper does (PROTOCOL 1.4).
    """

    exact_set: float
    jaccard: float
    overlap: float


def choice_chance(questions: Sequence[tuple[int, int]]) -> ChoiceChance:
    """Return chance in closed form over (n_options, n_select) pairs; NaNs for no questions."""
    if not questions:
        return ChoiceChance(math.nan, math.nan, math.nan)
    return ChoiceChance(
        exact_set=math.fsum(chance_exact(*question) for question in questions) / len(questions),
        jaccard=math.fsum(_chance_jaccard(*question) for question in questions) / len(questions),
        overlap=chance_overlap(questions),
    )


def simulate_choices(questions: Sequence[tuple[int, int]], n_trials: int, seed: int = 0) -> ChoiceChance:
    """Return the mean scores of ``n_trials`` uniform guesses at every (n_options, n_select) pair.

    The guesses go through `scores.score_choice`, as a model's answers do. NaNs for no questions.
    """
    if not questions or n_trials < 1:
        return ChoiceChance(math.nan, math.nan, math.nan)
    generator = random.Random(seed)
    guesses = [
        (n_select, _guess(generator, n_options, n_select)) for _ in range(n_trials) for n_options, n_select in questions
    ]
    slots = sum(n_select for n_select, _ in guesses)
    return ChoiceChance(
        exact_set=math.fsum(score.exact_set for _, score in guesses) / len(guesses),
        jaccard=math.fsum(score.jaccard for _, score in guesses) / len(guesses),
        overlap=math.fsum(n_select * score.overlap for n_select, score in guesses) / slots,
    )


@dataclass(frozen=True, slots=True)
class GoldAnswer:
    """An open question's gold answer and category."""

    question_id: str
    category: str
    answer: str


def random_answers(golds: Iterable[GoldAnswer], seed: int = 0) -> dict[str, str]:
    """Return ``{question_id: a random answer of the same category}`` (PROTOCOL 2: published chance 4.9 %).

    Drawn from all answers of the category, the question's own among them: the real file then
    matches itself in 4.8 % of draws by text alone, and in 2.8 % without its own. A question's draw
    depends on the seed and its category's questions, not on their order.
    """
    by_category: dict[str, list[GoldAnswer]] = defaultdict(list)
    for gold in sorted(golds, key=lambda gold: gold.question_id):
        by_category[gold.category].append(gold)
    return {
        gold.question_id: random.Random(f"{seed}:{gold.question_id}").choice(pool).answer
        for pool in by_category.values()
        for gold in pool
    }


def _guess(generator: random.Random, n_options: int, n_select: int) -> ChoiceScore:
    """Score a uniform guess; which options are right makes no difference, so let it be the first ones."""
    letters = string.ascii_uppercase[:n_options]
    return score_choice(frozenset(generator.sample(letters, n_select)), frozenset(letters[:n_select]))


def _chance_jaccard(n_options: int, n_select: int) -> float:
    """Average k/(2n-k) over the hypergeometric distribution of k, the number of options hit."""
    return math.fsum(
        math.comb(n_select, hits) * math.comb(n_options - n_select, n_select - hits) * hits / (2 * n_select - hits)
        for hits in range(1, n_select + 1)
    ) / math.comb(n_options, n_select)
