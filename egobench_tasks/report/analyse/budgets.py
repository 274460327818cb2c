"""Exact accuracy against the number of frames, and what each point gained cost; cost of every probe."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from egobench_tasks.asking.probes import BUDGETS
from egobench_tasks.benchmarks import EGOGEARS
from egobench_tasks.report.analyse.diagnosis import CANNOT_TELL
from egobench_tasks.report.analyse.estimates import paired_difference, share
from egobench_tasks.report.analyse.overall import RUN, SPLIT
from egobench_tasks.report.analyse.tables import Column, Kind, Table, table
from egobench_tasks.report.analyse.variants import FULL, Variants
from egobench_tasks.report.read.choice_outcomes import COSTS

_FRAMES = {FULL: EGOGEARS.frames_per_question} | {f"f{budget}": budget for budget in BUDGETS}
_COST_COLUMNS = (
    Column("n_prompt_tokens", "Prompt tokens a question", Kind.COUNT),
    Column("n_new_tokens", "New tokens a question", Kind.COUNT),
    Column("seconds", "Seconds a question", Kind.RATIO, 2),
)


@dataclass(frozen=True, slots=True)
class Price:
    """Money a million tokens, of any currency; None where it is not given."""

    prompt_per_million: float | None = None
    new_per_million: float | None = None

    @property
    def known(self) -> bool:
        """Whether both prices are given."""
        return self.prompt_per_million is not None and self.new_per_million is not None

    def of(self, prompt_tokens: float, new_tokens: float) -> float:
        """Return what so many tokens cost; NaN without both prices."""
        if self.prompt_per_million is None or self.new_per_million is None:
            return math.nan
        return (prompt_tokens * self.prompt_per_million + new_tokens * self.new_per_million) / 1e6


NO_PRICE = Price()


def costs(way: pd.DataFrame) -> dict[str, float]:
    """Return the means of `choice_outcomes.COSTS` over the questions that have them; NaN where none has."""
    return {name: float(pd.to_numeric(way[name]).mean()) for name in COSTS}


def budget_rows(variants: Variants) -> list[dict[str, Any]]:
    """Return a record a budget, fewest frames first, over the questions asked at every budget.

    ``gain`` is against the budget before; ``tokens_a_point`` and ``seconds_a_point`` are what one point of it cost
    more a question, `CANNOT_TELL` where the gain's interval does not leave out 0, or is a loss.
    """
    names = sorted((name for name in _FRAMES if name in variants.ways), key=lambda name: _FRAMES[name])
    found = variants.paired(names) if len(names) > 1 else None
    if found is None:
        return []
    rows: list[dict[str, Any]] = []
    for index, name in enumerate(names):
        estimate, cost = share(found.exact(index), found.clusters), costs(found.ways[index])
        row: dict[str, Any] = {"run": variants.run, "config": variants.config, "frames": _FRAMES[name]}
        row |= {"exact_set": estimate.value, "low": estimate.low, "high": estimate.high, **cost}
        if index:
            gain = paired_difference(found.exact(index - 1), found.exact(index), found.clusters)
            row |= {"gain": gain.value, "gain_low": gain.low, "gain_high": gain.high}
            row |= _a_point(gain.value if gain.low > 0 else None, cost, rows[-1])
        rows.append(row | {"questions": len(found)})
    return rows


def _a_point(gain: float | None, cost: Mapping[str, float], before: Mapping[str, Any]) -> dict[str, Any]:
    """What a point of a gain cost: text, since "cannot tell" is one of its values."""
    found = {}
    for name, measure in (("tokens_a_point", "n_prompt_tokens"), ("seconds_a_point", "seconds")):
        more = cost[measure] - before[measure]
        known = None if math.isnan(more) else CANNOT_TELL if gain is None else f"{more / (100 * gain):,.2f}"
        found[name] = known
    return found


def budget_table(found: Sequence[Variants]) -> Table:
    """Every run's curve over frame budgets."""
    columns = [
        RUN,
        SPLIT,
        Column("frames", "Frames", Kind.COUNT),
        Column("exact_set", "Exact %", Kind.PERCENT, low="low", high="high"),
        Column("gain", "Gain on the row above (points)", Kind.POINTS, low="gain_low", high="gain_high"),
        Column("tokens_a_point", "Prompt tokens a point gained", Kind.TEXT),
        Column("seconds_a_point", "Seconds a point gained", Kind.TEXT),
        *_COST_COLUMNS,
        Column("questions", "Questions", Kind.COUNT),
    ]
    note = (
        "Exact over the questions asked at every budget, with clustered 95 % intervals. What a point cost: more tokens "
        f"or seconds a question than at the budget before, divided by the gain; “{CANNOT_TELL}” where the gain's "
        "interval does not lie above 0."
    )
    rows = [row for variants in found for row in budget_rows(variants)]
    return table("budgets", "Accuracy against the number of frames", note, columns, rows)


def cost_table(found: Sequence[Variants], price: Price) -> Table:
    """What every way of asking took, where the runs say: tokens, seconds, and money where a price is given."""
    rows = []
    for variants in found:
        for name, way in variants.ways.items():
            cost = costs(way)
            if all(math.isnan(value) for value in cost.values()):
                continue
            prompt, new, seconds = (float(pd.to_numeric(way[column]).sum()) for column in COSTS)
            row: dict[str, Any] = {"run": variants.run, "config": variants.config, "way": name, **cost}
            row |= {"questions": len(way), "prompt_tokens": prompt, "new_tokens": new, "hours": seconds / 3600}
            rows.append(row | {"money": price.of(prompt, new)})
    columns = [
        RUN,
        SPLIT,
        Column("way", "Asked", Kind.TEXT),
        Column("questions", "Questions", Kind.COUNT),
        *_COST_COLUMNS,
        Column("prompt_tokens", "Prompt tokens", Kind.COUNT),
        Column("new_tokens", "New tokens", Kind.COUNT),
        Column("hours", "Hours, one after another", Kind.RATIO, 2),
    ]
    if price.known:
        columns.append(Column("money", "Money", Kind.RATIO, 2))
    note = (
        "Means a question and sums, over the answers whose host counted; of a question answered several times, "
        "over all its answers. Hours: the sum of all answers' seconds."
    )
    return table("costs", "What each way of asking took", note, columns, rows)
