"""The files of an audit: none is left of an earlier one in the same folder."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from egobench_tasks.errors import InputError
from egobench_tasks.files import write_atomically
from egobench_tasks.making.audit.document import TABLES
from egobench_tasks.making.audit.finding import TITLES, Finding, write_findings
from egobench_tasks.report.analyse.tables import Column, Kind, table
from egobench_tasks.report.show.document import Document
from egobench_tasks.report.show.spreadsheet import render_csv
from egobench_tasks.report.show.write import Format, write_document

FINDINGS_FILE = "findings.jsonl"
TABLE_FILE = "audit.csv"
_ALL_FILES = ("audit.html", "audit.md", TABLE_FILE, FINDINGS_FILE, *(f"csv/{key}.csv" for key in TABLES))
_COLUMNS = tuple(
    Column(name, name, Kind.TEXT) for name in ("question_id", "rule", "what", "message", "related", "evidence")
)


def write_audit(document: Document, findings: Sequence[Finding], out: Path) -> list[Path]:
    """Write an audit into ``out`` and return its files, ``findings.jsonl`` last.

    What an earlier audit wrote there goes first: a file that is there after a kill is of this one.
    """
    try:
        for name in _ALL_FILES:
            (out / name).unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"{out}: an earlier audit cannot be replaced: {error}; give another folder") from error
    written = write_document(document, out, "audit", (Format.HTML, Format.MARKDOWN, Format.CSV))
    write_findings_csv(out / TABLE_FILE, findings)
    write_findings(out / FINDINGS_FILE, findings)
    return [*written, out / TABLE_FILE, out / FINDINGS_FILE]


def write_findings_csv(path: Path, findings: Iterable[Finding]) -> None:
    """Write findings as a table, a row each, complete or not at all; ``evidence`` is JSON in its cell."""
    rows = [
        {
            "question_id": one.question_id,
            "rule": one.rule.value,
            "what": TITLES[one.rule],
            "message": one.message,
            "related": " ".join(one.related),
            "evidence": json.dumps(one.evidence, ensure_ascii=False, sort_keys=True),
        }
        for one in findings
    ]
    with write_atomically(path) as file:
        file.write(render_csv(table("audit", "", "", _COLUMNS, rows)).encode())
