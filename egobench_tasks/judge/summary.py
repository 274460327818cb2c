"""What a run's judgements add up to, and how far two judges agree. Pure arithmetic."""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from egobench_tasks.benchmarks import EGOTEMPO
from egobench_tasks.judge.prompt import JudgeItem
from egobench_tasks.judge.verdict import Judgement, NoVerdict, Verdict
from egobench_tasks.scoring.intervals import wilson_interval

# The share of answers without a verdict above which a score should not be quoted (issue 4).
MAX_UNJUDGED_RATE = 0.02

UNANSWERED = Judgement(Verdict(correct=False, score=0.0, reason="no answer"), None, "")
"""Of a question that the model did not answer: wrong, and nothing to ask a judge."""

LOST = Judgement(None, NoVerdict.LOST, "")
"""Of a question that the model was never asked, or whose answer was lost on the way: neither right nor wrong."""


@dataclass(frozen=True, slots=True)
class JudgeSummary:
    """Scores over the questions that are decided, and how many are not, and why.

    A question is decided where a judge saw the answer and gave a verdict (``judged``), or where the model gave no
    answer (``unanswered``: wrong). Answers without a verdict (``unjudged``) count neither as right nor as wrong
    (PROTOCOL 2); nor do questions that were ``lost``: no clip, a failed request, a shard that is not there. With any of
    those the run is partial.
    """

    judged: int
    correct: int
    score_sum: float
    unjudged: Mapping[NoVerdict, int] = field(default_factory=dict)
    unanswered: int = 0
    lost: int = 0
    without_score: int = 0

    @property
    def decided(self) -> int:
        """The questions that `accuracy` rests on."""
        return self.judged + self.unanswered

    @property
    def answers(self) -> int:
        """What there was for a judge to see."""
        return self.judged + sum(self.unjudged.values())

    @property
    def total(self) -> int:
        """All questions."""
        return self.answers + self.unanswered + self.lost

    @property
    def accuracy(self) -> float:
        """The share of decided questions that are correct, in [0, 1]; NaN where none is."""
        return self.correct / self.decided if self.decided else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """The Wilson 95 % interval of `accuracy`."""
        return wilson_interval(self.correct, self.decided)

    @property
    def mean_score(self) -> float:
        """The judge's mean score over decided questions that have one, in [0, 5]; NaN where none has."""
        n_scored = self.decided - self.without_score
        return self.score_sum / n_scored if n_scored else math.nan

    @property
    def unjudged_rate(self) -> float:
        """The share of answers that have no verdict, in [0, 1]; 0 for no answers."""
        return 1 - self.judged / self.answers if self.answers else 0.0


def summarise(judgements: Iterable[Judgement]) -> JudgeSummary:
    """Add up the judgements of a set of questions."""
    verdicts: list[Verdict] = []
    unjudged: Counter[NoVerdict] = Counter()
    unanswered = lost = 0
    for judgement in judgements:
        if judgement == UNANSWERED:
            unanswered += 1
        elif judgement.verdict is not None:
            verdicts.append(judgement.verdict)
        elif judgement.failure is NoVerdict.LOST:
            lost += 1
        elif judgement.failure is not None:
            unjudged[judgement.failure] += 1
    return JudgeSummary(
        judged=len(verdicts),
        correct=sum(verdict.correct for verdict in verdicts),
        score_sum=math.fsum(verdict.score for verdict in verdicts if verdict.score is not None),
        unjudged=dict(sorted(unjudged.items())),
        unanswered=unanswered,
        lost=lost,
        without_score=sum(verdict.score is None for verdict in verdicts),
    )


def mean_accuracy(summaries: Collection[JudgeSummary]) -> float:
    """Return the mean of the ten categories' accuracies, the benchmark's average (PROTOCOL 2).

    ``summaries`` has one a category. NaN where a category is not there or has nothing decided: a mean over fewer
    categories is another figure.
    """
    if len(summaries) != len(EGOTEMPO.category_codes):
        return math.nan
    return math.fsum(summary.accuracy for summary in summaries) / len(summaries)


def describe(summary: JudgeSummary) -> str:
    """Return one line for people: the accuracy, its interval, what it rests on, and what is missing and why."""
    if not summary.total:
        return "no answers to judge"
    missing = ", ".join(f"{reason} {count}" for reason, count in summary.unjudged.items())
    rests_on = f"{summary.judged} of {summary.answers} answers judged" + (
        f" (no verdict: {missing})" if missing else ""
    )
    if summary.unanswered:
        rests_on += f", {summary.unanswered} questions left unanswered by the model (wrong)"
    if summary.lost:
        rests_on += (
            f"; PARTIAL: {summary.lost} of {summary.total} questions lost (no clip, or a failed request: "
            "neither right nor wrong)"
        )
    if not summary.decided:
        return rests_on
    low, high = summary.interval
    return (
        f"accuracy {summary.accuracy:.1%} (95 % interval {low:.1%} to {high:.1%}), "
        f"mean score {summary.mean_score:.2f} of 5, {rests_on}"
    )


@dataclass(frozen=True, slots=True)
class Disagreement:
    """An answer that one judge calls correct and the other incorrect."""

    item: JudgeItem
    first: Verdict
    second: Verdict


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far two judges agree on the answers that both have judged."""

    compared: int
    both_correct: int
    both_incorrect: int
    disagreements: tuple[Disagreement, ...]

    @property
    def rate(self) -> float:
        """The share of compared answers with equal verdicts, in [0, 1]; NaN where none is compared."""
        return (self.both_correct + self.both_incorrect) / self.compared if self.compared else math.nan

    @property
    def kappa(self) -> float:
        """Cohen's kappa: agreement beyond what the judges' own rates of "correct" would give by chance.

        NaN where nothing is compared, or where both judges say the same of every answer.
        """
        if not self.compared:
            return math.nan
        first_correct = self.both_correct + sum(pair.first.correct for pair in self.disagreements)
        second_correct = self.both_correct + sum(pair.second.correct for pair in self.disagreements)
        n = self.compared
        expected = (first_correct * second_correct + (n - first_correct) * (n - second_correct)) / n**2
        return (self.rate - expected) / (1 - expected) if expected < 1 else math.nan


def agreement(items: Sequence[JudgeItem], first: Sequence[Judgement], second: Sequence[Judgement]) -> Agreement:
    """Compare two judges' judgements of the same items, over those that both have a verdict on."""
    disagreements: list[Disagreement] = []
    equal: Counter[bool] = Counter()
    for item, one, other in zip(items, first, second, strict=True):
        if one.verdict is None or other.verdict is None:
            continue
        if one.verdict.correct == other.verdict.correct:
            equal[one.verdict.correct] += 1
        else:
            disagreements.append(Disagreement(item, one.verdict, other.verdict))
    return Agreement(equal.total() + len(disagreements), equal[True], equal[False], tuple(disagreements))
