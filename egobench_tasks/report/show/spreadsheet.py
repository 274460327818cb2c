"""A table as CSV, all columns and all digits, with nothing in it that a spreadsheet would run."""

from typing import Any

import pandas as pd

from egobench_tasks.report.analyse.tables import Table


def render_csv(table: Table) -> str:
    """Return the table's rows; a tuple of ids is one cell, its ids parted by blanks."""
    rows = table.rows.copy()
    for name in rows:
        if any(isinstance(value, tuple) for value in rows[name]):
            rows[name] = rows[name].str.join(" ")
    return frame_csv(rows)


def frame_csv(frame: pd.DataFrame) -> str:
    """Return a frame as CSV, without its index."""
    return str(without_formulas(frame).to_csv(index=False))


def without_formulas(frame: pd.DataFrame) -> pd.DataFrame:
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
