"""Which frames of a clip are asked for (PROTOCOL 1.2 and 2). Standard library only.

A `FrameSpec` holds everything that shapes the pixels a model sees, so that its `key` can stand in
cache keys and task configs: two inputs with equal keys are equal inputs.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Self, TypeVar

from egobench_tasks.errors import InputError

_E = TypeVar("_E", bound=StrEnum)

# Part of every key: raise it when the same spec would give other pixels than before.
PIXEL_RULES_VERSION = 2

DEFAULT_MAX_WIDTH_PX = 480
"""EgoGears' (PROTOCOL 1.2)."""


class Sampling(StrEnum):
    """How frames are chosen.

    BUDGET: ``count`` frames as FFmpeg's ``fps=count/duration`` selects them, rounding near: EgoGears.
    UNIFORM: ``count`` frames, evenly spaced from the first to the last.
    RATE: as UNIFORM, with rate * duration frames, rounded, 1 at least and ``count`` at most: EgoTempo.
    CENTRAL: the one frame in the middle, which is also what a RATE of one frame takes.
    RANDOM: distinct frames drawn with ``seed``, in time order: ``count`` of them, or as many as RATE would take.
    """

    BUDGET = "budget"
    UNIFORM = "uniform"
    RATE = "rate"
    CENTRAL = "central"
    RANDOM = "random"


class Jpeg(StrEnum):
    """Which encoder writes a frame, and how well.

    FFMPEG_Q3: FFmpeg's at ``-q:v 3``, as EgoGears' harness calls it. LIBJPEG_95: libjpeg at quality 95, which is
    OpenCV's default and so that of EgoTempo's notebook.
    """

    FFMPEG_Q3 = "ffmpeg-q3"
    LIBJPEG_95 = "libjpeg-95"


