"""Rules on tables: columns and types, unique ids, answers among the options, sizes, and no person's name."""

import json
import re
import string
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from dataset_scripts.check.finding import Finding, error, warning
from dataset_scripts.check.input import DatasetFolder, Table
from dataset_scripts.egogears.table import SCHEMAS as EGOGEARS_SCHEMAS
from dataset_scripts.egotempo.build import FOLDER as EGOTEMPO_FOLDER
from dataset_scripts.egotempo.build import SCHEMA as EGOTEMPO_SCHEMA
from egobench_tasks.benchmarks import EGOGEARS, EGOTEMPO

MAX_ROW_BYTES = 15_000
"""The viewer cuts a config's first rows to 200 kB and shows ten at least: larger rows lose cells (FACTS.md)."""

_SCHEMAS: Mapping[str, Mapping[str, pa.Schema]] = {
    EGOGEARS.name: EGOGEARS_SCHEMAS,
    EGOTEMPO.name: {EGOTEMPO_FOLDER: EGOTEMPO_SCHEMA},
}
_MAY_BE_NULL = {
    "file_name", "file_names", "participant", "speed", "lighting", "route", "capability", "duration_s", "sha256",
    "window_start_s", "window_end_s", "decision", "repair_rounds", "blind_guessable", "evidence_source", "video",
}  # fmt: skip
_PER_CLIP = ("clip_labels", "clip_start_s", "clip_end_s", "clip_duration_s", "clip_sha256")
_NAMING_COLUMNS = {"annotator", "reviewer", "human_decided_by", "usability_source", "author", "name", "email"}
# What a build lets stand in `reasons`: a tag, and option letters after a colon. Upstream puts names there.
_REASON = re.compile(r"(?!trusted_human_clear)[a-z0-9_]+(:[A-Z](, ?[A-Z])*)?")
_MAIL_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+\.[\w.]+")


def schema_findings(folder: DatasetFolder) -> Iterator[Finding]:
    """Check the tables' columns and numbers of rows; the ``where`` of a wrong schema is the table's path."""
    builder = folder.report.get("builder")
    if folder.report and builder not in _SCHEMAS:
        yield error("report", "build_report.json", f"names builder {builder!r}; known are {', '.join(_SCHEMAS)}")
    schemas = _SCHEMAS.get(str(builder), {})
    for table in folder.tables:
        yield from _schema(table, schemas.get(table.name))
    yield from _counts(folder)


def row_findings(folder: DatasetFolder) -> Iterator[Finding]:
    """Check every row of tables whose schema is right."""
    for table in folder.tables:
        yield from _ids(table)
        for index, row in enumerate(table.rows):
            yield from _row(table.where(index), row)


def _schema(table: Table, expected: pa.Schema | None) -> Iterator[Finding]:
    if expected is None:
        yield error("schema", table.path, "is no table of this benchmark; remove it or build again")
        return
    if "video" in table.schema.names:  # a build without a single clip has this null column in place of file_name
        expected = expected.remove(expected.get_field_index("file_name"))
    found = {field.name: field.type for field in table.schema if field.name != "video"}
    for field in expected:
        if field.name not in found:
            yield error("schema", table.path, f"column {field.name} is missing; build the dataset again")
        elif found[field.name] != field.type:
            yield error("schema", table.path, f"column {field.name} is {found[field.name]}, not {field.type}")
    for name in sorted(set(found) - set(expected.names)):
        if name in _NAMING_COLUMNS:
            yield error("personal-name", table.path, f"column {name} names people; it must not be published")
        else:
            yield error("schema", table.path, f"column {name} is unknown; build the dataset again")


def _ids(table: Table) -> Iterator[Finding]:
    counts = Counter(row.get("question_id") for row in table.rows)
    for question_id, n_rows in counts.items():
        if n_rows > 1:
            yield error("question-id", table.path, f"{n_rows} rows have question_id {question_id!r}")
        if not isinstance(question_id, str) or not question_id:
            yield error("question-id", table.path, f"a row has question_id {question_id!r}")


def _row(where: str, row: Mapping[str, Any]) -> Iterator[Finding]:
    for name, value in row.items():
        if value is None and name not in _MAY_BE_NULL:
            yield error("null", where, f"{name} is null")
        elif name == "question" and not str(value).strip():
            yield error("null", where, "the question is empty")
    if row.get("options") is not None:
        yield from _answer(where, row)
    yield from _lists(where, row)
    yield from _times(where, row)
    yield from _people(where, row)
    n_bytes = len(json.dumps(row, ensure_ascii=False, default=str).encode())
    if n_bytes > MAX_ROW_BYTES:
        yield warning("row-size", where, f"is {n_bytes} bytes; above {MAX_ROW_BYTES} the Hub's viewer cuts cells")


def _answer(where: str, row: Mapping[str, Any]) -> Iterator[Finding]:
    letters, answer = string.ascii_uppercase[: len(row["options"])], row.get("answer") or []
    strange = [letter for letter in answer if letter not in list(letters)]
    if strange:
        yield error("answer", where, f"answer names {', '.join(map(repr, strange))}; the options are {letters}")
    if not answer or len(set(answer)) != len(answer):
        yield error("answer", where, f"answer {answer} is empty or names a letter twice")
    if row.get("n_select") != len(answer):
        yield error("answer", where, f"n_select is {row.get('n_select')}, the answer has {len(answer)} letters")
    if not all(isinstance(option, str) and option.strip() for option in row["options"]):
        yield error("answer", where, "an option is empty")


def _lists(where: str, row: Mapping[str, Any]) -> Iterator[Finding]:
    """Columns with one entry a clip are of one length, and the first clip is the row's ``video``."""
    if "file_names" not in row:
        return
    names = row["file_names"] or []
    for column in _PER_CLIP:
        if row.get(column) is not None and len(row[column]) != len(names):
            yield error("clip-lists", where, f"{column} has {len(row[column])} entries for {len(names)} clips")
    if names[:1] != [row.get("file_name")]:
        yield error("clip-lists", where, "file_name is not the first of file_names")


def _times(where: str, row: Mapping[str, Any]) -> Iterator[Finding]:
    for start, end in (("start_s", "end_s"), ("window_start_s", "window_end_s")):
        start_s, end_s = row.get(start), row.get(end)
        if start_s is not None and end_s is not None and not 0 <= start_s < end_s:
            yield error("times", where, f"{start} {start_s} and {end} {end_s}: it must end after a start of 0 or later")


def _people(where: str, row: Mapping[str, Any]) -> Iterator[Finding]:
    for reason in row.get("reasons") or ():
        if not _REASON.fullmatch(str(reason)):
            yield error("personal-name", where, f"reasons holds {reason!r}, which may name a person")
    if address := _MAIL_ADDRESS.search(json.dumps(row, ensure_ascii=False, default=str)):
        yield error("personal-name", where, f"holds a mail address: {address[0]}")


def _counts(folder: DatasetFolder) -> Iterator[Finding]:
    """The report says how many rows were built."""
    rows = {table.name: len(table.rows) for table in folder.tables}
    for summary in folder.report.get("summaries", ()):
        name, n_rows = summary.get("name"), summary.get("rows")
        if name in rows and rows[name] != n_rows:
            yield error(
                "report", f"{name}/metadata.parquet", f"holds {rows[name]} rows, build_report.json says {n_rows}"
            )
    for name in folder.report.get("configs", ()):
        if name not in rows:
            yield error("report", str(name), "build_report.json names this config, which has no readable table")
