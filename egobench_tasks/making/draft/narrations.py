"""What a narrator said of long videos, and the clips that follow from it.

EgoTempo's clips are made so (its paper, section 3.2): each narration stands for a stretch of time around it, as long as
the video is narrated sparsely; consecutive stretches are joined into clips.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

from egobench_tasks.documents import parse_json
from egobench_tasks.errors import InputError

MAX_NARRATIONS = 120
"""Narrations that a clip may join (EgoTempo, 3.2)."""

MAX_CLIP_S = 120.0
"""Seconds that a clip may last (EgoTempo, 3.2)."""

_PASSES = ("narration_pass_1", "narration_pass_2")


@dataclass(frozen=True, slots=True)
class Narration:
    """One sentence, at a time in seconds from the video's start."""

    time_s: float
    text: str


@dataclass(frozen=True, slots=True)
class PlannedClip:
    """A stretch of a video, in seconds from its start, and the narrations that fall on it."""

    video: str
    start_s: float
    end_s: float
    narrations: tuple[Narration, ...] = ()

    @property
    def clip_id(self) -> str:
        """EgoTempo's form of a clip's name: ``VIDEO_START_END``."""
        return f"{self.video}_{self.start_s:.3f}_{self.end_s:.3f}"


def read_narrations(path: Path) -> dict[str, tuple[Narration, ...]]:
    """Return each video's narrations in order of time.

    ``path`` is Ego4D's ``narration.json`` (its first pass that says anything counts), or JSON lines of ``video``,
    ``time_s`` and ``text``. Raises ``InputError`` for a file or a row of another form.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
        rows = list(_ego4d(path, content) if (content := _one_object(text)) else _lines(path, text))
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise InputError(f"{path}: cannot read the narrations: {error}") from error
    if not rows:
        raise InputError(f"{path}: holds no narration")
    videos: dict[str, list[Narration]] = {}
    for video, narration in rows:
        videos.setdefault(video, []).append(narration)
    return {video: tuple(sorted(said, key=lambda one: one.time_s)) for video, said in videos.items()}


def plan_clips(
    narrations: Mapping[str, Sequence[Narration]],
    *,
    max_narrations: int = MAX_NARRATIONS,
    max_clip_s: float = MAX_CLIP_S,
) -> list[PlannedClip]:
    """Return the clips of all videos, in their order.

    A narration at t stands for (t - β/2α, t + β/2α): β is the mean interval between the narrations of its video, α the
    mean of β over all videos. Both are in seconds, so the stretch is in units of α; as in the paper, it is read as
    seconds. Consecutive narrations are joined up to ``max_narrations`` or ``max_clip_s``, whichever comes first.
    Videos with a single narration have no interval and are taken at α's.
    """
    intervals = {video: fmean(gaps) for video, said in narrations.items() if (gaps := _gaps(said))}
    alpha_s = fmean(intervals.values()) if intervals else 1.0
    planned = []
    for video, said in narrations.items():
        half_s = intervals.get(video, alpha_s) / alpha_s / 2
        planned += [
            PlannedClip(video, max(0.0, group[0].time_s - half_s), group[-1].time_s + half_s, tuple(group))
            for group in _groups(said, half_s, max_narrations, max_clip_s)
        ]
    return planned


def _gaps(said: Sequence[Narration]) -> list[float]:
    """Intervals between narrations; those at one time are one. An empty list for a single time."""
    times = sorted({one.time_s for one in said})
    return [later - earlier for earlier, later in pairwise(times)]


def _groups(
    said: Sequence[Narration], half_s: float, max_narrations: int, max_clip_s: float
) -> Iterator[list[Narration]]:
    group: list[Narration] = []
    for narration in said:
        too_long = group and narration.time_s - group[0].time_s + 2 * half_s > max_clip_s
        if group and (too_long or len(group) == max_narrations):
            yield group
            group = []
        group.append(narration)
    if group:
        yield group


def _one_object(text: str) -> dict[str, Any] | None:
    """The file as one object, None where it is JSON lines (of which there may be one)."""
    try:
        content = parse_json(text)
    except ValueError:
        return None
    return content if isinstance(content, dict) and "time_s" not in content else None


def _lines(path: Path, text: str) -> Iterator[tuple[str, Narration]]:
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            where = f"{path}: line {number}"
            row = parse_json(line)
            if not isinstance(row, dict):
                raise InputError(f"{where} is no object of video, time_s and text")
            yield _video(row.get("video"), where), _narration(row.get("time_s"), row.get("text"), where)


def _ego4d(path: Path, content: Mapping[str, Any]) -> Iterator[tuple[str, Narration]]:
    for video, passes in content.items():
        if not isinstance(passes, dict):
            raise InputError(f"{path}: video {video!r} holds no narration passes, as Ego4D's narration.json does")
        said = next((rows for name in _PASSES if (rows := _rows(passes.get(name)))), [])
        for number, one in enumerate(said):
            where = f"{path}: video {video!r}, narration {number}"
            yield _video(video, where), _narration(one.get("timestamp_sec"), one.get("narration_text"), where)


def _rows(one_pass: Any) -> list[Mapping[str, Any]]:
    rows = one_pass.get("narrations") if isinstance(one_pass, dict) else None
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _video(value: Any, where: str) -> str:
    if not isinstance(value, str) or not value or "/" in value or "\\" in value or value.startswith("."):
        raise InputError(f"{where}: video is {value!r}, not the name of a video")
    return value


def _narration(time_s: Any, text: Any, where: str) -> Narration:
    is_time = isinstance(time_s, int | float) and not isinstance(time_s, bool) and math.isfinite(time_s) and time_s >= 0
    if not is_time or not isinstance(text, str):
        raise InputError(f"{where}: needs a time in seconds from 0 up and a text, got {time_s!r} and {text!r}")
    return Narration(float(time_s), text.strip())


def as_text(narrations: Iterable[Narration], start_s: float) -> str:
    """Return narrations as lines, times in seconds from ``start_s``."""
    return "\n".join(f"{one.time_s - start_s:.1f} s: {' '.join(one.text.split())}" for one in narrations)
