"""``egobench build egogears``: from upstream's raw release to a dataset folder that ``datasets`` loads."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Generic, Literal, TypeVar

from dataset_scripts.egogears.findings import (
    manifest_findings,
    multi_findings,
    published_findings,
    single_findings,
)
from dataset_scripts.egogears.release import (
    Bundles,
    multi_questions,
    read_checksums,
    read_source_manifest,
    single_clip,
    single_questions,
)
from dataset_scripts.egogears.rows import MultiRecord, SingleRecord, read_multi, read_single
from dataset_scripts.egogears.table import SCHEMAS, evidence_row, multi_row, single_row
from dataset_scripts.repository.build_report import BuildReport, ConfigSummary, Dropped, Finding, summarise
from dataset_scripts.repository.card_tables import contents_table, features_table, statistics_table
from dataset_scripts.repository.cards import card_template
from dataset_scripts.repository.clips import CheckedClips, ClipFacts, ClipSource, check_clips
from dataset_scripts.repository.hub_vocabulary import size_category
from dataset_scripts.repository.videofolder import (
    Link,
    Repository,
    StoredClip,
    check_target,
    clip_file_name,
    configs_yaml,
    journal_file,
    parquet_bytes,
    render_card,
    tasks_yaml,
    write_repository,
)
from egobench_tasks.benchmarks import EGOGEARS
from egobench_tasks.errors import InputError
from egobench_tasks.texts import some_of

Split = Literal["single", "multi"]

_COUNTS = {"unit": "unit", "question_type": "question_type", "answers": "answer", "options": "options"}
_SINGLE_COUNTS = _COUNTS | {name: name for name in ("category", "participant", "speed", "lighting", "route")}
_MULTI_COUNTS = _COUNTS | {"clips": "file_names", "status": "status"}
_CONFIGS: Mapping[Split, tuple[str, ...]] = MappingProxyType({"single": ("single",), "multi": ("multi", "evidence")})
_NOT_KEPT_UPSTREAM = "dropped"

Record = TypeVar("Record", SingleRecord, MultiRecord)


@dataclass(frozen=True, slots=True)
class _Plan(Generic[Record]):
    """A split's records and where their clips lie (``sources[i]`` are those of record i); no clip is checked yet.

    ``sha256`` holds the sums that the release gives.
    """

    records: Sequence[Record]
    sources: Sequence[Sequence[ClipSource]]
    sha256: Mapping[ClipSource, str]
    dropped: Sequence[Dropped]
    findings: Sequence[Finding]


@dataclass(frozen=True, slots=True)
class _Built:
    """One split, ready to be written: tables by config, clips by path within the split's folder."""

    tables: Mapping[str, Sequence[Mapping[str, Any]]]
    clips: Mapping[str, StoredClip]
    summary: ConfigSummary
    dropped: Sequence[Dropped]
    findings: Sequence[Finding]
    reused: int


def build_egogears(
    source: Path, out: Path, *, only: Split | None = None, link: Link = "hard", partial: bool = False
) -> BuildReport:
    """Build EgoGears' dataset folder from a raw release.

    ``source`` holds upstream's folders (PROTOCOL 1.1), clips in folders or tar files. ``out`` is absent, empty, or an
    earlier build of the same configs. ``partial`` drops questions whose clips are missing and counts them. All input
    is read and every clip checked before ``out`` is touched; it then appears whole. A second run changes nothing.

    Raises ``InputError`` for input that cannot be used, naming file, line or id.
    """
    splits: tuple[Split, ...] = (only,) if only else ("single", "multi")
    configs = tuple(config for split in splits for config in _CONFIGS[split])
    check_target(out, EGOGEARS.name, configs)
    out = out.resolve()
    single = _plan_single(source, partial) if "single" in splits else None
    multi = _plan_multi(source, partial) if "multi" in splits else None
    built: dict[Split, _Built] = {}
    if single:
        built["single"] = _finish_single(single, journal_file(out))
    if multi:
        built["multi"] = _finish_multi(multi, journal_file(out))
    report = BuildReport(
        builder=EGOGEARS.name,
        canary=EGOGEARS.canary,
        configs=configs,
        summaries=tuple(one.summary for one in built.values()),
        dropped=tuple(drop for one in built.values() for drop in one.dropped),
        warnings=tuple(finding for one in built.values() for finding in one.findings),
        checked_before=sum(one.reused for one in built.values()),
    )
    return replace(report, written=write_repository(_repository(built, report), out, link=link))


def _plan_single(source: Path, partial: bool) -> _Plan[SingleRecord]:
    records = read_single(single_questions(source))
    found = [[(record.media_file, single_clip(source, record.media_file))] for record in records]
    kept, sources, dropped = _with_clips("single", records, found, partial)
    checksums = read_checksums(source)
    findings = single_findings(kept, checksums) + manifest_findings(records, read_source_manifest(source))
    expected = {
        clip: checksums[record.media_file]
        for record, (clip,) in zip(kept, sources, strict=True)
        if checksums and record.media_file in checksums
    }
    return _Plan(kept, sources, expected, dropped, findings)


def _plan_multi(source: Path, partial: bool) -> _Plan[MultiRecord]:
    records = read_multi(multi_questions(source))
    wanted = [record for record in records if record.status != _NOT_KEPT_UPSTREAM]
    bundles = Bundles(source)
    found = [
        [(f"{record.bundle}/{clip.path}", bundles.clip(record.bundle, clip.path)) for clip in record.clips]
        for record in wanted
    ]
    kept, sources, dropped = _with_clips("multi", wanted, found, partial)
    dropped += [
        Dropped("multi", record.question_id, "dropped upstream")
        for record in records
        if record.status == _NOT_KEPT_UPSTREAM
    ]
    return _Plan(kept, sources, {}, dropped, multi_findings(kept))


