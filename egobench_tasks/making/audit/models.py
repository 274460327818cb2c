"""From what models said to findings and figures: which questions are guessable, solvable from one frame, suspect."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

from egobench_tasks.making.audit.asked import AskedAll, Reply, SeenOption
from egobench_tasks.making.audit.finding import Finding, Rule
from egobench_tasks.making.audit.question import AuditedQuestion, letter_of
from egobench_tasks.making.audit.views import View
from egobench_tasks.making.seen import Seen
from egobench_tasks.scoring.intervals import wilson_interval

BY_CHANCE = 0.05
"""A view counts as enough to answer a question where guessing would be right so often less likely than this."""

_RULE_OF = {
    View.WORDS: Rule.GUESSABLE,
    View.OPTIONS: Rule.GUESSABLE_FROM_OPTIONS,
    View.ONE_FRAME: Rule.ONE_FRAME,
}


@dataclass(frozen=True, slots=True)
class ViewFigure:
    """One model in one view: right of those answered, the Wilson interval, and what guessing scores. NaN for none."""

    model: str
    view: View
    right: int
    total: int
    low: float
    high: float
    chance: float

    @property
    def accuracy(self) -> float:
        """Share of right answers."""
        return self.right / self.total if self.total else math.nan


def audit_replies(questions: Sequence[AuditedQuestion], said: AskedAll) -> list[Finding]:
    """Return the findings that models' replies give rise to, in the order of the questions."""
    by_question: dict[str, list[Reply]] = defaultdict(list)
    for reply in said.replies:
        by_question[reply.question_id].append(reply)
    seen: dict[tuple[str, int], list[SeenOption]] = defaultdict(list)
    for one in said.seen:
        seen[one.question_id, one.option].append(one)
    return [
        finding
        for question in questions
        for finding in (
            *_without_sight(question, by_question[question.question_id]),
            *_against_gold(question, by_question[question.question_id]),
            *_against_options(question, seen),
        )
    ]


def view_figures(said: AskedAll) -> list[ViewFigure]:
    """Return every model's accuracy in every view, in the order of `View`."""
    groups: dict[tuple[str, View], list[Reply]] = defaultdict(list)
    for reply in said.replies:
        if reply.right is not None:
            groups[reply.model, reply.view].append(reply)
    order = list(View)
    figures = []
    for (model, view), replies in sorted(groups.items(), key=lambda item: (item[0][0], order.index(item[0][1]))):
        right = sum(bool(reply.right) for reply in replies)
        low, high = wilson_interval(right, len(replies))
        chance = math.fsum(reply.chance for reply in replies) / len(replies)
        figures.append(ViewFigure(model, view, right, len(replies), low, high, chance))
    return figures


def frame_to_video(figures: Iterable[ViewFigure]) -> dict[str, float]:
    """Return by model how many times better it does on all frames than on one (EgoTempo, table 1); NaN for 0 on one."""
    accuracy = {(figure.model, figure.view): figure.accuracy for figure in figures}
    return {
        model: accuracy[model, View.FULL] / one if (one := accuracy.get((model, View.ONE_FRAME), 0.0)) else math.nan
        for model, view in accuracy
        if view is View.FULL
    }


def chance_of(n_right: int, n_asked: int, chance: float) -> float:
    """Return the probability that ``n_asked`` guesses, each right with ``chance``, give ``n_right`` or more."""
    return math.fsum(
        math.comb(n_asked, k) * chance**k * (1 - chance) ** (n_asked - k) for k in range(n_right, n_asked + 1)
    )


def _without_sight(question: AuditedQuestion, replies: Sequence[Reply]) -> Iterator[Finding]:
    """At most one finding: of the poorest view that is enough."""
    for view, rule in _RULE_OF.items():
        able = {}
        for model, own in _by_model(replies, view).items():
            judged = [reply for reply in own if reply.right is not None]
            right = sum(bool(reply.right) for reply in judged)
            # Repeats of one model are no independent guesses: it must be right each time.
            if judged and right == len(judged) and chance_of(right, len(judged), judged[0].chance) < BY_CHANCE:
                able[model] = right
        if able:
            who = ", ".join(f"{model} ({times} of {times})" for model, times in able.items())
            yield Finding(question.question_id, rule, f"answered right by {who}", (), {"right": able})
            return


def _against_gold(question: AuditedQuestion, replies: Sequence[Reply]) -> Iterator[Finding]:
    """Of several models on all frames: none is right; if they agree among themselves, the gold is suspect."""
    full = _by_model(replies, View.FULL)
    if len(full) < 2 or any(reply.right is not False for own in full.values() for reply in own):
        return
    usual = {model: usual_answer(own) for model, own in full.items()}
    said = set(usual.values())
    if len(said) == 1 and (answer := said.pop()):
        message = f"all models answer {answer!r}, the gold is {question.gold!r}"
        yield Finding(question.question_id, Rule.SUSPECT_GOLD, message, (), {"answers": usual})
    else:
        yield Finding(question.question_id, Rule.NEVER_RIGHT, "no model is right", (), {"answers": usual})


def _against_options(
    question: AuditedQuestion, seen: Mapping[tuple[str, int], Sequence[SeenOption]]
) -> Iterator[Finding]:
    """Options that most models, and two at least, see otherwise than the gold says."""
    against: dict[str, dict[str, str]] = {}
    for index in range(len(question.options)):
        other = Seen.CONTRADICTED if index in question.right else Seen.SUPPORTED
        said = seen.get((question.question_id, index), ())
        opposed = {one.model: other.value for one in said if one.seen is other}
        if len(opposed) >= 2 and 2 * len(opposed) > len(said):
            against[letter_of(index)] = opposed
    if against:
        who = "; ".join(f"{letter} by {', '.join(models)}" for letter, models in against.items())
        message = f"options seen otherwise than the gold {question.gold}: {who}"
        yield Finding(question.question_id, Rule.OPTION_CONTRADICTED, message, (), {"options": against})


def _by_model(replies: Iterable[Reply], view: View) -> dict[str, list[Reply]]:
    found: dict[str, list[Reply]] = defaultdict(list)
    for reply in replies:
        if reply.view is view:
            found[reply.model].append(reply)
    return found


def usual_answer(replies: Sequence[Reply]) -> str:
    """Return a model's commonest answer; of several, the first it gave."""
    return Counter(reply.said for reply in replies).most_common(1)[0][0]


def longest_right_rate(questions: Iterable[AuditedQuestion]) -> tuple[int, int, float, float]:
    """Return how often the one right option is the longest, of how many questions, what chance gives, and a p-value.

    The p-value is two-sided, by the normal approximation of the Poisson binomial.
    """
    hits, expected, variance, total = 0, 0.0, 0.0, 0
    for question in questions:
        if len(question.right) != 1:
            continue
        lengths = [len(text) for text in question.options]
        longest = [index for index, length in enumerate(lengths) if length == max(lengths)]
        if len(longest) > 1:
            continue
        total += 1
        hits += longest[0] in question.right
        share = 1 / len(lengths)
        expected += share
        variance += share * (1 - share)
    if not variance:
        return hits, total, math.nan, math.nan
    p_value = 2 * (1 - NormalDist().cdf(abs(hits - expected) / math.sqrt(variance)))
    return hits, total, expected / total, p_value
