"""A table of a report: numbers in full, and how each column is shown. Renderers know nothing else."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import pandas as pd

from egobench_tasks.report.analyse.terms import in_words

NOT_KNOWN = "–"
ORIGIN = "origin"
PUBLISHED = "published"


class Kind(StrEnum):
    """How a column's values are written. Rates are kept in [0, 1] and shown in per cent."""

    TEXT = "text"
    RUN = "run"  # a run's name, which may be long
    MARK = "mark"  # what a reader must know of a run: `choice_results.mark`
    TERM = "term"  # a dataset's own id for a kind of question, shown in words with the id beside them
    COUNT = "count"
    PERCENT = "percent"
    POINTS = "points"
    RATIO = "ratio"
    P_VALUE = "p_value"
    QUESTION = "question"  # a question's id, to link to
    QUESTIONS = "questions"  # a tuple of ids

    @property
    def is_text(self) -> bool:
        """Whether a column of this kind holds words, to the left, and not numbers."""
        return self in _WORDS


_WORDS = frozenset({Kind.TEXT, Kind.RUN, Kind.MARK, Kind.TERM, Kind.QUESTION, Kind.QUESTIONS})


@dataclass(frozen=True, slots=True)
class Column:
    """A column as shown. ``low`` and ``high`` name the columns that hold its interval, if it has one; ``clustered_low``
    and ``clustered_high`` those of the one that allows for clusters of questions, shown beside it.

    ``decimals`` are those shown; files for programs get all digits. ``aside``: a page shows it when it is asked for all
    columns, so that those which matter most fit.
    """

    name: str
    title: str
    kind: Kind
    decimals: int = 1
    low: str | None = None
    high: str | None = None
    clustered_low: str | None = None
    clustered_high: str | None = None
    aside: bool = False

    @property
    def bounds(self) -> tuple[tuple[str, str], ...]:
        """The columns of its intervals, the plain one first."""
        pairs = ((self.low, self.high), (self.clustered_low, self.clustered_high))
        return tuple((low, high) for low, high in pairs if low is not None and high is not None)


@dataclass(frozen=True, slots=True)
class Table:
    """``rows`` holds all columns, those of intervals included; ``columns`` says which are shown, and how.

    ``key`` names its file and its place in the page. A row whose column `ORIGIN` says `PUBLISHED`
    is a paper's figure, not a run's. ``apart``: the runs' dataset is not the published one, so that the two kinds of
    row must not be sorted into one ranking.
    """

    key: str
    title: str
    note: str
    columns: tuple[Column, ...]
    rows: pd.DataFrame
    apart: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """A value as shown, its interval as shown, and the number to sort by (None for text and for no value)."""

    text: str
    interval: str | None = None
    number: float | None = None


def cells(table: Table) -> list[list[Cell]]:
    """Return the table as shown, row by row."""
    return [[_cell(column, row) for column in table.columns] for row in table.rows.to_dict("records")]


def is_published(table: Table) -> list[bool]:
    """Return for each row whether it is a published figure."""
    if ORIGIN not in table.rows:
        return [False] * len(table.rows)
    return [value == PUBLISHED for value in table.rows[ORIGIN]]


def show(value: Any, kind: Kind, decimals: int = 1) -> str:
    """Write one value as tables do.

    >>> show(0.38399, Kind.PERCENT, 2), show(-0.031, Kind.POINTS), show(0.0004, Kind.P_VALUE)
    ('38.40', '−3.1', '<0.001')
    """
    if _is_unknown(value):
        return NOT_KNOWN
    match kind:
        case Kind.TEXT | Kind.RUN | Kind.MARK | Kind.QUESTION:
            return str(value)
        case Kind.TERM:
            return in_words(str(value))
        case Kind.QUESTIONS:
            return " ".join(value)
        case Kind.COUNT:
            return f"{int(value):,}"
        case Kind.PERCENT:
            return _minus(f"{100 * value:.{decimals}f}")
        case Kind.POINTS:
            return _minus(f"{100 * value:+.{decimals}f}")
        case Kind.RATIO:
            return _minus(f"{value:.{decimals}f}")
        case Kind.P_VALUE:
            return "<0.001" if value < 0.001 else f"{value:.3f}"


def _cell(column: Column, row: Mapping[Any, Any]) -> Cell:
    value: Any = row.get(column.name)
    if _is_unknown(value):
        return Cell(NOT_KNOWN)
    if column.kind is Kind.QUESTIONS:
        return Cell(show(value, column.kind), number=float(len(value)))
    number = None if column.kind.is_text else float(value)
    text = show(value, column.kind, column.decimals)
    intervals = [
        f"{'clustered ' if low == column.clustered_low else ''}{show(row[low], column.kind, column.decimals)} to "
        f"{show(row[high], column.kind, column.decimals)}"
        for low, high in column.bounds
        if not _is_unknown(row.get(low))
    ]
    return Cell(text, "; ".join(intervals) or None, number)


def _is_unknown(value: object) -> bool:
    return value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value))


def _minus(text: str) -> str:
    """A real minus sign, and none before a zero."""
    if text.startswith(("-", "+")) and not text.strip("+-0."):
        return text[1:]
    return text.replace("-", "−")


def table(
    key: str,
    title: str,
    note: str,
    columns: Sequence[Column],
    rows: Sequence[Mapping[str, Any]] | pd.DataFrame,
    *,
    apart: bool = False,
) -> Table:
    """Make a table; rows may be records."""
    names = [name for column in columns for name in (column.name, *(bound for pair in column.bounds for bound in pair))]
    frame = rows if isinstance(rows, pd.DataFrame) else pd.DataFrame(list(rows), columns=_all_names(rows, names))
    return Table(key, title, note, tuple(columns), frame, apart)


def _all_names(rows: Sequence[Mapping[str, Any]], shown: Sequence[str]) -> list[str]:
    """The shown columns first, then what else the rows hold, each once."""
    return list(dict.fromkeys([*shown, *(name for row in rows for name in row)]))
