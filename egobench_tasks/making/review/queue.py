"""In which order a reviewer comes to the questions: all of them, or those on which others differ. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from egobench_tasks.making.review.settle import Ruling, disputed, rule
from egobench_tasks.making.review.state import NO_OPINION, Opinions

ALL, DISPUTES = "all", "disputes"


@dataclass(frozen=True, slots=True)
class Queue:
    """``undecided``: those of ``ids`` that still wait for this reviewer. ``waiting``: the disputes among others on
    which this reviewer has no decision of their own, whichever queue this is."""

    name: str
    ids: Sequence[str]
    undecided: frozenset[str]
    waiting: Mapping[str, Ruling]

    @property
    def is_disputes(self) -> bool:
        """Whether this is the third's queue."""
        return self.name == DISPUTES

    def place(self, question_id: str) -> int:
        """Return a question's number from 1; 0 where it is not in the queue."""
        return self.ids.index(question_id) + 1 if question_id in self.ids else 0

    def after(self, question_id: str, step: int = 1) -> str:
        """Return the next question, or with ``step`` -1 the one before, round the queue's end."""
        if question_id not in self.ids:
            return self.ids[0] if self.ids else question_id
        return self.ids[(self.ids.index(question_id) + step) % len(self.ids)]

    def undecided_after(self, question_id: str) -> str:
        """Return the next question that is undecided; the next one where none is."""
        start = self.place(question_id)
        return next(
            (one for one in [*self.ids[start:], *self.ids[:start]] if one in self.undecided), self.after(question_id)
        )


def make_queue(name: str, ids: Sequence[str], own: Opinions, others: Mapping[str, Opinions]) -> Queue:
    """Return a reviewer's queue; any name but `DISPUTES` is all. A third's queue keeps what they have settled."""
    decided = {question_id for question_id in ids if own.get(question_id, NO_OPINION).decision is not None}
    found = disputed(rule((one for one in ids if one not in decided), others))
    settled = {question_id for question_id in ids if own.get(question_id, NO_OPINION).settlement is not None}
    waiting = {one.question_id: one for one in found}
    if name != DISPUTES:
        return Queue(ALL, ids, frozenset(ids) - decided, waiting)
    kept = [one for one in ids if one in waiting or one in settled]
    holds = {ruling.question_id for ruling in rule(waiting, {**others, "": own}) if ruling.decision is not None}
    return Queue(DISPUTES, kept, frozenset(waiting) - holds, waiting)
