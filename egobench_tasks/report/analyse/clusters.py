"""Which questions hang together: they share a clip or a recording, so that right on one makes right on the next likelier.

Miller 2024 (arXiv 2411.00640): errors that take such questions for independent come out too small.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

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
        return np.bincount(self.of, minlength=self.count)

    @property
    def largest_share(self) -> float:
        """The largest cluster's share of the questions, in [0, 1]; 0 for no questions."""
        return float(self.sizes.max() / len(self.of)) if len(self.of) else 0.0

    def only(self, mask: NDArray[np.bool_]) -> "Clusters":
        """Return the partition of those questions alone, its clusters numbered anew."""
        return numbered(self.of[mask].tolist())

    def sums(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return each cluster's sum of its questions' values; columns stay apart."""
        columns = values.reshape(len(values), -1)
        sums = np.column_stack([np.bincount(self.of, column, minlength=self.count) for column in columns.T])
        return sums.reshape(self.count, *values.shape[1:])

    def warning(self) -> str | None:
        """Say what makes clustered errors doubtful here; None where nothing does."""
        if 0 < self.count < MIN_CLUSTERS:
            return f"only {self.count} clusters of questions: intervals that allow for them are rough"
        if self.largest_share > MAX_SHARE:
            return f"one cluster holds {100 * self.largest_share:.0f} % of the questions: its interval is rough"
        return None


def singletons(count: int) -> Clusters:
    """Return the partition in which every question stands alone."""
    return Clusters(np.arange(count))


def numbered(names: Sequence[int | str]) -> Clusters:
    """Return the partition by equal names, clusters in the order in which they first occur."""
    numbers: dict[int | str, int] = {}
    return Clusters(np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.intp))


def connected(ties: Sequence[Collection[str]]) -> Clusters:
    """Return the connected components of questions that share a tie (a clip's digest, a recording's name).

    ``ties`` holds each question's; a question without any stands alone.
    """
    numbers: dict[str, int] = {}
    edges = [(row, numbers.setdefault(tie, len(numbers))) for row, names in enumerate(ties) for tie in sorted(names)]
    rows, columns = np.array(edges, dtype=np.intp).reshape(-1, 2).T
    n_nodes = len(ties) + len(numbers)
    graph = coo_array((np.ones(len(edges)), (rows, columns + len(ties))), shape=(n_nodes, n_nodes))
    _, labels = connected_components(graph, directed=False)
    return numbered(labels[: len(ties)].tolist())
