"""Before a run: how many questions and repeats it takes to show a difference (`egobench power`)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from egobench_tasks.errors import InputError
from egobench_tasks.report.analyse.clusters import clusters
from egobench_tasks.report.analyse.estimates import correlation, paired_difference
from egobench_tasks.report.analyse.power import Design, design_effect, power, smallest_difference
from egobench_tasks.report.analyse.repeats import of_outcomes
from egobench_tasks.report.analyse.tables import Column, Kind, Table, table
from egobench_tasks.report.read.choice_results import Results

REPEATS = (1, 2, 4, 8, 16)
"""Answers a question that the table goes through, beside those asked for."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run will be like: questions, clusters of about equal size, and how two runs differ.

    ``correlation``: of the differences within a cluster. ``discordance``, ``within``: see `power.Design`. ``source``
    says in words where the last three come from.
    """

    questions: int
    clusters: int
    discordance: float
    correlation: float = 0.0
    within: float = 0.0
    source: str = "assumed"

    def design(self, repeats: int) -> Design:
        """Return the design with so many answers a question. Raises ``InputError`` for what cannot be run."""
        if not 2 <= self.clusters <= self.questions:
            raise InputError(f"{self.clusters} clusters of {self.questions} questions; give 2 to {self.questions}")
        if not 0 < self.discordance <= 1 or not 0 <= self.correlation <= 1 or not 0 <= self.within <= self.discordance:
            raise InputError(
                f"discordance {self.discordance:g} must lie in (0, 1], correlation {self.correlation:g} in [0, 1], "
                f"and the variance within questions, {self.within:g}, in [0, discordance]"
            )
        if repeats < 1:
            raise InputError(f"{repeats} repeats; give 1 or more")
        return Design(
            questions=self.questions,
            df=self.clusters - 1,
            discordance=self.discordance,
            design_effect=design_effect(self.questions, self.clusters, self.correlation),
            repeats=repeats,
            within=self.within,
        )


def plan_of_runs(results: Results, config: str) -> Plan:
    """Return a plan from two runs at hand on one config: as many questions and clusters, discordant as they are.

    The variance within questions is that of both runs' repeats, where both have repeats; else 0. Raises ``InputError``
    unless two whole runs answered the config.
    """
    exact = results.matrix(config, "exact_set")
    labels = [label for label in results.whole if label in exact]
    if len(labels) != 2:
        raise InputError(f"{config}: {len(labels)} whole runs answered it ({', '.join(labels)}); give two")
    first, second = (exact[label].to_numpy(dtype=float) for label in labels)
    found = clusters(results.splits[config].attributes.set_index("question_id")["cluster"].loc[exact.index])
    difference = second - first
    discordance = float((difference != 0).mean())
    if not discordance:
        raise InputError(f"{config}: {labels[0]} and {labels[1]} are right on the same questions; give --discordance")
    within = _within(results, config, labels)
    gain = paired_difference(first, second, found).value
    return Plan(
        questions=len(first),
        clusters=found.count,
        discordance=discordance,
        correlation=correlation(difference, found),
        within=min(within, discordance),
        source=f"{labels[0]} and {labels[1]} on {config}, {100 * gain:+.1f} points apart",
    )


def _within(results: Results, config: str, labels: Sequence[str]) -> float:
    rows = results.repeated[results.repeated["config"] == config]
    parts = [of_outcomes(rows[rows["run"] == label]) for label in labels if label in set(rows["run"])]
    if len(parts) < len(labels) or None in parts:
        return 0.0
    return math.fsum(part.within for part in parts if part is not None)


def power_table(plan: Plan, repeats: int, differences: Sequence[float]) -> Table:
    """For growing repeats: the smallest difference found four times in five, and the power at each given difference.

    ``differences`` are true differences of shares, in [0, 1].
    """
    rows = []
    for count in sorted({*REPEATS, repeats} if plan.within else {repeats}):
        design = plan.design(count)
        row: dict[str, Any] = {"repeats": count, "smallest": smallest_difference(design)}
        row |= {"effective": design.effective_questions, "design_effect": design.design_effect}
        rows.append(row | {f"power {value:g}": power(design, value) for value in differences})
    columns = [
        Column("repeats", "Answers a question", Kind.COUNT),
        Column("smallest", "Would show (points)", Kind.PERCENT, 2),
        *(Column(f"power {value:g}", f"at {100 * value:g}", Kind.PERCENT) for value in differences),
    ]
    note = (
        "Would show: the smallest true difference that is found four times in five (5 %, two-sided); beside it how "
        "often true differences of so many points are found, in per cent.\n"
        f"{plan.questions:,} questions in {plan.clusters:,} clusters say as much as "
        f"{rows[0]['effective']:,.0f} independent ones; two runs differ on {100 * plan.discordance:.1f} % of them "
        f"({plan.source}); correlation within clusters {plan.correlation:.2f}. "
    )
    note += (
        f"Of the variance of a difference {plan.within:.3f} is luck within questions, which repeats average out."
        if plan.within
        else "Nothing is known of luck within questions, so repeats are not counted as a help."
    )
    return table("power", "What a comparison of two runs could show", note, columns, rows)


def scaled(plan: Plan, questions: int | None, n_clusters: int | None) -> Plan:
    """Return the plan with another number of questions; clusters grow alike unless their number is given."""
    wanted = questions or plan.questions
    grown = n_clusters or max(2, min(wanted, round(plan.clusters * wanted / plan.questions)))
    return replace(plan, questions=wanted, clusters=grown)


def assuming(
    plan: Plan, discordance: float | None = None, correlation: float | None = None, within: float | None = None
) -> Plan:
    """Return the plan with what is given in place of what the runs at hand say."""
    given = {"discordance": discordance, "correlation": correlation, "within": within}
    named = [name for name, value in given.items() if value is not None]
    if not named:
        return plan
    return replace(
        plan,
        discordance=plan.discordance if discordance is None else discordance,
        correlation=plan.correlation if correlation is None else correlation,
        within=plan.within if within is None else within,
        source=f"{' and '.join(named)} as given, else of {plan.source}",
    )
