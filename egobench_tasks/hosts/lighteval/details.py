"""The details files of lighteval: where they lie, and reading them a part at a time."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from egobench_tasks.benchmarks import EGOTEMPO
from egobench_tasks.errors import InputError
from egobench_tasks.runs.journal import UNANSWERED

# details_egogears:multi|0_2026-11-30T05-15-00.123456.parquet
DETAILS_NAME = re.compile(r"details_(?P<task>.+)_(?P<date>[^_]+)\.parquet")
"""``task`` with its number of shots (``egogears:multi|0``), ``date`` of the run."""
OPEN_TASK = re.compile(rf"{EGOTEMPO.name}(?:_(?P<setting>(?!choice)[^:]+))?:(?P<category>\w+)\|\d+")
"""``egotempo:CATEGORY``, ``egotempo_SETTING:CATEGORY``; the closed form (``egotempo_choice…``) is none of these."""
_FINISH_REASON = "model_response.finish_reason"
_BATCH_ROWS = 256
_RUN_AGAIN = "run again with --save-details: answers come from the journal, nothing is generated twice"


@dataclass(frozen=True, slots=True)
class DetailsFile:
    """One file of details. ``date`` is lighteval's local time, which names a run and orders nothing."""

    model: str
    task: str
    date: str
    path: Path


def details_files(folder: Path, task: re.Pattern[str]) -> list[DetailsFile]:
    """Return the details under ``folder`` of the tasks whose whole name matches, by path.

    ``folder`` is what lighteval's ``--output-dir`` named.
    """
    found = []
    for path in sorted((folder / "details").glob("**/details_*.parquet")):
        match = DETAILS_NAME.fullmatch(path.name)
        if match and task.fullmatch(match["task"]):
            model = path.parent.parent.relative_to(folder / "details").as_posix()
            found.append(DetailsFile(model, match["task"], match["date"], path))
    return found


def count_rows(path: Path) -> int:
    """Return how many questions a details file holds. Raises ``InputError`` as `read_rows` does."""
    with _opened(path) as file:
        return int(file.metadata.num_rows)


def lost_rows(path: Path) -> list[int]:
    """Return the rows of a details file that have no generation, for reasons that are not the model's.

    None in details of before a reason was saved. Raises ``InputError`` as `read_rows` does.
    """
    with _opened(path) as file:
        if not _has_column(file.schema_arrow, _FINISH_REASON):
            return []
        responses = file.read(columns=[_FINISH_REASON]).column("model_response").to_pylist()
    return [index for index, response in enumerate(responses) if response["finish_reason"] in UNANSWERED]


def read_rows(path: Path, required: Sequence[str], optional: Sequence[str] = ()) -> Iterator[dict[str, Any]]:
    """Yield a details file's rows with the columns named (``doc.specific.question_id``), others left out.

    A few hundred rows are in memory at a time. Raises ``InputError`` for a file that is no parquet,
    is cut short, holds no rows, or lacks a required column.
    """
    with _opened(path) as file:
        columns = _present_columns(path, file.schema_arrow, required, optional)
        if not file.metadata.num_rows:
            raise InputError(f"{path}: holds no questions; was the run stopped before its first? Run it again")
        for batch in file.iter_batches(_BATCH_ROWS, columns=columns):
            yield from batch.to_pylist()


@contextmanager
def _opened(path: Path) -> Iterator[pq.ParquetFile]:
    try:
        with pq.ParquetFile(path) as file:
            yield file
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path}: cannot be read as parquet ({error}); {_RUN_AGAIN}") from error


def _present_columns(path: Path, schema: pa.Schema, required: Sequence[str], optional: Sequence[str]) -> list[str]:
    missing = [name for name in required if not _has_column(schema, name)]
    if missing:
        raise InputError(
            f"{path}: has no {', '.join(missing)}: these details were saved by another version of egobench or by "
            f"another task; {_RUN_AGAIN}"
        )
    return [*required, *(name for name in optional if _has_column(schema, name))]


def _has_column(schema: pa.Schema, dotted: str) -> bool:
    first, *inner = dotted.split(".")
    if first not in schema.names:
        return False
    kind = schema.field(first).type
    for name in inner:
        if not pa.types.is_struct(kind) or kind.get_field_index(name) < 0:
            return False
        kind = kind.field(name).type
    return True
