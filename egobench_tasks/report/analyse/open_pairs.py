"""Two runs of EgoTempo on the same questions, over those that both have decided, before the same judge."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from egobench_tasks.report.analyse import against
from egobench_tasks.report.analyse.clusters import clusters
from egobench_tasks.report.analyse.estimates import Estimate, paired_difference, sign_flip
from egobench_tasks.report.analyse.power import smallest_seen
from egobench_tasks.report.analyse.statistics import PairedOutcomes, paired_outcomes
from egobench_tasks.report.analyse.tables import Column


@dataclass(frozen=True, slots=True)
class OpenPair:
    """Second less first. ``first`` and ``second``: their outcomes (`open_outcomes.open_frame`), by question id, on the
    questions that both have decided. ``p_clustered``: the sign flip over videos; ``smallest``: see `smallest_seen`.
    """

    first: pd.DataFrame
    second: pd.DataFrame
    counts: PairedOutcomes
    difference: Estimate
    p_clustered: float
    smallest: float


def paired(first: pd.DataFrame, second: pd.DataFrame) -> OpenPair | None:
    """Pair two runs' outcomes under one setting; None where no question is decided in both."""
    one, other = (run[run["decided"]].set_index("question_id") for run in (first, second))
    shared = one.index[one.index.isin(other.index)]
    if not len(shared):
        return None
    one, other = one.loc[shared], other.loc[shared]
    before, after = (run["correct"].to_numpy(dtype=np.float64) for run in (one, other))
    videos = clusters(one["video"].fillna(one.index.to_series()))
    counts, estimate = paired_outcomes(before, after), paired_difference(before, after, videos)
    smallest = smallest_seen(estimate.error, counts.discordance)
    return OpenPair(one, other, counts, estimate, sign_flip(after - before, videos), smallest)


def columns(anchors: Mapping[str, str]) -> list[Column]:
    """Return the columns of each run's difference from its anchor; none where there is none."""
    labels = set(anchors.values())
    return against.columns(labels.pop() if len(labels) == 1 else "the anchor") if labels else []


def difference(outcomes: pd.DataFrame, anchors: Mapping[str, str], members: pd.DataFrame) -> dict[str, Any]:
    """Return what a run's outcomes under one setting (``members``) differ by from its anchor's, under `against.NAMES`.

    ``outcomes``: of all runs. Nothing where the run has no anchor, or that was not asked in the same setting.
    """
    anchor = anchors.get(str(members["run"].iloc[0]))
    theirs = outcomes[(outcomes["run"] == anchor) & (outcomes["setting"] == members["setting"].iloc[0])]
    pair = paired(theirs, members)
    if pair is None:
        return {}
    estimate = pair.difference
    values = (estimate.value, estimate.low, estimate.high, pair.p_clustered, pair.smallest)
    return dict(zip(against.NAMES, values, strict=True))
