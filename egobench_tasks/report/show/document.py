"""A report's content in reading order: sections of tables and figures, whatever format it is written in."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import pandas as pd

from egobench_tasks.frames.store import FrameStore
from egobench_tasks.report.analyse import against
from egobench_tasks.report.analyse.breakdowns import DIMENSIONS, breakdown, breakdown_table
from egobench_tasks.report.analyse.budgets import NO_PRICE, Price
from egobench_tasks.report.analyse.certainty import certainty_table
from egobench_tasks.report.analyse.comparisons import differences_table, reasoning_table
from egobench_tasks.report.analyse.failures import hardest_table, unanswered_table
from egobench_tasks.report.analyse.glance import glance_table
from egobench_tasks.report.analyse.overall import completeness_table, overall_table, runs_table
from egobench_tasks.report.analyse.positions import confusion, positions_table
from egobench_tasks.report.analyse.ranks import rank_agreement_table
from egobench_tasks.report.analyse.repeats import repeats_table
from egobench_tasks.report.analyse.single_multi import drop_summary_table, partial_credit_table, single_multi_table
from egobench_tasks.report.analyse.tables import Table, is_published
from egobench_tasks.report.read.choice_results import Results
from egobench_tasks.report.read.open_results import OpenResults
from egobench_tasks.report.show import plots
from egobench_tasks.report.show.diagnosis import diagnosis_section
from egobench_tasks.report.show.open_sections import egotempo_sections
from egobench_tasks.report.show.section import Section
from egobench_tasks.report.show.thumbnails import question_strips
from egobench_tasks.runs.record import RunRecord

_MAX_CONFUSIONS = 9


@dataclass(frozen=True, slots=True)
class Document:
    """``notices`` stand before everything else. ``data`` holds what is written for programs only, by file name;
    ``records`` the ``run.json`` of what made each run, by the run's name."""

    title: str
    subtitle: str
    notices: tuple[str, ...]
    sections: tuple[Section, ...]
    data: dict[str, pd.DataFrame]
    records: Mapping[str, tuple[Mapping[str, Any], ...]] = field(default_factory=dict)

    @property
    def tables(self) -> list[Table]:
        """All tables in reading order."""
        return [table for section in self.sections for table in section.tables]


def egogears_document(results: Results, price: Price = NO_PRICE) -> Document:
    """Lay out EgoGears' report: a glance, what is there, overall, why and where it fails, run against run."""
    scores = {dimension.key: breakdown(results, dimension) for dimension in DIMENSIONS}
    sections = [
        _glance(results),
        _completeness(results),
        _overall(results),
        diagnosis_section(results, price),
        _where(results, scores),
        _positions(results),
        _single_multi(results),
        _against(results),
        _questions(results),
    ]
    sections = [_with_caveat(_without_empty(section), results.differing) for section in sections]
    datasets = "; ".join(
        f"{config}: {results.unpublished.get(config, f'{len(split.questions):,} questions')}, "
        f"revision {split.fingerprint}"
        for config, split in results.splits.items()
    )
    other = [_not_published(f"EgoGears, {config}", difference) for config, difference in results.unpublished.items()]
    return Document(
        title="EgoGears report",
        subtitle=f"{len(results.labels)} run{'s' if len(results.labels) > 1 else ''} over {datasets}",
        notices=(*other, *results.notices, *filter(None, [against.note(results)])),
        sections=tuple(section for section in sections if section.tables or section.plots),
        data={"outcomes": results.outcomes, "breakdowns": pd.concat(scores.values(), ignore_index=True)},
        records=_plain_records(results.records),
    )


def egotempo_document(results: OpenResults) -> Document:
    """Lay out EgoTempo's report."""
    outcomes = results.outcomes
    n_runs = outcomes["run"].nunique()
    questions = "" if results.unpublished is None else f" over {results.unpublished}"
    other = [] if results.unpublished is None else [_not_published("EgoTempo", results.unpublished)]
    return Document(
        title="EgoTempo report",
        subtitle=f"{n_runs} run{'s' if n_runs > 1 else ''} in {outcomes['setting'].nunique()} settings{questions}",
        notices=(*other, *results.notices),
        sections=tuple(_with_caveat(section, results.differing) for section in egotempo_sections(results)),
        data={"open_outcomes": outcomes},
        records=_plain_records(results.records),
    )


def _plain_records(records: Mapping[str, Sequence[RunRecord]]) -> dict[str, tuple[Mapping[str, Any], ...]]:
    return {label: tuple(asdict(one) for one in found) for label, found in records.items() if found}


def _not_published(what: str, difference: str) -> str:
    return f"{what}: this is not the published dataset ({difference}): figures here do not compare with published ones"


def joined(documents: Sequence[Document]) -> Document:
    """Put the reports of several benchmarks into one; sections that lead come first."""
    sections = [section for document in documents for section in document.sections]
    return Document(
        title=" and ".join(document.title.removesuffix(" report") for document in documents) + " report",
        subtitle="; ".join(document.subtitle for document in documents),
        notices=tuple(notice for document in documents for notice in document.notices),
        sections=tuple(sorted(sections, key=lambda section: not section.leads)),
        data={name: frame for document in documents for name, frame in document.data.items()},
        records={label: found for document in documents for label, found in document.records.items()},
    )


