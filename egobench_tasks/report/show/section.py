"""A part of a report."""

from dataclasses import dataclass

from egobench_tasks.report.analyse.tables import Table
from egobench_tasks.report.show.plots import Plot


@dataclass(frozen=True, slots=True)
class Section:
    """Tables and figures under one heading. ``key`` is its place in the page."""

    key: str
    title: str
    text: str
    tables: tuple[Table, ...]
    plots: tuple[Plot, ...]
