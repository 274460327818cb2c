"""Two runs side by side in a terminal."""

from collections.abc import Sequence
from functools import partial
from math import lcm
from pathlib import Path
from typing import Any

import pandas as pd
from rich.console import Group, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from egobench_tasks.benchmarks import EGOGEARS, EGOTEMPO
from egobench_tasks.data import locate
from egobench_tasks.errors import InputError
from egobench_tasks.report.analyse.clusters import singletons
from egobench_tasks.report.analyse.comparisons import Pair, compare_pairs
from egobench_tasks.report.analyse.estimates import sign_flip
from egobench_tasks.report.analyse.overall import summarise
from egobench_tasks.report.analyse.statistics import Floats, bootstrap_means, holm, percentile_interval
from egobench_tasks.report.analyse.tables import Kind, show
from egobench_tasks.report.analyse.terms import in_words
from egobench_tasks.report.read.choice_questions import load_split
from egobench_tasks.report.read.choice_results import FindDataset, Results, score_choice_runs
from egobench_tasks.report.read.open_reader import load_open_rows
from egobench_tasks.report.read.open_results import read_open_runs
from egobench_tasks.report.read.people import choice_people, is_sample
from egobench_tasks.report.read.responses import Run
from egobench_tasks.report.read.runs import find_runs
from egobench_tasks.report.show.compare_open import compare_open_runs, would_have_shown
from egobench_tasks.scoring.scores import kappa

_METRICS = ("exact_set", "jaccard", "overlap", "wellformed", "answered")


def compare_runs(first: Path, second: Path, find_dataset: FindDataset = locate) -> RenderableType:
    """Return the comparison of two runs on the questions of the splits that both answered.

    Scores with paired bootstrap intervals of their differences, rescued and destabilised questions
    with McNemar's exact test, and units with Holm's correction. Where one run is a person's answers to a sample, on
    that sample. Where both paths hold runs of EgoTempo, those too, as `compare_open` does. Raises ``InputError`` for
    runs that cannot be read, a path that holds several runs, and runs without a split in common.
    """
    found = find_runs([first, second])
    parts: list[RenderableType] = []
    if len({run.folder.resolve() for run in found.open}) == 2:
        opened = read_open_runs(found.open, load_open_rows(find_dataset(EGOTEMPO)))
        parts += compare_open_runs(opened, first, second)
    if not parts or len({run.folder.resolve() for run in found.choice}) == 2:
        parts += _choice(found.choice, first, second, find_dataset)
    return Group(*parts)


def _choice(runs: Sequence[Run], first: Path, second: Path, find_dataset: FindDataset) -> list[RenderableType]:
    if not runs:
        raise InputError(f"{first}, {second}: hold no benchmark in common, so there is nothing to compare")
    people = choice_people(runs, partial(load_split, find_dataset(EGOGEARS))) if any(map(is_sample, runs)) else None
    results = people.results if people and people.results else score_choice_runs(runs, find_dataset)
    if len(results.labels) != 2:
        raise InputError(
            f"{first}, {second}: hold {len(results.labels)} runs ({', '.join(results.labels)}); give one each"
        )
    pair = Pair(*results.labels)
    shared = [config for config in results.configs if len(results.matrix(config, "exact_set").columns) == 2]
    if not shared:
        raise InputError(f"{first}, {second}: answered no split in common, so there is nothing to compare")
    parts: list[RenderableType] = [Text(f"! {notice}", style="yellow") for notice in results.notices]
    changes = {row["config"]: row for row in compare_pairs(results, [pair])}
    for config in shared:
        parts += [_scores(results, pair, config), _changes(changes[config]), _units(results, pair, config)]
    return parts


