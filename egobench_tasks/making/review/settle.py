"""Where reviewers stand on a question together: undecided, agreed, settled by a third, or in dispute. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from egobench_tasks.making.review.decision import Action, Content, Decision
from egobench_tasks.making.review.state import NO_OPINION, Opinions


class Standing(StrEnum):
    """Where a question stands."""

    UNDECIDED = "undecided"
    AGREED = "agreed"
    SETTLED = "settled"
    DISPUTED = "disputed"


@dataclass(frozen=True, slots=True)
class Ruling:
    """``decision``: the one that holds, None where none does. ``parties``: the independent decisions, by reviewer."""

    question_id: str
    standing: Standing
    decision: Decision | None
    parties: Mapping[str, Decision]


def rule(question_ids: Iterable[str], reviews: Mapping[str, Opinions], at_least: int = 1) -> list[Ruling]:
    """Return where each question stands, in the order given.

    Independent decisions that come to the same agree, where there are ``at_least`` so many. Where they differ, the
    decision of a third holds who had exactly these before them; once a party decides anew, it no longer does. Of
    several thirds', the last one's by time.
    """
    return [_ruling(question_id, reviews, at_least) for question_id in question_ids]


def disputed(rulings: Iterable[Ruling]) -> list[Ruling]:
    """Return those that wait for a third."""
    return [ruling for ruling in rulings if ruling.standing is Standing.DISPUTED]


def _ruling(question_id: str, reviews: Mapping[str, Opinions], at_least: int) -> Ruling:
    opinions = {reviewer: reviews[reviewer].get(question_id, NO_OPINION) for reviewer in sorted(reviews)}
    parties = {reviewer: one.decision for reviewer, one in opinions.items() if one.decision is not None}
    if len(parties) < at_least or not parties:
        return Ruling(question_id, Standing.UNDECIDED, None, parties)
    first, *others = parties.values()
    if all(alike(first, other) for other in others):
        return Ruling(question_id, Standing.AGREED, first, parties)
    keys = keys_of(parties)
    thirds = [one.settlement for one in opinions.values() if one.settlement and dict(one.settlement.settles) == keys]
    if not thirds:
        return Ruling(question_id, Standing.DISPUTED, None, parties)
    return Ruling(question_id, Standing.SETTLED, max(thirds, key=lambda one: (one.when_utc, one.reviewer)), parties)


def keys_of(parties: Mapping[str, Decision]) -> dict[str, str]:
    """Return what a settlement of these decisions names in `Decision.settles`."""
    return {reviewer: decision.key for reviewer, decision in parties.items()}


def alike(first: Decision, second: Decision) -> bool:
    """Whether two decisions come to the same: repairs to the same words and answer, evidence that overlaps.

    Reasons and notes may differ.
    """
    if first.action is not second.action:
        return False
    if first.action is not Action.REPAIR:
        return True
    if first.content != second.content:
        return False
    if first.evidence is None or second.evidence is None:
        return first.evidence == second.evidence
    return first.evidence.overlaps(second.evidence)


class Status(StrEnum):
    """What upstream's rows say of themselves (PROTOCOL 1.1)."""

    CONFIRMED = "confirmed"
    REPAIRED = "repaired"
    REKEYED = "rekeyed"
    DROPPED = "dropped"


def status_of(decision: Decision, shown: Content) -> Status:
    """Return a decided question's status; ``rekeyed`` is one of which the answer alone was changed."""
    if decision.action is Action.CONFIRM:
        return Status.CONFIRMED
    if decision.action is Action.DROP:
        return Status.DROPPED
    new = decision.content or shown
    same_words = (new.question, new.options) == (shown.question, shown.options)
    return Status.REKEYED if same_words and new.answer != shown.answer else Status.REPAIRED
