"""A report's table in the terminal."""

from rich.console import Group, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from egobench_tasks.report.analyse.tables import Table, cells


def rich_table(table: Table) -> RenderableType:
    """Return the table with its note below; numbers stand to the right."""
    shown = RichTable(title=table.title, title_justify="left")
    for column in table.columns:
        shown.add_column(column.title, justify="left" if column.kind.is_text else "right", overflow="fold")
    for row in cells(table):
        shown.add_row(*(Text(f"{cell.text} ({cell.interval})" if cell.interval else cell.text) for cell in row))
    return Group(shown, Text(table.note))
