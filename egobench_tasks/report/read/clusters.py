"""Which questions of a split hang together: they share a clip's content, a recording, or footage of one recording."""

from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np
import pandas as pd
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from egobench_tasks.asking.questions import Clip

Part = tuple[pd.DataFrame, Sequence[Iterable[Clip]], Mapping[str, str]]
"""A split's attributes, each question's clips, and the recordings of clips by their footage."""

UNKNOWN_RECORDING = "recording_unknown"
"""The column that says of which questions neither a recording's name nor its footage is known."""


def with_clusters(
    attributes: pd.DataFrame, clips: Sequence[Iterable[Clip]], footage: Mapping[str, str] | None = None
) -> pd.DataFrame:
    """Return the attributes with each question's ``cluster`` (a number) and whether its recording is unknown.

    ``clips`` holds each question's. ``footage`` names, by a clip's digest, the recording that its pictures were found
    to be of (`frames.overlap`); a clip it does not name has not been looked at.
    """
    ties, unknown = _ties(attributes, clips, footage or {})
    return attributes.assign(cluster=connected(ties), **{UNKNOWN_RECORDING: unknown})


def joined(parts: Sequence[Part]) -> list[pd.DataFrame]:
    """Return the attributes of several splits with clusters across them: footage that two splits show is one cluster.

    ``parts`` hold each split's attributes, clips and footage, as `with_clusters` takes them.
    """
    ties = [tie for part in parts for tie in _ties(*part)[0]]
    numbers = connected(ties)
    found = []
    for attributes, _, _ in parts:
        here, numbers = numbers[: len(attributes)], numbers[len(attributes) :]
        found.append(attributes.assign(cluster=here))
    return found


def _ties(
    attributes: pd.DataFrame, clips: Sequence[Iterable[Clip]], footage: Mapping[str, str]
) -> tuple[list[set[str]], list[bool]]:
    """What each question shares with others, and whether its recording is unknown."""
    recordings = attributes["recording"] if "recording" in attributes else [None] * len(attributes)
    ties, unknown = [], []
    for recording, members in zip(recordings, clips, strict=True):
        digests = {clip.sha256 for clip in members}
        named = {f"recording {recording}"} if isinstance(recording, str) else set()
        seen = {f"footage {footage[digest]}" for digest in digests if digest in footage}
        ties.append({f"clip {digest}" for digest in digests} | named | seen)
        unknown.append(not named and not digests <= footage.keys())
    return ties, unknown


def connected(ties: Sequence[Collection[str]]) -> list[int]:
    """Return each question's connected component, numbered in the order in which they first occur.

    ``ties`` holds what each question shares with others; a question without any stands alone.
    """
    if not ties:
        return []
    numbers: dict[str, int] = {}
    edges = [(row, numbers.setdefault(tie, len(numbers))) for row, names in enumerate(ties) for tie in sorted(names)]
    rows, columns = np.array(edges, dtype=np.intp).reshape(-1, 2).T
    n_nodes = len(ties) + len(numbers)
    graph = coo_array((np.ones(len(edges)), (rows, columns + len(ties))), shape=(n_nodes, n_nodes))
    _, labels = connected_components(graph, directed=False)
    return [int(number) for number in pd.factorize(labels[: len(ties)])[0]]
