"""A partition of questions into those that hang together: right on one makes right on the next likelier.

Errors that take such questions for independent come out too small (Miller 2024, arXiv 2411.00640). Which questions
hang together `report.read.clusters` says; this is arithmetic on it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

MIN_CLUSTERS = 20
"""Below this many clusters the errors themselves are uncertain; whoever shows them says so (DIAGNOSE.md)."""
MAX_SHARE = 0.5
"""A cluster with more of the questions than this leaves little to compare it with."""


@dataclass(frozen=True, slots=True)
class Clusters:
    """A partition of questions. ``of`` holds each question's cluster, 0 to ``count`` - 1, in the questions' order."""

    of: NDArray[np.intp]

    @property
    def count(self) -> int:
        """How many clusters there are."""
        return int(self.of.max()) + 1 if len(self.of) else 0

    @property
    def sizes(self) -> NDArray[np.intp]:
        """How many questions each cluster holds."""
        return np.bincount(self.of, minlength=self.count).astype(np.intp)

    @property
    def largest_share(self) -> float:
        """The largest cluster's share of the questions, in [0, 1]; 0 for no questions."""
        return float(self.sizes.max() / len(self.of)) if len(self.of) else 0.0

    def sums(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return each cluster's sum of its questions' values; columns stay apart."""
        columns = values.reshape(len(values), -1)
        sums = [np.bincount(self.of, column, minlength=self.count).astype(np.float64) for column in columns.T]
        return np.column_stack(sums).reshape(self.count, *values.shape[1:])


def clusters(names: Sequence[int | str] | pd.Series) -> Clusters:
    """Return the partition by equal names, clusters in the order in which they first occur."""
    return Clusters(pd.factorize(np.asarray(names))[0])


def warning(count: int, largest_share: float) -> str | None:
    """Say what makes errors over ``count`` clusters doubtful, the largest with this share; None where nothing does."""
    if 0 < count < MIN_CLUSTERS:
        return f"only {count} cluster{'s' if count > 1 else ''}: rough"
    if largest_share > MAX_SHARE:
        return f"{100 * largest_share:.0f} % of the questions in one cluster: rough"
    return None


def singletons(count: int) -> Clusters:
    """Return the partition in which every question stands alone."""
    return Clusters(np.arange(count))
