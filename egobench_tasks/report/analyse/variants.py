"""One run's answers to the same questions asked in several ways: as the benchmark has them, and by each probe."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from egobench_tasks.asking.probes import PROBES
from egobench_tasks.report.analyse.clusters import Clusters, clusters
from egobench_tasks.report.analyse.statistics import Floats
from egobench_tasks.report.read.choice_results import Results

FULL = "full"
"""The benchmark's own way of asking, beside the probes' names."""


@dataclass(frozen=True, slots=True)
class Paired:
    """The same questions asked in several ways: tables with equal indexes (question ids), in the ways' order."""

    ways: tuple[pd.DataFrame, ...]

    @property
    def clusters(self) -> Clusters:
        """The questions' clusters."""
        return clusters(self.ways[0]["cluster"])

    def __len__(self) -> int:
        return len(self.ways[0])

    def exact(self, way: int) -> Floats:
        """Right or wrong, 1 or 0; of a question answered several times the share of its answers that are right."""
        return self.ways[way]["exact_set"].to_numpy(dtype=np.float64)

    def by_question(self, values: Floats) -> pd.Series:
        """One value a question, in the ways' order, under the questions' ids."""
        return pd.Series(values, index=self.ways[0].index)

    def answers(self, way: int) -> list[tuple[str, ...]]:
        """Each question's answers, one a repeat, as original letters, sorted; empty where there is no answer."""
        return list(self.ways[way]["answers"])


@dataclass(frozen=True, slots=True)
class Variants:
    """``ways`` holds a table a way of asking (`FULL`, or a probe's name): outcomes by question id (see `_way`)."""

    run: str
    config: str
    ways: Mapping[str, pd.DataFrame]

    def paired(self, names: Sequence[str]) -> Paired | None:
        """Return the questions asked in all of these ways; None where there is no such way, or no such question."""
        if any(name not in self.ways for name in names):
            return None
        shared = self.ways[names[0]].index
        for name in names[1:]:
            shared = shared[shared.isin(self.ways[name].index)]
        return Paired(tuple(self.ways[name].loc[shared] for name in names)) if len(shared) else None

    def only(self, question_ids: Collection[str]) -> "Variants":
        """Return the same on some questions alone."""
        kept = {name: way[way.index.isin(question_ids)] for name, way in self.ways.items()}
        return Variants(self.run, self.config, {name: way for name, way in kept.items() if len(way)})


def variants(results: Results) -> Iterator[Variants]:
    """Yield every whole run's answers on each config of which it answered a probe, probes in their listed order."""
    for config in results.configs:
        full, probed = results.of(config), results.probed[results.probed["config"] == config]
        repeated = results.repeated[results.repeated["config"] == config]
        for run in results.whole:
            of_run = probed[probed["run"] == run]
            mine = full[full["run"] == run]
            if of_run.empty or mine.empty:
                continue
            by_probe = dict(list(of_run.groupby("probe", sort=False)))
            again = repeated[repeated["run"] == run]
            ways = {FULL: mine.assign(repeat=0) if again.empty else again}
            ways |= {name: by_probe[name] for name in PROBES if name in by_probe}
            yield Variants(run, config, {name: _way(way) for name, way in ways.items()})


def _way(rows: pd.DataFrame) -> pd.DataFrame:
    """Return one way of asking as a table of questions, from a row an answer.

    A question has the columns of its first answer; ``exact_set`` is the mean over its answers, and ``answers``,
    ``rights`` and ``places`` hold all of them: the sets, whether they are right, and the letters as shown.
    """
    by_id = rows.sort_values("repeat", kind="stable").groupby("question_id", sort=False)
    way = rows.drop_duplicates("question_id").set_index("question_id")
    columns = {"answers": "predicted", "rights": "exact_set", "places": "shown_predicted"}
    kept = {name: by_id[column].agg(tuple).loc[way.index] for name, column in columns.items()}
    return way.assign(exact_set=by_id["exact_set"].mean().loc[way.index], **kept)
