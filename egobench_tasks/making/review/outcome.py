"""What becomes of each question once the reviews are in, by an explicit rule; and what the rule did. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from egobench_tasks.errors import InputError
from egobench_tasks.making.review.decision import Content, Reason, Span
from egobench_tasks.making.review.settle import Ruling, Standing, Status, rule, status_of
from egobench_tasks.making.review.state import Opinions


class Rest(StrEnum):
    """What becomes of a question on which nothing holds."""

    KEEP = "keep"
    DROP = "drop"


@dataclass(frozen=True, slots=True)
class Rule:
    """``at_least``: how many reviewers must have decided. ``undecided``: of questions with fewer; ``unsettled``: of
    those in dispute (EgoGears removes them, 3.2). What is kept so keeps its words and the status that it had."""

    at_least: int = 1
    undecided: Rest = Rest.KEEP
    unsettled: Rest = Rest.DROP


@dataclass(frozen=True, slots=True)
class Outcome:
    """One question's. ``status`` None: no person decided, the row stays as it was. ``content``: the repaired one, None
    where it stays. ``because``: what dropped it, a tag."""

    question_id: str
    standing: Standing
    status: Status | None
    content: Content | None = None
    evidence: Span | None = None
    because: str = ""

    @property
    def is_dropped(self) -> bool:
        """Whether the new release leaves the question out."""
        return self.status is Status.DROPPED


def outcomes(shown: Mapping[str, Content], reviews: Mapping[str, Opinions], how: Rule) -> list[Outcome]:
    """Return what becomes of every question of a dataset, in its order; ``shown`` is their content by id.

    Raises ``InputError`` naming questions that were reviewed and are not there, or had other words then.
    """
    check_same_questions(shown, reviews)
    return [_outcome(one, shown[one.question_id], how) for one in rule(shown, reviews, how.at_least)]


def check_same_questions(shown: Mapping[str, Content], reviews: Mapping[str, Opinions]) -> None:
    """Raise ``InputError`` where something was said of a question that is not there, or had other words."""
    digests = {question_id: content.digest for question_id, content in shown.items()}
    said = ((question_id, one.shown) for opinions in reviews.values() for question_id, one in opinions.items())
    strange = sorted({question_id for question_id, found in said if set(found) != {digests.get(question_id)}})
    if strange:
        named = ", ".join(strange[:3]) + (f", … ({len(strange)} in all)" if len(strange) > 3 else "")
        raise InputError(
            f"the reviews are of another dataset: {named} not, or not in the same words and with the same answer, in "
            "this one; give the dataset that was reviewed, or another folder of reviews"
        )


def _outcome(ruling: Ruling, shown: Content, how: Rule) -> Outcome:
    decision = ruling.decision
    if decision is None:
        rest = how.unsettled if ruling.standing is Standing.DISPUTED else how.undecided
        nothing = Outcome(ruling.question_id, ruling.standing, None)
        return nothing if rest is Rest.KEEP else replace(nothing, status=Status.DROPPED, because=ruling.standing.value)
    status = status_of(decision, shown)
    because = decision.reason.value if status is Status.DROPPED or decision.reason is not Reason.NONE else ""
    return Outcome(ruling.question_id, ruling.standing, status, decision.content, decision.evidence, because)
