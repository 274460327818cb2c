"""Several judges of the same answers: how far they agree, what each makes of the run, and where a person must look.

A judge's verdicts are a mapping from question id to correct, incorrect, or None for no verdict; questions that a judge
has no entry for have none either. The same judge at two dates is two of them: what changed is drift.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from egobench_tasks.report.analyse.clusters import Clusters, clusters
from egobench_tasks.report.analyse.estimates import Estimate, paired_difference, share, sign_flip
from egobench_tasks.report.analyse.overall import RUN
from egobench_tasks.report.analyse.power import smallest_seen
from egobench_tasks.report.analyse.statistics import Floats, holm
from egobench_tasks.report.analyse.tables import Column, Kind, Table, table
from egobench_tasks.report.read.open_results import JudgedSetting

Verdicts = Mapping[str, bool | None]
Judges = Mapping[str, Verdicts]

_SETTING = Column("setting", "Setting", Kind.TEXT)
_JUDGE = Column("judge", "Judge", Kind.TEXT)
_JUDGED = Column("judged", "Judged", Kind.COUNT)
MAJORITY = "majority of the judges"


@dataclass(frozen=True, slots=True)
class PairOfJudges:
    """Two judges on the answers that both have judged.

    ``second_only``: correct to the second judge alone. ``difference``: the second's accuracy less the first's.
    ``kappa``: Cohen's; NaN where nothing is compared, or both say the same of every answer. ``p_value``: sign flip.
    """

    first: str
    second: str
    both_correct: int
    first_only: int
    second_only: int
    both_incorrect: int
    difference: Estimate
    p_value: float

    @property
    def compared(self) -> int:
        """How many answers both have judged."""
        return self.both_correct + self.first_only + self.second_only + self.both_incorrect

    @property
    def agreement(self) -> float:
        """The share of equal verdicts, in [0, 1]; NaN where nothing is compared."""
        return (self.both_correct + self.both_incorrect) / self.compared if self.compared else math.nan

    @property
    def kappa(self) -> float:
        """Cohen's kappa, agreement beyond what the two rates of "correct" would give by chance."""
        n = self.compared
        if not n:
            return math.nan
        one, two = self.both_correct + self.first_only, self.both_correct + self.second_only
        expected = (one * two + (n - one) * (n - two)) / n**2
        return (self.agreement - expected) / (1 - expected) if expected < 1 else math.nan


def compare_judges(judges: Judges, cluster_of: Mapping[str, int | str]) -> list[PairOfJudges]:
    """Return every two judges, in the order given. ``cluster_of`` gives each question's cluster."""
    return [_pair(judges, one, other, cluster_of) for one, other in combinations(judges, 2)]


def _pair(judges: Judges, one: str, other: str, cluster_of: Mapping[str, int | str]) -> PairOfJudges:
    first, second = judges[one], judges[other]
    shared = [key for key, verdict in first.items() if verdict is not None and second.get(key) is not None]
    a, b = (np.array([bool(side[key]) for key in shared], dtype=bool) for side in (first, second))
    found = _clusters(shared, cluster_of)
    return PairOfJudges(
        first=one,
        second=other,
        both_correct=int((a & b).sum()),
        first_only=int((a & ~b).sum()),
        second_only=int((~a & b).sum()),
        both_incorrect=int((~a & ~b).sum()),
        difference=paired_difference(a.astype(float), b.astype(float), found),
        p_value=sign_flip(b.astype(float) - a.astype(float), found),
    )


def majority(judges: Judges) -> dict[str, bool | None]:
    """Return what more than half of those judges say that have a verdict; None for a draw and for no verdict."""
    found: dict[str, bool | None] = {}
    for question_id in dict.fromkeys(key for verdicts in judges.values() for key in verdicts):
        votes = [verdicts[question_id] for verdicts in judges.values() if verdicts.get(question_id) is not None]
        correct = sum(bool(vote) for vote in votes)
        found[question_id] = None if 2 * correct == len(votes) else 2 * correct > len(votes)
    return found


def differing(judges: Judges) -> list[str]:
    """Return the questions on which two judges have opposite verdicts, in the order of the first that names them."""
    questions = dict.fromkeys(key for verdicts in judges.values() for key in verdicts)
    return [key for key in questions if {verdicts.get(key) for verdicts in judges.values()} >= {True, False}]


