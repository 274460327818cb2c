"""A part of a report."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from egobench_tasks.report.analyse.tables import Table
from egobench_tasks.report.show.plots import Plot
from egobench_tasks.report.show.thumbnails import Thumbnail


@dataclass(frozen=True, slots=True)
class Section:
    """Tables and figures under one heading. ``key`` is its place in the page.

    ``leads``: stands before the sections that do not, whichever benchmark's they are. ``strips``: small frames of
    questions, by question id, to stand beside the ids.
    """

    key: str
    title: str
    text: str
    tables: tuple[Table, ...]
    plots: tuple[Plot, ...]
    leads: bool = False
    strips: Mapping[str, tuple[Thumbnail, ...]] = field(default_factory=dict)