class TailPolicy(StrEnum):
    """What to do with a clip that breaks before the last frame asked for.

    STRICT: refuse it. AVAILABLE: use what FFmpeg decodes, and record that the clip is broken.
    """

    STRICT = "strict"
    AVAILABLE = "available"


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameSpec:
    """What to take from a clip.

    ``count``: frames at most. ``rate_fps``: frames a second of the clip. ``seed``: for RANDOM and
    ``shuffled``. ``shuffled``: the chosen frames in random order. ``start_s``, ``end_s``: a window of
    a longer video, in seconds from its start; the sampling then sees only frames with
    start_s <= time < end_s. ``max_width_px``: wider frames are scaled down to it (after rotation),
    height following to an even number; `DEFAULT_MAX_WIDTH_PX` where no limit is given.
    ``max_short_side_px``: instead of that, frames whose shorter side is longer are scaled down to it; others keep
    their size. ``jpeg``: see `Jpeg`. ``tail``: see `TailPolicy`.

    Raises ``InputError`` naming the field and the value that does not fit.
    """

    sampling: Sampling
    count: int | None = None
    rate_fps: float | None = None
    seed: int | None = None
    shuffled: bool = False
    start_s: float | None = None
    end_s: float | None = None
    max_width_px: int | None = None
    max_short_side_px: int | None = None
    jpeg: Jpeg = Jpeg.FFMPEG_Q3
    tail: TailPolicy = TailPolicy.STRICT

    def __post_init__(self) -> None:
        # Numbers and enums in one form only: 1 and 1.0 are one rate, and must be one key.
        object.__setattr__(self, "sampling", _member(Sampling, self.sampling, "sampling"))
        object.__setattr__(self, "jpeg", _member(Jpeg, self.jpeg, "jpeg"))
        object.__setattr__(self, "tail", _member(TailPolicy, self.tail, "tail"))
        if self.max_width_px is None and self.max_short_side_px is None:
            object.__setattr__(self, "max_width_px", DEFAULT_MAX_WIDTH_PX)
        for name in ("rate_fps", "start_s", "end_s"):
            value = getattr(self, name)
            object.__setattr__(self, name, None if value is None else float(value))
        _check_needs(self)
        _check_ranges(self)

    def key(self) -> str:
        """Return the spec as text, equal for equal specs.

        ``v2,budget,count=64,max_width_px=480,jpeg=ffmpeg-q3,tail=strict``
        """
        parts = [f"{name}={value}" for name, value in self.to_json().items() if name != "sampling"]
        return ",".join([f"v{PIXEL_RULES_VERSION}", self.sampling.value, *parts])

    def to_json(self) -> dict[str, str | int | float]:
        """Return the fields that say something (no None, no False), ready for JSON."""
        values = ((field.name, getattr(self, field.name)) for field in dataclasses.fields(self))
        return {
            name: value.value if isinstance(value, StrEnum) else value
            for name, value in values
            if value is not None and value is not False
        }

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a spec as written by `key`, or as a user writes it: ``uniform,count=16`` (the rest by default).

        Raises ``InputError`` for an unknown kind or field, a value of the wrong type, or an older key version.
        """
        parts = [part.strip() for part in text.split(",")]
        if parts[0].startswith("v") and parts[0][1:].isdecimal():
            if parts[0] != f"v{PIXEL_RULES_VERSION}":
                raise InputError(f"frame spec {text!r}: version {parts[0]}, this program has v{PIXEL_RULES_VERSION}")
            parts = parts[1:]
        kind, *assignments = parts or [""]
        values: dict[str, object] = {}
        for assignment in assignments:
            name, _, value = assignment.partition("=")
            values[name] = _parse_value(name, value, text)
        return cls(sampling=_member(Sampling, kind, "sampling"), **values)  # type: ignore[arg-type]


def printed_duration_s(duration_s: float) -> float:
    """Return a container's exact duration as FFmpeg's program prints it: the nearest 0.01 s, halves up.

    Shares and rates are computed from it (PROTOCOL 1.2), so that they are those of a harness that reads the
    program's output. Source: av_dump_format in libavformat/dump.c.
    """
    hundredths = (round(duration_s * 1_000_000) + 5_000) // 10_000
    return hundredths / 100


def allocate_frames(durations_s: Sequence[float], total: int = 64, floor: int = 4) -> list[int]:
    """Share ``total`` frames over clips by duration (as printed, in seconds); no clip gets fewer than ``floor``.

    Largest remainder with a floor, PROTOCOL 1.2: start from max(floor, int(share)); while that
    exceeds the budget take one from the clip with the most frames above the floor (then the largest
    share); hand out what is left by largest fractional part, ties by clip order. Where the floors
    alone fill the budget every clip gets the floor, even if that exceeds the budget.
    Raises ``ValueError`` for no clips, a negative duration or a negative count.
    """
    if not durations_s or min(durations_s) < 0 or total < 0 or floor < 0:
        raise ValueError(f"need clips, durations >= 0 and counts >= 0, got {list(durations_s)}, {total=}, {floor=}")
    clips = range(len(durations_s))
    if len(durations_s) * floor >= total:
        return [floor for _ in clips]
    whole_s = sum(durations_s)
    shares = [duration_s / whole_s * total if whole_s else total / len(durations_s) for duration_s in durations_s]
    frames = [max(floor, int(share)) for share in shares]
    while sum(frames) > total:
        frames[max(clips, key=lambda i: (frames[i] - floor, shares[i]))] -= 1
    by_fraction = sorted(clips, key=lambda i: -(shares[i] - int(shares[i])))
    for step in range(total - sum(frames)):
        frames[by_fraction[step % len(frames)]] += 1
    return frames


_COUNT_NEEDED = (Sampling.BUDGET, Sampling.UNIFORM)
_CAN_SHUFFLE = (Sampling.BUDGET, Sampling.UNIFORM, Sampling.RATE)


def _check_needs(spec: FrameSpec) -> None:
    """Refuse fields that are missing, or that the sampling would ignore."""
    kind = spec.sampling
    if kind in _COUNT_NEEDED and spec.count is None:
        raise InputError(f"frame spec: {kind} needs a count")
    if kind is Sampling.RATE and spec.rate_fps is None:
        raise InputError("frame spec: rate needs rate_fps")
    if kind is Sampling.RANDOM and (spec.count is None) == (spec.rate_fps is None):
        raise InputError("frame spec: random needs either a count or rate_fps")
    if kind is Sampling.CENTRAL and spec.count is not None:
        raise InputError(f"frame spec: central is one frame, got count={spec.count}")
    if kind not in (Sampling.RATE, Sampling.RANDOM) and spec.rate_fps is not None:
        raise InputError(f"frame spec: {kind} takes no rate_fps, got {spec.rate_fps}")
    if spec.shuffled and kind not in _CAN_SHUFFLE:
        raise InputError(f"frame spec: {kind} cannot be shuffled")
    if (spec.seed is None) == (spec.shuffled or kind is Sampling.RANDOM):
        raise InputError(f"frame spec: a seed goes with random or shuffled and nothing else, got seed={spec.seed}")


def _check_ranges(spec: FrameSpec) -> None:
    least = 2 if spec.sampling is Sampling.UNIFORM else 1
    if spec.count is not None and spec.count < least:
        hint = "; one frame is sampling=central" if spec.count == 1 else ""
        raise InputError(f"frame spec: count must be at least {least}, got {spec.count}{hint}")
    if spec.rate_fps is not None and not 1e-4 <= spec.rate_fps <= 1000:
        raise InputError(f"frame spec: rate_fps must lie in [0.0001, 1000], got {spec.rate_fps}")
    if spec.max_width_px is not None and spec.max_short_side_px is not None:
        raise InputError("frame spec: give max_width_px or max_short_side_px, not both")
    for name in ("max_width_px", "max_short_side_px"):
        limit_px = getattr(spec, name)
        if limit_px is not None and limit_px < 2:
            raise InputError(f"frame spec: {name} must be at least 2, got {limit_px}")
    start_s, end_s = spec.start_s, spec.end_s
    if start_s is not None and not 0 <= start_s < float("inf"):
        raise InputError(f"frame spec: start_s must be a time from 0 up, got {start_s}")
    if end_s is not None and not (start_s or 0.0) < end_s < float("inf"):
        raise InputError(f"frame spec: end_s must lie after start_s={start_s}, got {end_s}")


_FIELD_TYPES = {
    "count": int,
    "seed": int,
    "max_width_px": int,
    "max_short_side_px": int,
    "rate_fps": float,
    "start_s": float,
    "end_s": float,
}
_ENUM_FIELDS = {"tail": TailPolicy, "jpeg": Jpeg}


def _parse_value(name: str, value: str, text: str) -> object:
    if name in _ENUM_FIELDS:
        return _member(_ENUM_FIELDS[name], value, name)
    if name == "shuffled" and value in ("True", "False"):
        return value == "True"
    if name not in _FIELD_TYPES:
        raise InputError(
            f"frame spec {text!r}: cannot read {name}={value}; "
            f"fields: {', '.join([*_FIELD_TYPES, 'shuffled', *_ENUM_FIELDS])}"
        )
    try:
        return _FIELD_TYPES[name](value)
    except ValueError as error:
        raise InputError(f"frame spec {text!r}: {name} must be {_FIELD_TYPES[name].__name__}, got {value!r}") from error


def _member(kind: type[_E], value: str, name: str) -> _E:
    try:
        return kind(value)
    except ValueError as error:
        raise InputError(f"frame spec: {name} must be one of {', '.join(kind)}, got {value!r}") from error
