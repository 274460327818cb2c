"""The report as Markdown, for a paper's appendix or a pull request."""

import json
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from egobench_tasks.report.analyse.tables import Cell, Column, Kind, Table, cells
from egobench_tasks.report.show.document import Document
from egobench_tasks.report.show.section import Section

# A longer table is of no use in print; its CSV file has all of it.
MAX_ROWS = 120
_MAX_IDS = 10


def render_markdown(document: Document) -> str:
    """Return the report as one Markdown text; figures are the files ``figures/<key>.svg``."""
    notices = [f"> - {_escape(notice)}" for notice in document.notices]
    parts = [f"# {_escape(document.title)}", _escape(document.subtitle)]
    if notices:
        parts.append("\n".join(["> **Read this first**", ">", *notices]))
    for section in document.sections:
        parts += _section(section)
    if document.records:
        parts += ["## How each run was made", *(_record(*pair) for pair in _records(document))]
    return "\n\n".join(parts) + "\n"


def _records(document: Document) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for label, records in document.records.items():
        yield from ((label, record) for record in records)


def _record(label: str, record: Mapping[str, Any]) -> str:
    """A ``run.json``, folded; as HTML, so that nothing in it is read as Markdown."""
    title = f"{label}: run.json, run {record['number']} of its folder"
    text = json.dumps(record, indent=1, ensure_ascii=False)
    return f"<details><summary>{escape(title)}</summary><pre>{escape(text)}</pre></details>"


def _section(section: Section) -> list[str]:
    parts = [f"## {_escape(section.title)}"]
    if section.text:
        parts.append(_escape(section.text))
    parts += [f"![{_escape(plot.alt)}](figures/{plot.key}.svg)" for plot in section.plots]
    for table in section.tables:
        parts += [f"### {_escape(table.title)}", _escape(table.note), _table(table)]
    return [part for part in parts if part]


def _table(table: Table) -> str:
    if len(table.rows) > MAX_ROWS:
        return f"{len(table.rows):,} rows: see `csv/{table.key}.csv`."
    head = "| " + " | ".join(_escape(column.title) for column in table.columns) + " |"
    rule = "|" + "|".join(" --- " if column.kind.is_text else " ---: " for column in table.columns) + "|"
    body = [
        "| " + " | ".join(_cell(column, cell) for column, cell in zip(table.columns, row, strict=True)) + " |"
        for row in cells(table)
    ]
    return "\n".join([head, rule, *body])


def _cell(column: Column, cell: Cell) -> str:
    if column.kind is Kind.QUESTIONS:
        ids = cell.text.split(" ")
        return _escape(" ".join(ids[:_MAX_IDS])) + (" …" if len(ids) > _MAX_IDS else "")
    interval = f" [{cell.interval}]" if cell.interval else ""
    return _escape(cell.text) + interval


def _escape(text: str) -> str:
    """Keep names from being read as Markdown, and a cell on one line."""
    for mark in "\\`*_[]<>|#":
        text = text.replace(mark, f"\\{mark}")
    return " ".join(text.split())
