"""The rows that a task asks, loaded as lighteval's hook and the start without lighteval both load them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from egobench_tasks.data import DatasetLocation, load_rows_with_clips, locate, pin
from egobench_tasks.errors import InputError
from egobench_tasks.hosts.lighteval.docs import RowPrompt
from egobench_tasks.runs.shards import current_shard

if TYPE_CHECKING:
    from datasets import Dataset


@dataclass(frozen=True, slots=True)
class AskedRows:
    """``rows``: the task's in the dataset; ``asked``: those that it asks; ``chosen``: those of this shard."""

    location: DatasetLocation
    rows: "Dataset"
    asked: "Dataset"
    chosen: "Dataset"


def load_asked(prompt: RowPrompt, config: str, task: str) -> AskedRows:
    """Load a task's rows from a config of its dataset, once its settings are found right.

    Raises ``InputError`` for settings or a dataset that cannot be used, and for a shard without a question.
    """
    prompt.prepare()
    location = pin(locate(prompt.benchmark))
    rows = prompt.select(load_rows_with_clips(location, config))
    asked = prompt.asked(rows)
    return AskedRows(location, rows, asked, _of_shard(asked, task))


def _of_shard(rows: "Dataset", task: str) -> "Dataset":
    """The rows of this process's shard; all of them where it has none."""
    shard = current_shard()
    if shard is None:
        return rows
    chosen = shard.rows(rows["question_id"])
    if not chosen:
        raise InputError(f"{task}: shard {shard} of {len(rows)} questions is empty; use fewer shards")
    return rows.select(chosen)