def accuracy_table(settings: Sequence[JudgedSetting]) -> Table:
    """Accuracy of each run and setting under each judge, and under the majority of several."""
    rows = []
    for one in settings:
        sides: dict[str, Verdicts] = dict(one.verdicts)
        if len(sides) > 2:
            sides[MAJORITY] = majority(one.verdicts)
        of_run = {"run": one.run, "setting": one.setting}
        rows += [{**of_run, "judge": name, **_accuracy(verdicts, one.videos)} for name, verdicts in sides.items()]
    columns = [
        RUN,
        _SETTING,
        _JUDGE,
        Column("accuracy", "Accuracy %", Kind.PERCENT, low="low", high="high"),
        _JUDGED,
        Column("unjudged", "No verdict", Kind.COUNT),
    ]
    note = "Over the answers that the judge has a verdict on; clustered 95 % intervals. A draw of judges is no verdict."
    return table("judges", "Accuracy under each judge", note, columns, rows)


def _accuracy(verdicts: Verdicts, cluster_of: Mapping[str, int | str]) -> dict[str, Any]:
    judged = [key for key, verdict in verdicts.items() if verdict is not None]
    estimate = share(_ones(verdicts, judged), _clusters(judged, cluster_of))
    counts = {"judged": len(judged), "unjudged": len(verdicts) - len(judged)}
    return {"accuracy": estimate.value, "low": estimate.low, "high": estimate.high, **counts}


def pairs_table(settings: Sequence[JudgedSetting]) -> Table:
    """Every two judges: kappa, and the difference it makes to the accuracy. Judges of two dates: drift."""
    rows: list[dict[str, Any]] = []
    pairs = [(one, pair) for one in settings for pair in compare_judges(one.verdicts, one.videos)]
    for (one, pair), adjusted in zip(pairs, holm([pair.p_value for _, pair in pairs]), strict=True):
        row: dict[str, Any] = {"run": one.run, "setting": one.setting, "first": pair.first, "second": pair.second}
        row["compared"] = pair.compared
        row |= {"agreement": pair.agreement, "kappa": pair.kappa, "first_only": pair.first_only}
        row |= {"second_only": pair.second_only, "difference": pair.difference.value}
        row |= {"low": pair.difference.low, "high": pair.difference.high, "smallest": _smallest(pair)}
        rows.append(row | {"p_value": pair.p_value, "p_holm": adjusted})
    columns = [
        RUN,
        _SETTING,
        Column("first", "First judge", Kind.TEXT),
        Column("second", "Second judge", Kind.TEXT),
        Column("compared", "Both judged", Kind.COUNT),
        Column("agreement", "Agree %", Kind.PERCENT),
        Column("kappa", "Cohen's kappa", Kind.RATIO, 2),
        Column("first_only", "Correct to the first alone", Kind.COUNT),
        Column("second_only", "Correct to the second alone", Kind.COUNT),
        Column("difference", "Accuracy, second less first (points)", Kind.POINTS, low="low", high="high"),
        Column("smallest", "Would have shown (points)", Kind.PERCENT),
        Column("p_value", "Sign flip p", Kind.P_VALUE),
        Column("p_holm", "p, Holm", Kind.P_VALUE),
    ]
    note = (
        "Over the answers that both have judged; clustered 95 % interval of the difference, sign-flip test over "
        "clusters. The same judge at two dates: its drift."
    )
    return table("judge_pairs", "Judges against each other", note, columns, rows)


def _smallest(pair: PairOfJudges) -> float:
    if not pair.compared:
        return math.nan
    return smallest_seen(pair.difference.error, (pair.first_only + pair.second_only) / pair.compared)


def differing_table(settings: Sequence[JudgedSetting]) -> Table:
    """The answers on which judges differ, those most evenly split first, for a person to decide."""
    rows: list[dict[str, Any]] = []
    for one in settings:
        for question_id in differing(one.verdicts):
            votes = {name: verdicts.get(question_id) for name, verdicts in one.verdicts.items()}
            correct = [name for name, vote in votes.items() if vote]
            incorrect = [name for name, vote in votes.items() if vote is False]
            row: dict[str, Any] = {"run": one.run, "setting": one.setting, "question_id": question_id}
            row |= {"correct": ", ".join(correct), "incorrect": ", ".join(incorrect)}
            rows.append(row | {"majority_of": abs(len(correct) - len(incorrect))})
    rows.sort(key=lambda row: row["majority_of"])
    columns = [
        RUN,
        _SETTING,
        Column("question_id", "Question", Kind.QUESTION),
        Column("correct", "Correct to", Kind.TEXT),
        Column("incorrect", "Incorrect to", Kind.TEXT),
    ]
    note = "For a person to decide; the most evenly split first."
    return table("judges_differ", "Answers on which judges differ", note, columns, rows)


def _ones(verdicts: Verdicts, judged: Sequence[str]) -> Floats:
    return np.array([bool(verdicts[key]) for key in judged], dtype=np.float64)


def _clusters(question_ids: Sequence[str], cluster_of: Mapping[str, int | str]) -> Clusters:
    return clusters([str(cluster_of.get(key, f"alone {key}")) for key in question_ids])