def _with_clips(
    config: str,
    records: Sequence[Record],
    found: Sequence[Sequence[tuple[str, ClipSource | None]]],
    partial: bool,
) -> tuple[list[Record], list[list[ClipSource]], list[Dropped]]:
    """Keep the records that have all their clips; only ``partial`` allows the others, which are dropped.

    ``found[i]`` are record i's clips: path as upstream writes it, and where it lies.
    """
    kept: list[Record] = []
    sources: list[list[ClipSource]] = []
    dropped: list[Dropped] = []
    lacking: list[tuple[Record, list[str]]] = []
    for record, clips in zip(records, found, strict=True):
        missing = [path for path, clip in clips if clip is None]
        if not missing:
            kept.append(record)
            sources.append([clip for _, clip in clips if clip is not None])
        elif partial:
            dropped.append(Dropped(config, record.question_id, f"clip missing: {', '.join(missing)}"))
        else:
            lacking.append((record, missing))
    if lacking:
        raise InputError(_what_is_missing(lacking))
    if not kept:
        raise InputError(f"{config}: no question has its clips; fetch them, or build the other split with --only")
    return kept, sources, dropped


def _what_is_missing(lacking: Sequence[tuple[Record, list[str]]]) -> str:
    """One message for all clips that are not there: the first with its question, some by name, all by number."""
    (first, (path, *_)), paths = lacking[0], list(dict.fromkeys(path for _, missing in lacking for path in missing))
    further = f"; in all {len(paths):,} clips of {len(lacking):,} questions: {some_of(paths)}" if len(paths) > 1 else ""
    return (
        f"{first.where}: question {first.question_id}: clip {path} is missing{further}. "
        "Fetch them, or leave such questions out with --partial"
    )


def _finish_single(plan: _Plan[SingleRecord], journal: Path) -> _Built:
    checked, facts = _check(plan, journal)
    rows = [single_row(record, clip) for record, (clip,) in zip(plan.records, facts, strict=True)]
    summary = summarise("single", rows, facts, published_rows=EGOGEARS.rows["single"], columns=_SINGLE_COUNTS)
    return _built({"single": rows}, plan, checked, summary)


def _finish_multi(plan: _Plan[MultiRecord], journal: Path) -> _Built:
    checked, facts = _check(plan, journal)
    rows = [multi_row(record, clips) for record, clips in zip(plan.records, facts, strict=True)]
    evidence = [evidence_row(record) for record in plan.records]
    summary = summarise("multi", rows, facts, published_rows=EGOGEARS.rows["multi"], columns=_MULTI_COUNTS)
    return _built({"multi": rows, "evidence": evidence}, plan, checked, summary)


def _check(plan: _Plan[Record], journal: Path) -> tuple[CheckedClips, list[list[ClipFacts]]]:
    checked = check_clips((clip for clips in plan.sources for clip in clips), journal)
    for clip, expected in plan.sha256.items():
        _check_sum(clip, checked.facts[clip].sha256, expected)
    return checked, [[checked.facts[clip] for clip in clips] for clips in plan.sources]


def _check_sum(clip: ClipSource, found: str, expected: str) -> None:
    if found != expected:
        raise InputError(f"{clip}: its SHA-256 is {found}, video_sha256.csv says {expected}; fetch the clip again")


def _built(
    tables: Mapping[str, Sequence[Mapping[str, Any]]],
    plan: _Plan[Record],
    checked: CheckedClips,
    summary: ConfigSummary,
) -> _Built:
    findings = [*plan.findings, *published_findings(summary)]
    return _Built(tables, _stored(checked), summary, plan.dropped, findings, checked.reused)


def _stored(checked: CheckedClips) -> Mapping[str, StoredClip]:
    """Map each distinct content to one source of it."""
    return {clip_file_name(facts.sha256): StoredClip(clip, facts) for clip, facts in checked.facts.items()}


def _repository(built: Mapping[Split, _Built], report: BuildReport) -> Repository:
    tables = {config: rows for one in built.values() for config, rows in one.tables.items()}
    files = {f"{config}/metadata.parquet": parquet_bytes(rows, SCHEMAS[config]) for config, rows in tables.items()}
    files["README.md"] = _card(tables, report)
    tasks = tasks_yaml({split: split for split in built})
    files["eval.yaml"] = render_card(card_template("egogears_eval.yaml"), {"tasks": tasks})
    return Repository(
        builder=EGOGEARS.name,
        configs=report.configs,
        files=files,
        clips={f"{split}/{name}": clip for split, one in built.items() for name, clip in one.clips.items()},
        report=report.as_json(),
    )


def _card(tables: Mapping[str, Sequence[Mapping[str, Any]]], report: BuildReport) -> bytes:
    patterns = {
        config: [f"{config}/metadata.parquet", *([] if config == "evidence" else [f"{config}/videos/*"])]
        for config in tables
    }
    values = {
        "configs": configs_yaml(patterns),
        "size_category": size_category(sum(len(rows) for rows in tables.values())),
        "contents": contents_table(report.summaries),
        "features": features_table({config: SCHEMAS[config] for config in tables}),
        "statistics": statistics_table(report.summaries),
        "dropped": str(len(report.dropped)),
        "canary": EGOGEARS.canary,
        "licence": EGOGEARS.annotation_licence,
        "paper": EGOGEARS.paper,
        "eprint": EGOGEARS.paper.removeprefix("arXiv:"),
    }
    return render_card(card_template("egogears.md"), values)
