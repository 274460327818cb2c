"""One self-contained HTML page: nothing is fetched, tables sort and are copied, figures are vector graphics."""

import base64
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from markupsafe import Markup

from egobench_tasks import __version__
from egobench_tasks.errors import InputError
from egobench_tasks.report.analyse.tables import Cell, Column, Table, cells, is_published
from egobench_tasks.report.show.document import Document
from egobench_tasks.report.show.latex import render_latex
from egobench_tasks.report.show.spreadsheet import render_csv
from egobench_tasks.report.show.templating import page_templates

_ASSETS = Path(__file__).parent / "assets"
_LONG_NAME_CHARS = 14
_END_CHARS = 7
_SHOWN_NOTICES = 3
_MARKS = {"whole": "●", "partial": "◐", "mixed": "◇"}


def render_page(document: Document, browse_url: str | None = None) -> str:
    """Return the page as text. Whatever a run or a dataset holds is escaped.

    ``browse_url``: where `egobench browse` answers (`check_browse_url`): question ids are links to there; without one
    they are plain text.
    """
    return (
        page_templates([_ASSETS], _FILTERS)
        .get_template("page.html.j2")
        .render(
            document=document,
            version=__version__,
            question_url=lambda question_id: None if browse_url is None else question_url(browse_url, question_id),
            n_shown_notices=_SHOWN_NOTICES,
            css=Markup(_asset("page.css")),
            script=Markup(_asset("page.js")),
        )
    )


def check_browse_url(browse_url: str | None) -> None:
    """Raise ``InputError`` for what is no address of a browser's page: a link to it might do anything."""
    if browse_url is None:
        return
    try:
        parts = urlsplit(browse_url)
        is_address = parts.scheme in ("http", "https") and parts.hostname and not parts.query and not parts.fragment
        _ = parts.port
    except ValueError:
        is_address = False
    if not is_address:
        raise InputError(
            f"--browse-url: {browse_url!r} is no address; give the one that `egobench browse` prints, such as "
            "http://127.0.0.1:7860/"
        )


def question_url(browse_url: str, question_id: str) -> str:
    """The address of a question in a running `egobench browse`."""
    return f"{browse_url.rstrip('/')}/?question={quote(question_id, safe='')}"


def name_parts(name: str) -> tuple[str, str]:
    """Split a long name where a page without room for it may cut: before its end, which tells runs apart.

    >>> name_parts("Qwen3-VL-235B-A22B-Thinking"), name_parts("always-B")
    (('Qwen3-VL-235B-A22B-T', 'hinking'), ('always-B', ''))
    """
    return (name[:-_END_CHARS], name[-_END_CHARS:]) if len(name) > _LONG_NAME_CHARS else (name, "")


def _term_parts(text: str) -> tuple[str, str]:
    """Words and the id behind them; see `terms.in_words`."""
    words, parted, term = text.removesuffix(")").rpartition(" (")
    return (words, term) if parted and text.endswith(")") else (text, "")


def _marks(mark: str) -> list[tuple[str, str]]:
    return [(_MARKS.get(name, ""), name) for name in mark.split(", ")]


def _shown_rows(table: Table) -> list[tuple[list[tuple[Column, Cell]], bool]]:
    return [
        (list(zip(table.columns, row, strict=True)), published)
        for row, published in zip(cells(table), is_published(table), strict=True)
    ]


def _base64(content: str | bytes) -> str:
    return base64.b64encode(content.encode() if isinstance(content, str) else content).decode()


_FILTERS: Mapping[str, Callable[..., Any]] = {
    "base64": _base64,
    "csv": render_csv,
    "latex": render_latex,
    "marks": _marks,
    "name_parts": name_parts,
    "term_parts": _term_parts,
    "rate": lambda number: round(100 * min(1.0, max(0.0, number)), 1),
    "shown_rows": _shown_rows,
    "as_json": lambda record: json.dumps(record, indent=1, ensure_ascii=False),
}


def _asset(name: str) -> str:
    return (_ASSETS / name).read_text(encoding="utf-8")
