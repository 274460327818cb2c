"""What one reviewer has said so far, question by question: their records played back. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from egobench_tasks.making.review.decision import Content, Decision, Mark, OwnAnswer, Revealed, Said, TakenBack
from egobench_tasks.making.seen import Seen
from egobench_tasks.making.undo import without_last


@dataclass(frozen=True, slots=True)
class Opinion:
    """One reviewer on one question. ``decision`` is their own, ``settlement`` the one they gave as a third.

    ``marks``: by option, in the dataset's letters. ``revealed``: whether they have seen the gold. ``shown``: the
    digests of what was asked when they said something; one, unless the question was changed meanwhile.
    ``before``: what it was before the last thing that can be taken back.
    """

    marks: Mapping[str, Seen] = field(default_factory=dict)
    own_answer: str = ""
    revealed: bool = False
    decision: Decision | None = None
    settlement: Decision | None = None
    shown: frozenset[str] = frozenset()
    before: "Opinion | None" = field(default=None, compare=False, repr=False)

    @property
    def last(self) -> Decision | None:
        """The decision that a page shows as theirs."""
        return self.settlement or self.decision


NO_OPINION = Opinion()
Opinions = Mapping[str, Opinion]
"""A reviewer's, by question id."""


def after(opinion: Opinion, said: Said) -> Opinion:
    """Return an opinion after one more thing was said."""
    opinion = replace(opinion, shown=opinion.shown | {said.shown})
    match said:
        case Mark():
            return replace(opinion, marks={**opinion.marks, said.option: said.seen}, before=opinion)
        case OwnAnswer():
            return replace(opinion, own_answer=said.text, before=opinion)
        case Revealed():  # what was said without the gold stays
            return replace(opinion, revealed=True, before=None)
        case TakenBack():
            return opinion if opinion.before is None else replace(opinion.before, shown=opinion.shown)
        case Decision():
            if said.settles:
                return replace(opinion, settlement=said, before=opinion)
            return replace(opinion, decision=said, before=opinion)


def to_take_back(question_ids: Sequence[str], said: Said) -> tuple[str, ...]:
    """Return the questions of which something can be taken back, in the order it was said, after one more thing."""
    match said:
        case Revealed():
            return tuple(one for one in question_ids if one != said.question_id)
        case TakenBack():
            return without_last(question_ids, lambda one: one == said.question_id)
    return (*question_ids, said.question_id)


def replay(records: Iterable[Said]) -> dict[str, Opinion]:
    """Play one reviewer's records back, in the order written."""
    opinions: dict[str, Opinion] = {}
    for said in records:
        opinions[said.question_id] = after(opinions.get(said.question_id, NO_OPINION), said)
    return opinions


def against_marks(content: Content, marks: Mapping[str, Seen]) -> list[str]:
    """Return the options whose marks speak against an answer: right ones contradicted, wrong ones supported."""
    return sorted(
        option
        for option, seen in marks.items()
        if (seen is Seen.CONTRADICTED and (option in content.answer or not content.options))
        or (seen is Seen.SUPPORTED and content.options and option not in content.answer)
    )
