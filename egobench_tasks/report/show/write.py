"""Writing a report: each file complete or not there."""

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

import pandas as pd

from egobench_tasks import __version__
from egobench_tasks.benchmarks import EGOGEARS, EGOTEMPO
from egobench_tasks.data import locate
from egobench_tasks.errors import InputError
from egobench_tasks.files import check_output_folder, write_atomically
from egobench_tasks.report.analyse.budgets import NO_PRICE, Price
from egobench_tasks.report.read.choice_questions import Split, load_split
from egobench_tasks.report.read.choice_results import FindDataset, score_choice_runs
from egobench_tasks.report.read.open_reader import load_open_rows
from egobench_tasks.report.read.open_responses import OpenRun
from egobench_tasks.report.read.open_results import read_open_runs
from egobench_tasks.report.read.people import choice_people, is_sample, open_people
from egobench_tasks.report.read.responses import Run
from egobench_tasks.report.read.runs import find_runs
from egobench_tasks.report.show.document import Document, egogears_document, egotempo_document, joined
from egobench_tasks.report.show.markdown import render_markdown
from egobench_tasks.report.show.page import check_browse_url, render_page
from egobench_tasks.report.show.people import people_document
from egobench_tasks.report.show.spreadsheet import frame_csv, render_csv

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
    browse_url: str | None = None,
) -> list[Path]:
    """Read the runs, score them against the datasets, and write the report into ``out``.

    Writes ``report.html``, ``report.md``, ``figures`` as SVG and PDF beside either, ``csv/*.csv`` and
    ``report.json``, as far as ``formats`` asks for them, and returns their paths. Raises ``InputError`` for runs that
    cannot be read or are of another dataset, before anything is written. ``against`` and ``price``: see
    `build_document`; ``browse_url``: see `page.render_page`.
    """
    check_output_folder(out)
    check_browse_url(browse_url)
    return write_document(build_document(runs, find_dataset, against, price), out, "report", formats, browse_url)


def write_document(
    document: Document,
    out: Path,
    name: str,
    formats: Sequence[Format] = tuple(Format),
    browse_url: str | None = None,
) -> list[Path]:
    """Write a document into ``out`` as ``NAME.html`` and so on; see `write_report`. Returns the files' paths."""
    files: dict[str, str | bytes] = {}
    if Format.HTML in formats:
        files[f"{name}.html"] = render_page(document, browse_url)
    if Format.MARKDOWN in formats:
        files[f"{name}.md"] = render_markdown(document)
    if {Format.HTML, Format.MARKDOWN} & set(formats):
        for plot in (plot for section in document.sections for plot in section.plots):
            files |= {f"figures/{plot.key}.svg": plot.svg, f"figures/{plot.key}.pdf": plot.pdf}
    if Format.CSV in formats:
        files |= {f"csv/{table.key}.csv": render_csv(table) for table in document.tables}
        files |= {f"csv/{name}.csv": frame_csv(frame) for name, frame in document.data.items()}
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
    choice = [run for run in found.choice if not is_sample(run)]
    opened = [run for run in found.open if not is_sample(run)]
    if against is not None and not _is_at([*choice, *opened], against):
        raise InputError(f"--against {against}: a person's sample of questions is no anchor; name a whole run")
    if choice:
        results = score_choice_runs(choice, find_dataset)
        if against is not None and _is_at(choice, against):
            results = results.against(against)
        documents.append(egogears_document(results, price))
    if opened:
        answered = read_open_runs(opened, load_open_rows(find_dataset(EGOTEMPO)))
        if against is not None and _is_at(opened, against):
            answered = answered.against(against)
        documents.append(egotempo_document(answered))
    people = choice_people(found.choice, _splits(find_dataset)), open_people(found.open, find_dataset)
    if any(people):
        documents.append(people_document(*people))
    return joined(documents)


def _splits(find_dataset: FindDataset) -> Callable[[str], Split]:
    return lambda config: load_split(find_dataset(EGOGEARS), config)


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


def _write(out: Path, files: Mapping[str, str | bytes]) -> list[Path]:
    paths = []
    try:
        for name, content in files.items():
            path = out / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with write_atomically(path) as file:
                file.write(content.encode() if isinstance(content, str) else content)
            paths.append(path)
    except OSError as error:
        raise InputError(f"{out}: cannot write the report: {error}; give another folder with --out") from error
    return paths
