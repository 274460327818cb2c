"""Two runs of EgoTempo side by side in a terminal: paired by question, before the same judge."""

import math
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
from rich.console import RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from egobench_tasks.benchmarks import EGOTEMPO
from egobench_tasks.errors import InputError
from egobench_tasks.report.analyse.open_pairs import OpenPair, paired
from egobench_tasks.report.analyse.open_tables import category_average
from egobench_tasks.report.analyse.statistics import holm
from egobench_tasks.report.analyse.tables import Kind, show
from egobench_tasks.report.read.open_outcomes import CODES
from egobench_tasks.report.read.open_results import OpenResults, by_judge


def compare_open_runs(results: OpenResults, first: Path, second: Path) -> list[RenderableType]:
    """Return the comparison of the runs in two folders, for each judge of both and setting of both.

    Raises ``InputError`` where no judge judged both, where a folder holds several runs before one judge, and where no
    question of one setting is decided in both.
    """
    one, other = (by_judge(results.summaries, folder) for folder in (first, second))
    judges = [digest for digest in one if digest in other]
    if not judges:
        raise InputError(
            f"{EGOTEMPO.title}: no judge judged both {first} ({_judges(results, first)}) and {second} "
            f"({_judges(results, second)}); judge both by one: egobench judge RUN --model NAME --base-url URL"
        )
    parts: list[RenderableType] = [Text(f"! {notice}", style="yellow") for notice in results.notices]
    compared = [part for digest in judges for part in _before_one_judge(results, one[digest], other[digest])]
    if not compared:
        raise InputError(f"{first}, {second}: no question of one setting is decided in both: nothing to compare")
    return parts + compared


def _judges(results: OpenResults, folder: Path) -> str:
    here = (one.judge for one in results.summaries if one.folder.resolve() == folder.resolve())
    return ", ".join(dict.fromkeys(here))


def _before_one_judge(results: OpenResults, first: str, second: str) -> Iterator[RenderableType]:
    outcomes = results.outcomes
    of_first, of_second = (outcomes[outcomes["run"] == label] for label in (first, second))
    for setting in dict.fromkeys(of_first["setting"]):
        here = [run[run["setting"] == setting] for run in (of_first, of_second)]
        pair = paired(*here)
        if pair is not None:
            asked = len(set(here[0]["question_id"]) | set(here[1]["question_id"]))
            yield _table(pair, f"{EGOTEMPO.title}, {setting}", first, second)
            yield _changes(pair, asked)


def _table(pair: OpenPair, title: str, first: str, second: str) -> RichTable:
    table = RichTable(title=f"{title}: {pair.counts.total:,} questions decided in both", title_justify="left")
    for head in ("", "Questions", first, second, "Difference (points)", "95 %, clustered", "p, Holm"):
        table.add_column(head, justify="right" if head else "left")
    means = [category_average(run.reset_index()) for run in (pair.first, pair.second)]
    table.add_row("average", "", *_rates(*means), "", "")
    table.add_row("accuracy", *_row(pair), "")
    parts = {code: paired(*(_category(run, code) for run in (pair.first, pair.second))) for code in CODES}
    found = {code: part for code, part in parts.items() if part is not None}
    if len(found) > 1:
        for (code, part), p_value in zip(
            found.items(), holm([part.p_clustered for part in found.values()]), strict=True
        ):
            table.add_row(code, *_row(part), show(p_value, Kind.P_VALUE))
    return table


def _category(run: pd.DataFrame, code: str) -> pd.DataFrame:
    return run[run["category_code"] == code].reset_index()


def _row(pair: OpenPair) -> list[str]:
    estimate = pair.difference
    rates = _rates(*(float(run["correct"].mean()) for run in (pair.first, pair.second)))
    interval = f"{show(estimate.low, Kind.POINTS)} to {show(estimate.high, Kind.POINTS)}"
    return [f"{pair.counts.total:,}", *rates, interval]


def _rates(one: float, other: float) -> list[str]:
    return [show(one, Kind.PERCENT, 2), show(other, Kind.PERCENT, 2), show(other - one, Kind.POINTS, 2)]


def _changes(pair: OpenPair, asked: int) -> Text:
    counts, error = pair.counts, pair.difference.error
    left_out = asked - counts.total
    return Text(
        f"both right {counts.both_right:,}, rescued {counts.rescued:,}, destabilised {counts.destabilised:,}, "
        f"both wrong {counts.both_wrong:,}; McNemar's exact p = {show(counts.p_value, Kind.P_VALUE)}\n"
        f"{error.clusters:,} videos: exact test of flipped signs p = {show(pair.p_clustered, Kind.P_VALUE)}; "
        f"{would_have_shown(pair.smallest)}\n"
        + (f"{left_out:,} of {asked:,} questions are not decided in both and left out\n" if left_out else "")
    )


def would_have_shown(smallest: float) -> str:
    """Say the smallest difference, a share, that a comparison would have found at 80 % power; NaN where none is."""
    if math.isnan(smallest):
        return "no difference can be named that would have shown four times in five"
    return f"{show(smallest, Kind.PERCENT)} points would have shown four times in five"
