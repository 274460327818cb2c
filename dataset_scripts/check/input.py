"""What `egobench check` looks at: a dataset folder, listed and its tables read once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from dataset_scripts.check.finding import Finding, error
from dataset_scripts.repository.videofolder import REPORT_NAME, read_report

CARD, REGISTRATION = "README.md", "eval.yaml"
TABLE_NAME = "metadata.parquet"
CLIPS_FOLDER = "videos"


@dataclass(frozen=True, slots=True)
class Table:
    """One ``metadata.parquet``: ``name`` is its folder's (``single``), ``rows`` its rows with every column."""

    name: str
    schema: pa.Schema
    rows: Sequence[Mapping[str, Any]]

    @property
    def path(self) -> str:
        """The file, relative to the dataset folder."""
        return f"{self.name}/{TABLE_NAME}"

    def where(self, index: int) -> str:
        """Name a row by its question, or by its number where it has none."""
        return f"{self.path}, question {self.rows[index].get('question_id') or f'in row {index}'}"


@dataclass(frozen=True, slots=True)
class DatasetFolder:
    """A folder's files (relative POSIX paths, sorted), its readable tables and its build report ({} without one)."""

    root: Path
    files: Sequence[str]
    tables: Sequence[Table]
    report: Mapping[str, Any]


def read_dataset_folder(root: Path) -> tuple[DatasetFolder, list[Finding]]:
    """Read a folder; what cannot be read is a finding, and missing from the result."""
    findings: list[Finding] = []
    files = sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file() or path.is_symlink())
    tables = []
    for name in files:
        if name.count("/") == 1 and name.endswith(f"/{TABLE_NAME}"):
            try:
                table = pq.read_table(root / name)
            except (pa.ArrowException, OSError) as problem:
                findings.append(error("table", name, f"cannot be read as Parquet ({problem}); build the dataset again"))
                continue
            tables.append(Table(name.partition("/")[0], table.schema, table.to_pylist()))
    if not tables:
        findings.append(error("table", ".", f"holds no readable */{TABLE_NAME}; make one with `egobench build`"))
    report = read_report(root / REPORT_NAME)
    if not report:
        findings.append(error("report", REPORT_NAME, "is missing or no JSON object; build with `egobench build`"))
    return DatasetFolder(root, files, tables, report), findings


def named_clips(table: Table) -> list[tuple[int, str]]:
    """Return (row, clip as the metadata names it) for every clip, relative to the table's folder."""
    named = []
    for index, row in enumerate(table.rows):
        names = [row.get("file_name"), *(row.get("file_names") or ())]
        named += [(index, str(name)) for name in dict.fromkeys(names) if name is not None]
    return named
