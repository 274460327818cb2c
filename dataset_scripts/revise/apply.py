"""`egobench review apply`: read the reviews, rule on every question, write the new release, whole or not at all."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dataset_scripts.repository.raw_files import appearing_whole, write_json
from dataset_scripts.revise import egogears, egotempo
from egobench_tasks.benchmarks import EGOGEARS
from egobench_tasks.data import DatasetLocation, pin
from egobench_tasks.errors import InputError
from egobench_tasks.making.review.agreement import fleiss_kappa, krippendorff_alpha
from egobench_tasks.making.review.contents import load_contents
from egobench_tasks.making.review.folder import read_reviews
from egobench_tasks.making.review.outcome import Outcome, Rule, outcomes
from egobench_tasks.making.review.report import ratings_of
from egobench_tasks.making.review.settle import Standing

REPORT_FILE = "review.json"
_NAMED = 10


@dataclass(frozen=True, slots=True)
class Applied:
    """What became of the questions, by an explicit rule. ``agreement``: None where it is not defined."""

    rule: Rule
    outcomes: Sequence[Outcome]
    n_reviewers: int
    agreement: Mapping[str, Mapping[str, float | None]]
    out: Path

    @property
    def n_kept(self) -> int:
        """How many questions the new release has."""
        return sum(not one.is_dropped for one in self.outcomes)

    def of(self, standing: Standing) -> list[str]:
        """Return the ids of the questions that stand so."""
        return [one.question_id for one in self.outcomes if one.standing is standing]

    def as_json(self) -> dict[str, Any]:
        """Return what stands beside the release: no reviewer, not even by id."""
        return {
            "rule": asdict(self.rule),
            "reviewers": self.n_reviewers,
            "agreement": self.agreement,
            "statuses": dict(sorted(Counter(_status(one) for one in self.outcomes).items())),
            **{standing.value: self.of(standing) for standing in Standing},
            "dropped": [one.question_id for one in self.outcomes if one.is_dropped],
        }

    def __str__(self) -> str:
        counts = Counter(_status(one) for one in self.outcomes)
        lines = [
            f"{self.n_kept} of {len(self.outcomes)} questions kept: "
            + ", ".join(f"{count} {name}" for name, count in sorted(counts.items())),
            *self._rest(Standing.UNDECIDED, "without enough reviewers", self.rule.undecided),
            *self._rest(Standing.DISPUTED, "in dispute", self.rule.unsettled),
            f"written to {self.out}",
        ]
        return "\n".join(lines)

    def _rest(self, standing: Standing, what: str, rule: str) -> list[str]:
        ids = self.of(standing)
        more = ", …" if len(ids) > _NAMED else ""
        did = "kept as they were" if rule == "keep" else "dropped"
        return [f"{len(ids)} {what}, {did}: {', '.join(ids[:_NAMED])}{more}"] if ids else []


def _status(outcome: Outcome) -> str:
    return "as it was" if outcome.status is None else outcome.status.value


def apply_reviews(location: DatasetLocation, decisions: Path, release: Path, out: Path, rule: Rule) -> Applied:
    """Write the release ``out`` that ``release`` becomes by the reviews of ``location`` in the folder ``decisions``.

    Raises ``InputError`` where ``out`` exists, for reviews of other questions, and for another release than the one
    that the dataset was built from; nothing is then written.
    """
    if out.exists():
        raise InputError(f"{out}: is there already; name a folder that is not")
    reviews = read_reviews(decisions)
    benchmark, configs, shown = load_contents(pin(location))
    found = {one.question_id: one for one in outcomes(shown, reviews, rule)}
    agreement = {
        name: {
            "krippendorff_alpha": _known(krippendorff_alpha(ratings)),
            "fleiss_kappa": _known(fleiss_kappa(ratings)),
        }
        for name, ratings in ratings_of(reviews).items()
    }
    applied = Applied(rule, list(found.values()), len(reviews), agreement, out)
    with appearing_whole(out) as building:
        if benchmark is EGOGEARS:
            egogears.revise(release, building, configs, shown, found)
        else:
            egotempo.revise(release, building, shown, found)
        write_json(building / REPORT_FILE, applied.as_json())
    return applied


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value
