"""Every run beside one of them: its paired difference on the same questions, wherever its score stands."""

from math import lcm
from typing import Any

import pandas as pd

from egobench_tasks.report.analyse.clusters import clusters
from egobench_tasks.report.analyse.estimates import paired_difference, sign_flip
from egobench_tasks.report.analyse.power import smallest_seen
from egobench_tasks.report.analyse.tables import Column, Kind
from egobench_tasks.report.read.choice_results import Results

NAMES = ("against", "against_low", "against_high", "against_p", "against_smallest")
"""What `difference` returns: less the anchor, its clustered interval, the sign flip's p-value, the power's limit."""


def columns(anchor: str, run: str = "") -> list[Column]:
    """Return the columns of a run's difference from the anchor; none where there is no anchor, or the run is it.

    ``run``: heads the names and titles, in tables with a column a run.
    """
    if not anchor or run == anchor:
        return []
    head = f"{run} " if run else ""
    low, high = (f"{head}against_{end}" for end in ("low", "high"))
    title = f"{head}less {anchor} (points)" if run else f"Less {anchor} (points)"
    found = [Column(f"{head}against", title, Kind.POINTS, 1, clustered_low=low, clustered_high=high)]
    if not run:
        found.append(Column("against_p", "Sign flip p", Kind.P_VALUE))
        found.append(Column("against_smallest", "Would have shown (points)", Kind.PERCENT))
    return found


def difference(results: Results, config: str, run: str, outcomes: pd.DataFrame) -> dict[str, Any]:
    """Return a run's difference from the anchor on some questions, under `NAMES`; nothing where there is none.

    A partial run has none: its missing answers would be the difference. Of runs that answered each question several
    times all answers count, where their scores are the first answer's (`note`).
    """
    if not results.anchor or run == results.anchor or not {run, results.anchor} <= set(results.whole):
        return {}
    exact, answers = results.means(config, "exact_set"), results.answers(config)
    if results.anchor not in exact:
        return {}
    here = exact.loc[outcomes["question_id"]]
    first, second = (here[label].to_numpy(dtype=float) for label in (results.anchor, run))
    parts = lcm(answers[results.anchor], answers[run])
    found = clusters(outcomes["cluster"])
    estimate = paired_difference(first, second, found)
    smallest = smallest_seen(estimate.error, float(((second - first) ** 2).mean()))
    values = (estimate.value, estimate.low, estimate.high, sign_flip(second - first, found, parts), smallest)
    return dict(zip(NAMES, values, strict=True))


def note(results: Results) -> str | None:
    """Say what differences from the anchor count that the scores beside them do not; None where that is nothing."""
    if not results.anchor or all(
        count == 1 for config in results.configs for count in results.answers(config).values()
    ):
        return None
    return (
        f"less {results.anchor}: of runs that answered each question several times all answers count, while a score is "
        "of the first answer; the two may differ"
    )
