"""``egobench build egotempo``: from the annotation file and Ego4D videos to a folder that ``datasets`` loads."""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from dataset_scripts.egotempo.clips import (
    FoundClip,
    VideoFolder,
    cuts_folder,
    earlier_clips,
    find_clips,
    refer_to_videos,
    remove_cuts,
)
from dataset_scripts.egotempo.rows import OpenRecord, Window, distinct_windows, read_annotations
from dataset_scripts.repository.build_report import (
    BuildReport,
    ConfigSummary,
    Finding,
    count_findings,
    draft_findings,
    summarise,
)
from dataset_scripts.repository.card_tables import contents_table, features_table, statistics_table
from dataset_scripts.repository.cards import card_template
from dataset_scripts.repository.clips import ClipFacts, check_clips
from dataset_scripts.repository.hub_vocabulary import size_category
from dataset_scripts.repository.videofolder import (
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
from egobench_tasks.benchmarks import EGOTEMPO
from egobench_tasks.errors import InputError
from egobench_tasks.files import write_atomically

FOLDER = "test"
"""The folder of the one config, which the Hub calls ``default``."""

SCHEMA = pa.schema(
    [
        ("file_name", pa.string()),
        ("question_id", pa.string()),
        ("clip_id", pa.string()),
        ("video_uid", pa.string()),
        ("start_s", pa.float64()),
        ("end_s", pa.float64()),
        ("category", pa.string()),
        ("category_code", pa.string()),
        ("question", pa.string()),
        ("answer", pa.string()),
        ("duration_s", pa.float64()),
        ("sha256", pa.string()),
        ("window_start_s", pa.float64()),
        ("window_end_s", pa.float64()),
    ]
)
# How far a clip's length may lie from its window's: a few frames of a slow camera.
_LENGTH_TOLERANCE_S = 0.5


def build_egotempo(
    annotations: Path, out: Path, *, videos: Path | None = None, workers: int = 1, trim: bool = True
) -> BuildReport:
    """Build EgoTempo's dataset folder.

    ``annotations`` is upstream's file. ``videos`` holds full Ego4D videos (``<video_uid>.mp4``), which are cut by
    ``workers`` threads, or trimmed clips (``<clip_id>.mp4``); without it the questions are built alone. Without
    ``trim`` the dataset links the full videos, and rows tell their windows. Rows whose clip is not to be had keep
    their place with a null video; `missing_uids_file` then lists the videos. A second run changes nothing, and
    after an interruption what was cut is not cut again.

    Raises ``InputError`` for input that cannot be used, naming file, row or video.
    """
    if workers < 1:
        raise InputError(f"--workers must be at least 1, got {workers}")
    check_target(out, EGOTEMPO.name, (FOLDER,))
    out = out.resolve()
    records = read_annotations(annotations)
    windows, folder = distinct_windows(records), VideoFolder(videos)
    if trim:
        found = find_clips(windows, folder, earlier=earlier_clips(out), cuts=cuts_folder(out), workers=workers)
    else:
        found = refer_to_videos(windows, folder, out)
    checked = check_clips((clip.source for clip in found.values()), journal_file(out))
    facts = {clip_id: checked.facts[clip.source] for clip_id, clip in found.items()}
    rows = [_row(record, found, facts) for record in records]
    report = replace(_report(records, rows, found, facts), checked_before=checked.reused)
    written = write_repository(_repository(rows, found, facts, report), out, link="hard")
    remove_cuts(out)
    _write_missing(out, [window for window in windows if window.clip_id not in found])
    return replace(report, written=written)


def missing_uids_file(out: Path) -> Path:
    """Return the file beside ``out`` that lists the videos still missing, one a line; absent if there are none."""
    return out.resolve().with_name(f"{out.resolve().name}.missing_video_uids.txt")


def download_command(out: Path, videos: Path) -> str:
    """Return the command that fetches the missing videos into ``videos`` (needs an Ego4D licence and its keys)."""
    parts = ["ego4d", "--output_directory", str(videos), "--datasets", "full_scale"]
    return shlex.join([*parts, "--video_uid_file", str(missing_uids_file(out))])


def _row(record: OpenRecord, found: Mapping[str, FoundClip], facts: Mapping[str, ClipFacts]) -> dict[str, Any]:
    window = record.window
    clip, fact = found.get(window.clip_id), facts.get(window.clip_id)
    is_window = clip is not None and clip.is_whole_video
    return {
        "file_name": clip_file_name(fact.sha256) if fact else None,
        "question_id": record.question_id,
        "clip_id": window.clip_id,
        "video_uid": window.video_uid,
        "start_s": window.start_s,
        "end_s": window.end_s,
        "category": record.category,
        "category_code": EGOTEMPO.category_codes[record.category],
        "question": record.question,
        "answer": record.answer,
        "duration_s": fact.duration_s if fact else None,
        "sha256": fact.sha256 if fact else None,
        "window_start_s": window.start_s if is_window else None,
        "window_end_s": window.end_s if is_window else None,
    }


def _report(
    records: Sequence[OpenRecord],
    rows: Sequence[Mapping[str, Any]],
    found: Mapping[str, FoundClip],
    facts: Mapping[str, ClipFacts],
) -> BuildReport:
    windows = distinct_windows(records)
    clips = [[facts[row["clip_id"]]] if row["clip_id"] in facts else [] for row in rows]
    summary = summarise(FOLDER, rows, clips, published_rows=EGOTEMPO.rows, columns={"category": "category_code"})
    coverage = {"there": len(facts), "missing": len(windows) - len(facts)}
    summary = replace(summary, counts={**summary.counts, "clips": coverage})
    return BuildReport(
        builder=EGOTEMPO.name,
        canary=EGOTEMPO.canary,
        configs=(FOLDER,),
        summaries=(summary,),
        dropped=(),
        warnings=(
            *draft_findings(FOLDER, ((record.question_id, record.status) for record in records)),
            *_count_findings(records, summary),
            *_window_findings(windows, found, facts),
        ),
    )


def _count_findings(records: Sequence[OpenRecord], summary: ConfigSummary) -> list[Finding]:
    """Compare with what PROTOCOL 2 measured on the published file."""
    windows = distinct_windows(records)
    found = {"questions": len(records), "clips": len(windows), "videos": len({w.video_uid for w in windows})}
    published = {"questions": EGOTEMPO.rows, "clips": EGOTEMPO.clips, "videos": EGOTEMPO.videos}
    by_category = dict.fromkeys(EGOTEMPO.category_codes.values(), EGOTEMPO.rows_per_category)
    return [
        Finding("count_differs", FOLDER, "", f"{found[what]} {what}, the published file holds {published[what]}")
        for what in found
        if found[what] != published[what]
    ] + count_findings(FOLDER, "category", summary.counts["category"], by_category, says="the published file holds")


def _window_findings(
    windows: Iterable[Window], found: Mapping[str, FoundClip], facts: Mapping[str, ClipFacts]
) -> list[Finding]:
    findings = []
    for window in windows:
        if window.clamped:
            findings.append(Finding("start_clamped", FOLDER, window.clip_id, "starts before its video; taken from 0"))
        if window.clip_id in found:
            findings += _length_findings(window, found[window.clip_id], facts[window.clip_id].duration_s)
    return findings


def _length_findings(window: Window, clip: FoundClip, duration_s: float) -> list[Finding]:
    """Compare a clip's length with its window's, or a full video's with the window's end."""
    wanted_s = window.end_s if clip.is_whole_video else window.end_s - window.start_s
    over_s = wanted_s - duration_s
    if over_s > _LENGTH_TOLERANCE_S:
        return [Finding("ends_past_video", FOLDER, window.clip_id, f"ends {over_s:.2f} s after the end of its video")]
    if not clip.is_whole_video and -over_s > _LENGTH_TOLERANCE_S:
        return [Finding("longer_than_window", FOLDER, window.clip_id, f"is {-over_s:.2f} s longer than its window")]
    return []


def _repository(
    rows: Sequence[Mapping[str, Any]],
    found: Mapping[str, FoundClip],
    facts: Mapping[str, ClipFacts],
    report: BuildReport,
) -> Repository:
    clips = {
        f"{FOLDER}/{clip_file_name(fact.sha256)}": StoredClip(found[clip_id].source, fact)
        for clip_id, fact in facts.items()
    }
    tasks = tasks_yaml({EGOTEMPO.name: EGOTEMPO.config})
    return Repository(
        builder=EGOTEMPO.name,
        configs=report.configs,
        files={
            f"{FOLDER}/metadata.parquet": _table(rows, with_clips=bool(clips)),
            "README.md": _card(report),
            "eval.yaml": render_card(card_template("egotempo_eval.yaml"), {"tasks": tasks}),
        },
        clips=clips,
        report=report.as_json(),
    )


def _table(rows: Sequence[Mapping[str, Any]], *, with_clips: bool) -> bytes:
    """Return the table; where there is no clip at all, with a null ``video`` column instead of ``file_name``.

    ``datasets`` takes a config without video files for plain Parquet, and would show file names as text.
    """
    if with_clips:
        return parquet_bytes(rows, SCHEMA)
    from datasets import Features, Video

    features = Features({"video": Video(), **Features.from_arrow_schema(pa.schema(list(SCHEMA)[1:]))})
    schema = features.arrow_schema
    return parquet_bytes([{name: row.get(name) for name in schema.names} for row in rows], schema)


def _card(report: BuildReport) -> bytes:
    (summary,) = report.summaries
    clips = [f"{FOLDER}/videos/*"] if summary.clips else []
    values = {
        "configs": configs_yaml({EGOTEMPO.config: [f"{FOLDER}/metadata.parquet", *clips]}),
        "size_category": size_category(summary.rows),
        "contents": contents_table([replace(summary, name=EGOTEMPO.config)]),
        "features": features_table({EGOTEMPO.config: SCHEMA}),
        "statistics": statistics_table([replace(summary, name=EGOTEMPO.config)]),
        "canary": EGOTEMPO.canary,
        "licence": EGOTEMPO.annotation_licence,
        "paper": EGOTEMPO.paper,
        "eprint": EGOTEMPO.paper.removeprefix("arXiv:"),
        "rows": str(summary.rows),
        "clips_there": str(summary.counts["clips"]["there"]),
        "clips_all": str(sum(summary.counts["clips"].values())),
        "hours": f"{summary.clip_s / 3600:.2f}",
    }
    return render_card(card_template("egotempo.md"), values)


def _write_missing(out: Path, missing: Sequence[Window]) -> None:
    path = missing_uids_file(out)
    if not missing:
        path.unlink(missing_ok=True)
        return
    with write_atomically(path) as file:
        file.write("".join(f"{uid}\n" for uid in sorted({window.video_uid for window in missing})).encode())
