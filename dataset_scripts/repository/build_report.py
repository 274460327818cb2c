"""What a build found, kept and dropped: as JSON beside the data, and as tables for the terminal."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console
from rich.table import Table

from dataset_scripts.repository.clips import ClipFacts
from dataset_scripts.repository.videofolder import Written

_WARNINGS_SHOWN = 5

DRAFT = "draft"
"""The status of a question that a model proposed and no person has confirmed, and the kind of its finding."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that was kept as upstream has it, and that a reader should know. ``question_id`` may be empty."""

    kind: str
    config: str
    question_id: str
    message: str


@dataclass(frozen=True, slots=True)
class Dropped:
    """A question that was left out, and why."""

    config: str
    question_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class ConfigSummary:
    """The numbers of one config. ``clips`` counts distinct contents, ``clip_bytes`` and ``clip_s`` are their sums.

    ``counts`` maps a name to ``{value: rows}``, null counted as "unknown".
    """

    name: str
    rows: int
    published_rows: int
    clips: int
    clip_uses: int
    clip_bytes: int
    clip_s: float
    counts: Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class BuildReport:
    """All of a build. ``canary`` is the benchmark's (`benchmarks.Benchmark`). ``written`` and ``checked_before`` are of
    this run alone and stay out of the JSON file."""

    builder: str
    canary: str
    configs: tuple[str, ...]
    summaries: tuple[ConfigSummary, ...]
    dropped: tuple[Dropped, ...]
    warnings: tuple[Finding, ...]
    written: Written | None = None
    checked_before: int = 0

    def as_json(self) -> dict[str, Any]:
        """Return what is kept beside the data: the same for the same release, whenever and wherever it is built."""
        report = asdict(self)
        del report["written"], report["checked_before"]
        return report


def draft_findings(config: str, statuses: Iterable[tuple[str, str | None]]) -> list[Finding]:
    """Return a finding for each question, given as (id, status), that is a draft; such a folder is not published."""
    return [
        Finding(DRAFT, config, question_id, "was proposed by a model; no person has confirmed it")
        for question_id, status in statuses
        if status == DRAFT
    ]


def summarise(
    name: str,
    rows: Sequence[Mapping[str, Any]],
    clips: Sequence[Sequence[ClipFacts]],
    *,
    published_rows: int,
    columns: Mapping[str, str],
) -> ConfigSummary:
    """Count a config's rows, its clips (``clips[i]`` are those of row i) and the values of some columns.

    ``columns`` maps the name of a count to its column; one that holds lists is counted by their length.
    """
    distinct = {clip.sha256: clip for row in clips for clip in row}
    return ConfigSummary(
        name=name,
        rows=len(rows),
        published_rows=published_rows,
        clips=len(distinct),
        clip_uses=sum(len(row) for row in clips),
        clip_bytes=sum(clip.size_bytes for clip in distinct.values()),
        clip_s=round(sum(clip.duration_s for clip in distinct.values()), 3),
        counts={name: _count(row[column] for row in rows) for name, column in columns.items()},
    )


def _count(values: Iterable[Any]) -> dict[str, int]:
    counts = Counter(len(value) if isinstance(value, list) else value for value in values)
    ordered = sorted(counts, key=lambda value: (value is None, value if isinstance(value, int) else 0, str(value)))
    return {"unknown" if value is None else str(value): counts[value] for value in ordered}


def count_findings(
    config: str, what: str, found: Mapping[str, int], published: Mapping[str, int], *, says: str
) -> list[Finding]:
    """Return a finding for every value whose number of rows differs; ``says`` introduces the other one."""
    return [
        Finding("count_differs", config, "", f"{what} {value}: {found.get(value, 0)} rows, {says} {rows}")
        for value, rows in published.items()
        if found.get(value, 0) != rows
    ]


def print_report(report: BuildReport, console: Console) -> None:
    """Print the report as tables: configs, distributions, what was dropped, warnings by kind, what was written."""
    console.print(_configs_table(report))
    for summary in report.summaries:
        console.print(_counts_table(summary))
    if report.dropped:
        console.print(_dropped_table(report))
    if report.warnings:
        console.print(_warnings_table(report))
    if report.written:
        console.print(written_line(report.written, report.checked_before))


def written_line(written: Written, checked_before: int) -> str:
    """Return one line on what this run did and what it found done."""
    done = (
        f"{written.clips_stored} clips stored, {written.clips_reused} already there; "
        f"{written.files_written} files written, {written.files_reused} already right"
    )
    if checked_before:
        done += f"; {checked_before} clips had been checked before an interruption"
    return f"nothing to change: {done}" if written.unchanged else done


def _configs_table(report: BuildReport) -> Table:
    table = Table("config", "rows", "published", "clips", "uses", "MB", "hours", title=f"{report.builder}: built")
    for one in report.summaries:
        table.add_row(
            one.name,
            str(one.rows),
            str(one.published_rows),
            str(one.clips),
            str(one.clip_uses),
            f"{one.clip_bytes / 1e6:.1f}",
            f"{one.clip_s / 3600:.2f}",
        )
    return table


def _counts_table(summary: ConfigSummary) -> Table:
    table = Table("what", "value: rows", title=summary.name)
    for name, counts in summary.counts.items():
        table.add_row(name, ", ".join(f"{value}: {rows}" for value, rows in counts.items()))
    return table


def _dropped_table(report: BuildReport) -> Table:
    table = Table("config", "reason", "rows", "such as", title="dropped")
    reasons = Counter((drop.config, drop.reason.partition(":")[0]) for drop in report.dropped)
    for (config, reason), rows in sorted(reasons.items()):
        examples = [d.question_id for d in report.dropped if (d.config, d.reason.partition(":")[0]) == (config, reason)]
        table.add_row(config, reason, str(rows), ", ".join(examples[:_WARNINGS_SHOWN]))
    return table


def _warnings_table(report: BuildReport) -> Table:
    table = Table("kind", "number", "such as", title="kept as upstream has it: warnings")
    for kind, number in sorted(Counter(finding.kind for finding in report.warnings).items()):
        shown = [finding for finding in report.warnings if finding.kind == kind][:_WARNINGS_SHOWN]
        table.add_row(kind, str(number), "\n".join(f"{f.config} {f.question_id} {f.message}" for f in shown))
    return table