def _completeness(results: Results) -> Section:
    text = "How much of each run is there. Everything after this counts what is missing as wrong."
    return Section("completeness", "Completeness", text, (completeness_table(results), runs_table(results)), ())


def _glance(results: Results) -> Section:
    overall = overall_table(results)
    ranked = overall.rows[[not published for published in is_published(overall)]] if overall.apart else overall.rows
    alt = "Exact accuracy of every run with its interval, by split; the same figures as the table Overall."
    plot = plots.to_plot("leaderboard", "Leaderboard", alt, plots.leaderboard(ranked))
    return Section("glance", "At a glance", "", (glance_table(results),), (plot,), leads=True)


def _questions(results: Results) -> Section:
    hardest = hardest_table(results)
    asked = [results.splits[row["config"]].questions[row["question_id"]] for row in hardest.rows.to_dict("records")]
    strips = question_strips(asked, FrameStore())
    return Section("questions", "Questions", "", (hardest, unanswered_table(results)), (), strips=strips)


def _overall(results: Results) -> Section:
    tables = (
        overall_table(results),
        certainty_table(results),
        repeats_table(results),
        partial_credit_table(results),
    )
    return Section("overall", "Overall", "", tables, ())


def _where(results: Results, scores: dict[str, pd.DataFrame]) -> Section:
    tables = tuple(
        breakdown_table(results, dimension, scores[dimension.key])
        for dimension in DIMENSIONS
        if _divides(scores[dimension.key])
    )
    figures = []
    for config in results.configs:
        units = scores["unit"][scores["unit"]["config"] == config]
        if units["group"].nunique() > 1:
            wide = units.pivot(index="run", columns="group", values="exact_set")
            best_first = best_runs(results, config, len(results.labels))
            wide = wide.reindex(index=best_first, columns=list(dict.fromkeys(units["group"])))
            alt = f"Exact accuracy of each run on each unit of {config}; the same figures as the table Unit."
            figures.append(
                plots.to_plot(f"units_{config}", f"Units, {config}", alt, plots.heat_map(wide, f"{config}: exact %"))
            )
        figures += _durations(results, scores["duration"], config)
    return Section("where", "Where runs fail", "", tables, tuple(figures))


def _divides(scores: pd.DataFrame) -> bool:
    """Whether any split has more than one group."""
    return not scores.empty and scores.groupby("config")["group"].nunique().max() > 1


def _durations(results: Results, scores: pd.DataFrame, config: str) -> list[plots.Plot]:
    here = scores[scores["config"] == config]
    if here["group"].nunique() < 2:
        return []
    series = {
        run: here[here["run"] == run].rename(columns={"group": "x", "exact_set": "accuracy"})
        for run in best_runs(results, config, plots.MAX_SERIES)
    }
    title = f"Accuracy by duration of all clips, {config}"
    alt = f"{title}, of the {len(series)} best runs; the same figures as the table Duration of all clips."
    return [plots.to_plot(f"durations_{config}", title, alt, plots.lines(series, "duration of all clips"))]


def best_runs(results: Results, config: str, count: int) -> list[str]:
    """Return the runs with the highest exact accuracy on a config, best first."""
    means = results.matrix(config, "exact_set").mean().sort_values(ascending=False, kind="stable")
    return [str(label) for label in means.index[:count]]


def _positions(results: Results) -> Section:
    table = positions_table(results)
    bias = table.rows.groupby("run", sort=False)["excess"].apply(lambda excess: excess.abs().max())
    most_biased = bias.sort_values(ascending=False, kind="stable").index[:_MAX_CONFUSIONS]
    matrices = {
        run: counts
        for run in results.labels
        if run in set(most_biased) and not (counts := confusion(results.outcomes[results.outcomes["run"] == run])).empty
    }
    if not matrices:
        return Section("positions", "Positions and letters", "", (table,), ())
    which = "" if len(bias) <= _MAX_CONFUSIONS else f" The {_MAX_CONFUSIONS} runs with the strongest preference."
    alt = f"Letters chosen against letters right, as shown, on questions with one answer.{which}"
    plot = plots.to_plot("letters", "Letters chosen and right", alt, plots.confusions(matrices))
    return Section("positions", "Positions and letters", "", (table,), (plot,))


def _single_multi(results: Results) -> Section:
    table = single_multi_table(results)
    figures = []
    if not table.rows.empty:
        exact = table.rows[table.rows["measure"] == table.rows["measure"].iloc[0]].set_index("run")
        alt = "Exact accuracy on single and on multi, a line a run; the same figures as the table below."
        figures.append(
            plots.to_plot("single_multi", "From single to multi", alt, plots.slopes(exact[["single", "multi"]]))
        )
    drops = drop_summary_table(table, results.unpublished)
    return Section("single_multi", "Single against multi", "", (drops, table), tuple(figures))


def _against(results: Results) -> Section:
    tables = [reasoning_table(results), differences_table(results)]
    if len(results.labels) >= 3:
        tables.append(rank_agreement_table(results))
    return Section("against", "Run against run", "", tuple(tables), ())


def _without_empty(section: Section) -> Section:
    return replace(section, tables=tuple(table for table in section.tables if not table.rows.empty))


def _with_caveat(section: Section, differing: str | None) -> Section:
    """Say under every table of several runs that they were not run alike."""
    if differing is None:
        return section
    tables = tuple(replace(table, note=f"{table.note} {differing}".strip()) for table in section.tables)
    return replace(section, tables=tables)
