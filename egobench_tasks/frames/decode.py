"""From a clip and a spec to frames: exactly FFmpeg's, from as little decoding as can be shown to be enough.

Three ways, each tried where the one before cannot be shown to be exact (`UnusualClip`): feed only the
packets that the wanted frames need (`selective`); decode everything from the window's start; decode
everything from the clip's start. All give the same frames, and refuse a clip that is damaged as far as that.
What is broken is only then decoded as FFmpeg does it, if the spec allows that.
"""

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Generic, TypeVar

import av
from av.video.frame import VideoFrame

from egobench_tasks.frames.choice import chooses_by_position, count_frames, make_selector
from egobench_tasks.frames.errors import ClipError as ClipError
from egobench_tasks.frames.picture import RgbFrame, RgbPictures, jpeg_pictures
from egobench_tasks.frames.plain import PlainDecoder
from egobench_tasks.frames.select import RateSelector, Selector, display_order
from egobench_tasks.frames.selective import decode_selectively
from egobench_tasks.frames.source import Source, UnusualClip, open_source
from egobench_tasks.frames.spec import FrameSpec, TailPolicy

Picture = TypeVar("Picture")


@dataclass(frozen=True, slots=True)
class DecodedClip(Generic[Picture]):
    """The frames of a clip, in the order they are shown to a model.

    ``frames``: RGB arrays (height x width x 3, uint8) or JPEG files. ``times_s``: when each is shown,
    in seconds from the clip's start (or the window's). ``asked``: how many frames the spec asked for;
    a short clip gives fewer. ``damage``: what is broken in the clip, where the spec allows that.
    """

    frames: tuple[Picture, ...]
    times_s: tuple[float, ...]
    asked: int
    damage: str | None

    @property
    def complete(self) -> bool:
        """Whether the clip was whole as far as its frames were needed."""
        return self.damage is None

    @property
    def notes(self) -> tuple[str, ...]:
        """What a report should say of this clip; nothing for most."""
        fewer = (f"asked for {self.asked} frames, got {len(self.frames)}",) if len(self.frames) < self.asked else ()
        return fewer if self.damage is None else (*fewer, self.damage)


def decode_frames(path: str, spec: FrameSpec) -> DecodedClip[RgbFrame]:
    """Decode the frames of a clip as RGB arrays: FFmpeg's own, before any JPEG.

    ``path``: a local file, or an fsspec URL (``hf://…``), which is read by range.
    Raises ``ClipError`` for a clip that cannot be read, has no frame to give, or (under the strict
    policy) breaks before the last frame asked for.
    """
    return _decode(path, spec, RgbPictures(spec).render)


def decode_jpegs(path: str, spec: FrameSpec) -> DecodedClip[bytes]:
    """Decode frames as JPEG files, as the spec's ``jpeg`` has them written; else as `decode_frames`."""
    return _decode(path, spec, jpeg_pictures(spec).render)


def decoder_version() -> str:
    """Return libavcodec's version: JPEG bytes and scaled pixels are tied to it."""
    return ".".join(str(part) for part in av.library_versions["libavcodec"])


@dataclass(slots=True)
class _Shown(Generic[Picture]):
    """Renders frames as they are chosen."""

    render: Callable[[VideoFrame], Picture]
    pictures: list[Picture] = field(default_factory=list)
    times: list[int] = field(default_factory=list)

    def add(self, frame: VideoFrame, time: int, repeats: int) -> None:
        if repeats:
            self.pictures += [self.render(frame)] * repeats
            self.times += [time] * repeats


def _decode(path: str, spec: FrameSpec, render: Callable[[VideoFrame], Picture]) -> DecodedClip[Picture]:
    try:
        return _decode_by(path, spec, render, (_decode_selectively, _decode_from_window, _decode_from_start))
    except ClipError as error:
        if spec.tail is TailPolicy.STRICT:
            raise
        clip = _decode_by(path, spec, render, (_decode_leniently_from_window, _decode_leniently_from_start))
        return replace(clip, damage=clip.damage or error.reason)


def _decode_by(
    path: str,
    spec: FrameSpec,
    render: Callable[[VideoFrame], Picture],
    ways: Sequence[Callable[[str, FrameSpec, Callable[[VideoFrame], Picture]], DecodedClip[Picture]]],
) -> DecodedClip[Picture]:
    """Decode by the first way that takes the clip; the last must take any."""
    for way in ways:
        with contextlib.suppress(UnusualClip):
            return way(path, spec, render)
    raise AssertionError("decoding from the start takes every clip")


def _decode_selectively(path: str, spec: FrameSpec, render: Callable[[VideoFrame], Picture]) -> DecodedClip[Picture]:
    frame_count = count_frames(path, spec) if chooses_by_position(spec) else None
    shown = _Shown(render)
    with open_source(path, spec) as source:
        selector = make_selector(source, spec, frame_count)
        decode_selectively(source, selector, shown.add)
        return _finish(source, spec, shown, selector.asked, damage=None)


def _decode_plainly(
    path: str, spec: FrameSpec, render: Callable[[VideoFrame], Picture], /, *, strict: bool, from_start: bool
) -> DecodedClip[Picture]:
    frame_count = count_frames(path, spec) if chooses_by_position(spec) else None
    while True:
        shown = _Shown(render)
        with open_source(path, spec) as source:
            decoder = PlainDecoder(source, strict, from_start)
            selector = make_selector(source, spec, frame_count)
            decoded = _show_chosen(decoder, selector, shown)
            if frame_count in (None, decoded):
                return _finish(source, spec, shown, selector.asked, decoder.damage)
        frame_count = decoded  # some packets gave no frame, or more than one: choose among what there is


_decode_from_window = partial(_decode_plainly, strict=True, from_start=False)
_decode_from_start = partial(_decode_plainly, strict=True, from_start=True)
_decode_leniently_from_window = partial(_decode_plainly, strict=False, from_start=False)
_decode_leniently_from_start = partial(_decode_plainly, strict=False, from_start=True)


def _show_chosen(decoder: PlainDecoder, selector: Selector, shown: _Shown[Picture]) -> int:
    """Show what the selector chooses, and return how many frames there are (so far, for a rate)."""
    frames, count = decoder.frames(), 1
    latest = next(frames, None)
    if latest is None:
        return 0
    for frame, time in frames:
        shown.add(*latest, selector.plan([latest[1]], until=time)[0])
        if selector.done and decoder.may_stop and isinstance(selector, RateSelector):
            decoder.check_pictures()
            return count
        latest, count = (frame, time), count + 1
    shown.add(*latest, selector.plan([latest[1]], until=decoder.end)[0])
    return count


def _finish(
    source: Source, spec: FrameSpec, shown: _Shown[Picture], asked: int, damage: str | None
) -> DecodedClip[Picture]:
    if not shown.pictures:
        where = f" between {spec.start_s or 0:g} and {_end(spec)}" if source.is_windowed else ""
        raise ClipError(source.path, f"has no frame to show{where}" + (f": {damage}" if damage else ""))
    order = display_order(spec, len(shown.pictures))
    return DecodedClip(
        frames=tuple(shown.pictures[index] for index in order),
        times_s=tuple(float(shown.times[index] * source.time_base) for index in order),
        asked=asked,
        damage=damage,
    )


def _end(spec: FrameSpec) -> str:
    return "its end" if spec.end_s is None else f"{spec.end_s:g} s"
