"""Writing a report: each file complete or not there."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

import pandas as pd

from egobench_tasks import __version__
from egobench_tasks.benchmarks import EGOTEMPO
from egobench_tasks.data import locate
from egobench_tasks.errors import InputError
from egobench_tasks.files import check_output_folder, write_atomically
from egobench_tasks.report.analyse.budgets import NO_PRICE, Price
from egobench_tasks.report.read.choice_results import FindDataset, score_choice_runs
from egobench_tasks.report.read.open_reader import OpenRun, load_open_rows
from egobench_tasks.report.read.open_results import read_open_runs
from egobench_tasks.report.read.responses import Run
from egobench_tasks.report.read.runs import find_runs
from egobench_tasks.report.show.document import Document, egogears_document, egotempo_document, joined
from egobench_tasks.report.show.markdown import render_markdown
from egobench_tasks.report.show.page import render_page

JSON_SCHEMA = 1


class Format(StrEnum):
    """The forms a report comes in."""

    HTML = "html"
    MARKDOWN = "md"
    CSV = "csv"
    JSON = "json"


def write_report(
    runs: Sequence[Path],
    out: Path,
    formats: Sequence[Format] = tuple(Format),
    find_dataset: FindDataset = locate,
    against: Path | None = None,
    price: Price = NO_PRICE,
) -> list[Path]:
    """Read the runs, score them against the datasets, and write the report into ``out``.

    Writes ``report.html``, ``report.md`` with ``figures/*.svg``, ``csv/*.csv`` and ``report.json``,
    as far as ``formats`` asks for them, and returns their paths. Raises ``InputError`` for runs that
    cannot be read or are of another dataset, before anything is written. ``against`` and
    ``price``: see `build_document`.
    """
    check_output_folder(out)
    return write_document(build_document(runs, find_dataset, against, price), out, "report", formats)


def write_document(document: Document, out: Path, name: str, formats: Sequence[Format] = tuple(Format)) -> list[Path]:
    """Write a document into ``out`` as ``NAME.html`` and so on; see `write_report`. Returns the files' paths."""
    files: dict[str, str] = {}
    if Format.HTML in formats:
        files[f"{name}.html"] = render_page(document)
    if Format.MARKDOWN in formats:
        files[f"{name}.md"] = render_markdown(document)
        files |= {f"figures/{plot.key}.svg": plot.svg for section in document.sections for plot in section.plots}
    if Format.CSV in formats:
        files |= {f"csv/{name}.csv": _without_formulas(frame).to_csv(index=False) for name, frame in _frames(document)}
    if Format.JSON in formats:
        files[f"{name}.json"] = render_json(document)
    return _write(out, files)


def build_document(
    runs: Sequence[Path],
    find_dataset: FindDataset = locate,
    against: Path | None = None,
    price: Price = NO_PRICE,
) -> Document:
    """Read and score the runs and lay out their report.

    ``against`` holds one run, of either benchmark or both, among ``runs`` or not: every other run's paired difference
    from it stands beside its scores (EgoTempo's before the same judge). ``price`` is that of a served model's tokens,
    for what each probe cost. Raises ``InputError`` as `write_report` does.
    """
    paths = [*runs]
    if against is not None and against.resolve() not in {path.resolve() for path in runs}:
        paths.append(against)
    found = find_runs(paths)
    documents = []
    if found.choice:
        results = score_choice_runs(found.choice, find_dataset)
        if against is not None and _is_at(found.choice, against):
            results = results.against(against)
        documents.append(egogears_document(results, price))
    if found.open:
        rows = load_open_rows(find_dataset(EGOTEMPO))
        opened = read_open_runs(found.open, rows)
        if against is not None and _is_at(found.open, against):
            opened = opened.against(against)
        documents.append(egotempo_document(opened))
    return joined(documents)


def _is_at(runs: Iterable[Run | OpenRun], folder: Path) -> bool:
    return any(run.folder.resolve() == folder.resolve() for run in runs)


def render_json(document: Document) -> str:
    """Return the report's tables for programs: all digits, rates in [0, 1], null for what is not known."""
    tables = {
        table.key: {"title": table.title, "note": table.note, "rows": [_plain(row) for row in _records(table.rows)]}
        for table in document.tables
    }
    content = {
        "schema": JSON_SCHEMA,
        "egobench": __version__,
        "title": document.title,
        "subtitle": document.subtitle,
        "notices": list(document.notices),
        "records": document.records,
        "tables": tables,
    }
    return json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def _records(frame: pd.DataFrame) -> list[Mapping[Any, Any]]:
    return list(frame.astype(object).to_dict("records"))


def _plain(row: Mapping[Any, Any]) -> dict[str, Any]:
    return {str(name): _plain_value(value) for name, value in row.items()}


def _plain_value(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    if value is pd.NA or (isinstance(value, float) and not math.isfinite(value)):
        return None
    return value.item() if hasattr(value, "item") else value


def _frames(document: Document) -> Iterable[tuple[str, pd.DataFrame]]:
    for table in document.tables:
        rows = table.rows.copy()
        for name in rows:
            if any(isinstance(value, tuple) for value in rows[name]):
                rows[name] = rows[name].str.join(" ")
        yield table.key, rows
    yield from document.data.items()


def _without_formulas(frame: pd.DataFrame) -> pd.DataFrame:
    """Text that a spreadsheet would compute, or run, gets a quotation mark before it; numbers stay numbers."""
    return frame.rename(columns=_quoted).map(_quoted)


def _quoted(cell: Any) -> Any:
    if not isinstance(cell, str) or not cell.lstrip().startswith(("=", "+", "-", "@", "\t", "\r")):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell


def _write(out: Path, files: Mapping[str, str]) -> list[Path]:
    paths = []
    try:
        for name, content in files.items():
            path = out / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with write_atomically(path) as file:
                file.write(content.encode())
            paths.append(path)
    except OSError as error:
        raise InputError(f"{out}: cannot write the report: {error}; give another folder with --out") from error
    return paths
