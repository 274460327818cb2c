"""One self-contained HTML page: nothing is fetched, tables sort, figures are vector graphics."""

import base64
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from egobench_tasks import __version__
from egobench_tasks.report.analyse.tables import Cell, Column, Table, cells, is_published
from egobench_tasks.report.show.document import Document

# Where `egobench browse` listens unless told otherwise.
BROWSE_URL = "http://127.0.0.1:7860/?question="
_ASSETS = Path(__file__).parent / "assets"


def render_page(document: Document) -> str:
    """Return the page as text. Whatever a run or a dataset holds is escaped."""
    environment = Environment(
        loader=FileSystemLoader(_ASSETS), autoescape=True, undefined=StrictUndefined, keep_trailing_newline=True
    )
    filters: dict[str, Callable[..., Any]] = {
        "base64": lambda text: base64.b64encode(text.encode()).decode(),
        "browse_url": browse_url,
        "rate": lambda number: round(100 * min(1.0, max(0.0, number)), 1),
        "shown_rows": _shown_rows,
        "as_json": as_json,
    }
    environment.filters |= filters
    return environment.get_template("page.html.j2").render(
        document=document,
        version=__version__,
        css=Markup(_asset("page.css")),
        script=Markup(_asset("page.js")),
    )


def as_json(record: Mapping[str, Any]) -> str:
    """A ``run.json`` as its file has it."""
    return json.dumps(record, indent=1, ensure_ascii=False)


def browse_url(question_id: str) -> str:
    """The address of a question in a running `egobench browse`."""
    return BROWSE_URL + quote(question_id, safe="")


def _shown_rows(table: Table) -> list[tuple[list[tuple[Column, Cell]], bool]]:
    return [
        (list(zip(table.columns, row, strict=True)), published)
        for row, published in zip(cells(table), is_published(table), strict=True)
    ]


def _asset(name: str) -> str:
    return (_ASSETS / name).read_text(encoding="utf-8")
