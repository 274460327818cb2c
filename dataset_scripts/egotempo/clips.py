"""Where EgoTempo's clips come from: trimmed files, an earlier build, or cuts of full Ego4D videos."""

import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq
from tqdm import tqdm

from dataset_scripts.egotempo.cut import cut_clip
from dataset_scripts.egotempo.rows import Window
from dataset_scripts.repository.clips import ClipSource
from egobench_tasks.errors import EgobenchError, InputError
from egobench_tasks.frames.errors import ClipError

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class FoundClip:
    """A clip's file. ``is_whole_video`` means that the clip is only its window of that file."""

    source: ClipSource
    is_whole_video: bool = False


class VideoFolder:
    """The MP4 files of a folder and the folders in it (the ``ego4d`` program makes some), by name."""

    def __init__(self, folder: Path | None) -> None:
        if folder is not None and not folder.is_dir():
            raise InputError(f"{folder}: no such folder of videos")
        paths = sorted(folder.rglob("*.mp4"), reverse=True) if folder else []
        self._by_name = {path.name: path for path in paths}

    def trimmed(self, window: Window) -> Path | None:
        """Return ``<clip_id>.mp4``, or None."""
        return self._by_name.get(f"{window.clip_id}.mp4")

    def full(self, window: Window) -> Path | None:
        """Return ``<video_uid>.mp4``, or None."""
        return self._by_name.get(f"{window.video_uid}.mp4")


def find_clips(
    windows: Sequence[Window], videos: VideoFolder, *, earlier: Mapping[str, Path], cuts: Path, workers: int
) -> dict[str, FoundClip]:
    """Return ``{clip_id: its file}`` for every clip that can be had; full videos are cut.

    In this order: a trimmed file, the clip of an earlier build, a cut. ``cuts`` is the folder for new cuts; one that
    is there, and no older than its video, is not made again. Raises ``InputError`` naming the videos that could not
    be cut, after all others have been.
    """
    found = {window.clip_id: videos.trimmed(window) or earlier.get(window.clip_id) for window in windows}
    to_cut = {window: video for window in windows if not found[window.clip_id] and (video := videos.full(window))}
    if to_cut:
        found |= _cut_all(to_cut, cuts, workers)
    return {clip_id: FoundClip(ClipSource(path)) for clip_id, path in found.items() if path}


def refer_to_videos(windows: Sequence[Window], videos: VideoFolder, out: Path) -> dict[str, FoundClip]:
    """Return ``{clip_id: a trimmed file, or the full video}`` for every clip that can be had; nothing is cut.

    Raises ``InputError`` where ``out`` is on another file system: full videos would be copied there.
    """
    found: dict[str, FoundClip] = {}
    for window in windows:
        if trimmed := videos.trimmed(window):
            found[window.clip_id] = FoundClip(ClipSource(trimmed))
        elif full := videos.full(window):
            if full.resolve().stat().st_dev != _existing_parent(out).stat().st_dev:
                raise InputError(f"{out}: not on the file system of {full}, so its videos cannot be linked; trim them")
            found[window.clip_id] = FoundClip(ClipSource(full), is_whole_video=True)
    return found


def earlier_clips(out: Path) -> dict[str, Path]:
    """Return the cut or trimmed clips of a finished build in ``out``, by clip id."""
    table = out / "test" / "metadata.parquet"
    if not table.is_file() or "file_name" not in pq.read_schema(table).names:
        return {}
    rows = pq.read_table(table, columns=["clip_id", "file_name", "window_start_s"]).to_pylist()
    paths = {row["clip_id"]: table.parent / row["file_name"] for row in rows if _is_a_clip(row)}
    return {clip_id: path for clip_id, path in paths.items() if path.is_file()}


def cuts_folder(out: Path) -> Path:
    """Return the hidden folder beside ``out`` that keeps the cuts of a build that was interrupted."""
    return out.with_name(f".{out.name}.cuts")


def remove_cuts(out: Path) -> None:
    """Remove the cuts once the dataset holds them."""
    shutil.rmtree(cuts_folder(out), ignore_errors=True)


def _is_a_clip(row: Mapping[str, object]) -> bool:
    return row["file_name"] is not None and row["window_start_s"] is None


def _existing_parent(path: Path) -> Path:
    return path if path.exists() else _existing_parent(path.parent)


def _cut_all(to_cut: Mapping[Window, Path], cuts: Path, workers: int) -> dict[str, Path]:
    """Cut clips in several threads: the work is FFmpeg's, outside Python's lock."""
    cuts.mkdir(parents=True, exist_ok=True)
    targets = {window.clip_id: cuts / f"{window.clip_id}.mp4" for window in to_cut}
    jobs = {
        window.clip_id: (video, window.start_s, window.end_s, targets[window.clip_id])
        for window, video in to_cut.items()
        if not _is_cut(targets[window.clip_id], video)
    }
    failures = _run_all(cut_clip, jobs, workers)
    if failures:
        listed = "\n".join(f"  {error}" for error in failures[:_SHOWN])
        more = f"\n  and {len(failures) - _SHOWN} more" if len(failures) > _SHOWN else ""
        raise InputError(
            f"{len(failures)} clips could not be cut; fetch their videos again, or move them away to go without:\n"
            f"{listed}{more}"
        )
    return targets


def _is_cut(target: Path, video: Path) -> bool:
    return target.is_file() and target.stat().st_mtime_ns >= video.stat().st_mtime_ns


def _run_all(work: Callable[..., object], jobs: Mapping[str, Iterable[object]], workers: int) -> list[EgobenchError]:
    """Run all jobs; return the errors of those that failed, in the jobs' order."""
    errors: dict[str, EgobenchError] = {}
    executor = ThreadPoolExecutor(max_workers=workers)
    try:
        futures = {executor.submit(work, *arguments): name for name, arguments in jobs.items()}
        for future in tqdm(as_completed(futures), total=len(jobs), desc="cutting clips", unit="clip", disable=None):
            try:
                future.result()
            except ClipError as error:
                errors[futures[future]] = error
    finally:
        executor.shutdown(cancel_futures=True)
    return [errors[name] for name in jobs if name in errors]
