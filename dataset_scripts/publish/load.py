"""Loading a published dataset as its readers will: streamed, from the Hub, at one commit."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from egobench_tasks.data import SPLIT
from egobench_tasks.errors import EgobenchError

_VIDEO_COLUMNS = ("video", "videos")


def check_that_it_loads(repo_id: str, revision: str, folder: Path, configs: Sequence[str]) -> None:
    """Load the first row of each config from the repository and compare it with the folder's.

    Raises ``EgobenchError`` where one does not load, or is another row.
    """
    for config in configs:
        try:
            there, here = _first_row(repo_id, config, revision), _first_row(str(folder), config, None)
        except Exception as problem:  # datasets raises a dozen types here, from ValueError to HTTP errors
            raise EgobenchError(f"{repo_id}@{revision}: config {config} does not load: {problem}") from problem
        if _without_videos(there) != _without_videos(here):
            raise EgobenchError(f"{repo_id}@{revision}: the first row of {config} is not the folder's")


def _first_row(path: str, config: str, revision: str | None) -> Mapping[str, Any]:
    from datasets import load_dataset

    rows = load_dataset(path, config, revision=revision, split=SPLIT, streaming=True).decode(False)
    first, *_ = rows  # to the end: a reader left in the middle keeps a thread, which may abort the process as it exits
    return first


def _without_videos(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in _VIDEO_COLUMNS}