def _scores(results: Results, pair: Pair, config: str) -> RichTable:
    outcomes = results.of(config)
    one, other = (summarise(outcomes[outcomes["run"] == label]) for label in (pair.first, pair.second))
    answers = max(results.answers(config)[label] for label in (pair.first, pair.second))
    title = f"{config}: {one['questions']:,} questions" + (f", up to {answers} answers each" if answers > 1 else "")
    table = RichTable(title=title, title_justify="left")
    for title in ("", pair.first, pair.second, "Difference (points)", "95 % interval"):
        table.add_column(title, justify="right" if title else "left")
    for metric in _METRICS:
        values = results.means(config, metric)[[pair.first, pair.second]]
        first, second = (float(values[label].mean()) for label in values)
        table.add_row(metric, *_figures(first, second, bootstrap_means(values.to_numpy())))
    exact = results.means(config, "exact_set")[[pair.first, pair.second]].mean()
    kappas = [kappa(rate, score["chance"]) for rate, score in zip(exact, (one, other), strict=True)]
    table.add_row("kappa", *(show(value, Kind.PERCENT, 2) for value in kappas), "", "")
    table.add_row("chance", *(show(score["chance"], Kind.PERCENT, 2) for score in (one, other)), "", "")
    return table


def _figures(one: float, other: float, draws: Floats) -> list[str]:
    low, high = percentile_interval(draws[:, 1] - draws[:, 0])
    return [
        show(one, Kind.PERCENT, 2),
        show(other, Kind.PERCENT, 2),
        show(other - one, Kind.POINTS, 2),
        f"{show(low, Kind.POINTS)} to {show(high, Kind.POINTS)}",
    ]


def _changes(row: dict[str, Any]) -> Text:
    return Text(
        f"both right {row['both_right']:,}, rescued {row['rescued']:,}, destabilised {row['destabilised']:,}, "
        f"both wrong {row['both_wrong']:,}; "
        f"{_test(row)} p = {show(row['p_value'], Kind.P_VALUE)}\n"
        f"{row['clusters']:,} clusters of questions: difference {show(row['gain'], Kind.POINTS, 2)} points "
        f"({show(row['clustered_low'], Kind.POINTS)} to {show(row['clustered_high'], Kind.POINTS)}), exact test of "
        f"flipped signs p = {show(row['p_clustered'], Kind.P_VALUE)}; "
        f"{would_have_shown(row['smallest'])}{'; ' + row['doubt'] if row['doubt'] else ''}\n"
        + ("all answers count; a question is right where more than half are\n" if row["answers"] > 1 else "")
    )


def _test(row: dict[str, Any]) -> str:
    return "McNemar's exact" if row["answers"] == 1 else "exact test of flipped signs over questions"


def _units(results: Results, pair: Pair, config: str) -> RenderableType:
    matrix = results.means(config, "exact_set")[[pair.first, pair.second]]
    parts = lcm(*(results.answers(config)[label] for label in matrix))
    units = results.splits[config].attributes.set_index("question_id").loc[matrix.index, "unit"]
    names: Sequence[str] = list(dict.fromkeys(units))
    if len(names) < 2:
        return Text("")
    members = {name: matrix[(units == name).to_numpy()] for name in names}
    adjusted = holm([_flips(member, parts) for member in members.values()])
    table = RichTable(title=f"{config}, exact by unit", title_justify="left")
    for title in ("Unit", "Questions", pair.first, pair.second, "Difference (points)", "95 % interval", "p, Holm"):
        table.add_column(title, justify="left" if title == "Unit" else "right")
    for name, p_value in zip(names, adjusted, strict=True):
        part = members[name]
        one, other = (float(part[label].mean()) for label in (pair.first, pair.second))
        figures = _figures(one, other, bootstrap_means(part.to_numpy()))
        table.add_row(in_words(name), f"{len(part):,}", *figures, show(p_value, Kind.P_VALUE))
    return table


def _flips(pair: pd.DataFrame, parts: int) -> float:
    """McNemar's exact test over questions, or what it becomes where their answers' means are of ``parts``."""
    first, second = (pair[label].to_numpy(dtype=float) for label in pair)
    return sign_flip(second - first, singletons(len(pair)), parts)
