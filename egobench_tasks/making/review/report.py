"""How reviewers agree, and where they do not, for a terminal."""

import math
from collections.abc import Mapping

from rich.table import Table

from egobench_tasks.making.review.agreement import Label, cohen_kappas, fleiss_kappa, krippendorff_alpha
from egobench_tasks.making.review.decision import Decision
from egobench_tasks.making.review.settle import disputed, rule
from egobench_tasks.making.review.state import NO_OPINION, Opinions


def ratings_of(reviews: Mapping[str, Opinions]) -> Mapping[str, list[list[Label]]]:
    """Return what can be compared, a row a unit and a column a reviewer: decisions by question, marks by option.

    Decisions given as a third were made in sight of the others' and do not count.
    """
    question_ids = sorted({question_id for opinions in reviews.values() for question_id in opinions})
    opinions = {one: [by_id.get(one, NO_OPINION) for by_id in reviews.values()] for one in question_ids}
    decisions: list[list[Label]] = [
        [one.decision.action if one.decision else None for one in row] for row in opinions.values()
    ]
    marks: list[list[Label]] = [
        [one.marks.get(option) for one in row]
        for row in opinions.values()
        for option in sorted({option for one in row for option in one.marks})
    ]
    return {"decisions": decisions, "marks": marks}


def agreement_table(reviews: Mapping[str, Opinions]) -> Table:
    """Cohen's kappa of every two, Fleiss' over all, Krippendorff's alpha over whatever there is."""
    people = list(reviews)
    table = Table("", "units", "alpha (Krippendorff)", "kappa (Fleiss)", "kappa (Cohen), by pair", title="Agreement")
    for name, ratings in ratings_of(reviews).items():
        shared = [row for row in ratings if sum(label is not None for label in row) > 1]
        pairs = cohen_kappas(people, ratings)
        table.add_row(
            name,
            f"{len(shared):,}",
            _figure(krippendorff_alpha(ratings)),
            _figure(fleiss_kappa(ratings)),
            "; ".join(f"{one}, {two}: {_figure(kappa)}" for (one, two), kappa in pairs.items()) or "–",
        )
    return table


def disputes_table(reviews: Mapping[str, Opinions]) -> Table:
    """The questions that wait for a third, and what each reviewer decided."""
    question_ids = sorted({question_id for opinions in reviews.values() for question_id in opinions})
    waiting = disputed(rule(question_ids, reviews))
    table = Table("question", *reviews, title=f"{len(waiting)} in dispute")
    for one in waiting:
        table.add_row(one.question_id, *(_decided(one.parties, reviewer) for reviewer in reviews))
    return table


def _decided(parties: Mapping[str, Decision], reviewer: str) -> str:
    decision = parties.get(reviewer)
    if decision is None:
        return "–"
    return ", ".join(filter(None, (decision.action, decision.reason.replace("_", " "))))


def _figure(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.3f}"
