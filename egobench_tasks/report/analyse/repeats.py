"""What a score owes to luck: each question answered several times (Miller 2024, arXiv 2411.00640, on resampling)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from egobench_tasks.report.analyse.clusters import Clusters, clusters
from egobench_tasks.report.analyse.consistency import majority_exact
from egobench_tasks.report.analyse.estimates import Estimate, mean, share
from egobench_tasks.report.analyse.overall import QUESTIONS, RUN, SPLIT
from egobench_tasks.report.analyse.statistics import Floats
from egobench_tasks.report.analyse.tables import Column, Kind, Table, table
from egobench_tasks.report.read.choice_results import Results


@dataclass(frozen=True, slots=True)
class Repeats:
    """``repeats`` answers to each question.

    ``expected``: exact of one answer, on average. ``majority``: exact of the most frequent set (sets as frequent count
    in part). ``once``: right at least once. ``alike``: share of questions whose answers are all the same set.
    ``within``: mean variance of right or wrong within a question, unbiased. ``between``: variance of the questions'
    true rates, which is what is left of the whole; 0 where chance alone would give as much.
    """

    repeats: int
    expected: Estimate
    majority: Estimate
    once: Estimate
    alike: Estimate
    within: float
    between: float

    @property
    def within_share(self) -> float:
        """The part of one answer's variance that is luck, in [0, 1]; NaN where all answers score the same."""
        whole = self.within + self.between
        return self.within / whole if whole > 0 else math.nan


def repeats(right: Floats, answers: Sequence[Sequence[str]], found: Clusters) -> Repeats:
    """Return what repeated answers add up to.

    ``right``: 1 or 0, shape (questions, repeats), at least two repeats. ``answers``: the sets answered, alike.
    """
    count = right.shape[1]
    if count < 2:
        raise ValueError("repeats takes at least two answers a question")
    rates = right.mean(axis=1)
    within = float(right.var(axis=1, ddof=1).mean())
    between = float(rates.var(ddof=1)) - within / count if len(rates) > 1 else math.nan
    majority = np.array([majority_exact(row, exact) for row, exact in zip(answers, right, strict=True)])
    alike = np.array([len(set(row)) == 1 for row in answers], dtype=np.float64)
    return Repeats(
        repeats=count,
        expected=mean(rates, found),
        majority=mean(majority, found),
        once=share(right.max(axis=1), found),
        alike=share(alike, found),
        within=within,
        between=max(0.0, between),
    )


def repeats_table(results: Results) -> Table:
    """A row a run and split that was answered several times."""
    rows = []
    for (run, config), members in results.repeated.groupby(["run", "config"], sort=False):
        one = of_outcomes(members)
        if one is None:
            continue
        row: dict[str, Any] = {"run": run, "config": config, "repeats": one.repeats}
        for name in ("expected", "majority", "once", "alike"):
            estimate = getattr(one, name)
            row |= {name: estimate.value, f"{name}_low": estimate.low, f"{name}_high": estimate.high}
        row |= {"within": one.within, "between": one.between, "within_share": one.within_share}
        rows.append(row | {"questions": one.expected.error.questions})
    columns = [
        RUN,
        SPLIT,
        Column("repeats", "Answers a question", Kind.COUNT),
        Column("expected", "Expected exact %", Kind.PERCENT, 2, low="expected_low", high="expected_high"),
        Column("majority", "Exact of the majority %", Kind.PERCENT, 2, low="majority_low", high="majority_high"),
        Column("once", "Exact at least once %", Kind.PERCENT, 2, low="once_low", high="once_high"),
        Column("alike", "Always alike %", Kind.PERCENT, low="alike_low", high="alike_high"),
        Column("within", "Variance within questions", Kind.RATIO, 4),
        Column("between", "Variance between questions", Kind.RATIO, 4),
        Column("within_share", "Of it within %", Kind.PERCENT),
        QUESTIONS,
    ]
    note = (
        "Each question answered several times. Expected: of one answer, on average; at least once: in any of them. "
        "Within: luck of the draw, which more answers a question average out; between: questions differ, which only "
        "more questions do. Clustered 95 % intervals."
    )
    return table("repeats", "Repeated answers", note, columns, rows)


def of_outcomes(members: Any) -> Repeats | None:
    """Return one run's and split's repeats from its rows of `Results.repeated`; None where one alone is whole."""
    right = members.pivot(index="question_id", columns="repeat", values="exact_set")
    answers = members.pivot(index="question_id", columns="repeat", values="predicted").loc[right.index]
    if right.shape[1] < 2:
        return None
    of_question = members.drop_duplicates("question_id").set_index("question_id")["cluster"].loc[right.index]
    return repeats(right.to_numpy(dtype=np.float64), answers.to_numpy().tolist(), clusters(of_question))
