"""Cutting a clip out of a video, exact to the frame."""

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import av
from av.container import OutputContainer
from av.filter import Graph
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from egobench_tasks.files import write_atomically
from egobench_tasks.frames.errors import ClipError
from egobench_tasks.frames.picture import display_matrix, upright_filters
from egobench_tasks.frames.plain import PlainDecoder
from egobench_tasks.frames.source import Source, UnusualClip, open_source
from egobench_tasks.frames.spec import FrameSpec, Sampling

MAX_SHORT_SIDE_PX = 540
"""As in Ego4D's ``video_540ss``, which EgoTempo takes unscaled (PROTOCOL 2)."""
# Measured on street footage of 854x480: 46.4 dB from its source, in 40 % of the time of "medium" (47.1 dB, as large).
# The same bytes for the same frames: one thread, and without mbtree, whose vector code reads memory that nobody set
# (PyAV 18.1: of 3,000 cuts made side by side, 10 differed in a few blocks).
_ENCODING = {"crf": "20", "preset": "veryfast", "threads": "1", "x264-params": "mbtree=0"}
_MOVIE = {"movflags": "+faststart", "fflags": "+bitexact"}
_USUAL_RATE_FPS = 30


def cut_clip(video: Path, start_s: float, end_s: float, out: Path) -> int:
    """Write the frames with start_s <= time < end_s as H.264 in MP4, the index in front, without sound.

    Times are seconds from the video's start, by the rule of `frames.spec.FrameSpec`: a cut holds the frames that
    a spec with this window would see in the whole video. Frames are turned upright and scaled down to a
    short side of 540 px; each keeps its time. Returns the number of frames. Raises ``ClipError`` for a video that
    does not decode or has no frame there; ``out`` is then absent.
    """
    spec = FrameSpec(sampling=Sampling.CENTRAL, start_s=start_s, end_s=end_s)
    with open_source(str(video), spec) as source, write_atomically(out) as file:
        try:
            return _encode(source, PlainDecoder(source, strict=True), file.name)
        except UnusualClip:
            source.container.seek(0)
            return _encode(source, PlainDecoder(source, strict=True, from_start=True), file.name)


def _encode(source: Source, decoder: PlainDecoder, path: str) -> int:
    with av.open(path, "w", format="mp4", options=_MOVIE) as target:
        frames = 0
        stream: VideoStream | None = None
        for frame, ticks in _scaled(decoder.frames()):
            if stream is None:
                stream, first_ticks = _add_stream(target, source, frame), ticks
            frame.pts, frame.time_base = ticks - first_ticks, source.time_base
            target.mux(stream.encode(frame))
            frames += 1
        if stream is None:
            raise ClipError(source.path, "has no frame in the window")
        target.mux(stream.encode(None))
    return frames


def _add_stream(target: OutputContainer, source: Source, frame: VideoFrame) -> VideoStream:
    rate = source.stream.average_rate or source.stream.guessed_rate or Fraction(_USUAL_RATE_FPS)
    stream = target.add_stream("libx264", rate=rate, options=_ENCODING)
    context = stream.codec_context
    context.width, context.height, context.pix_fmt = frame.width, frame.height, frame.format.name
    context.time_base = source.time_base
    # Without these tags a decoder would guess, and turn the same pixels into other colours.
    context.colorspace, context.color_range = int(frame.colorspace), int(frame.color_range)
    context.color_primaries, context.color_trc = int(frame.color_primaries), int(frame.color_trc)
    return stream


def _scaled(frames: Iterator[tuple[VideoFrame, int]]) -> Iterator[tuple[VideoFrame, int]]:
    graph: Graph | None = None
    for frame, ticks in frames:  # of one size and colour: the decoder refuses a video where they change
        if graph is None:
            graph = _scaling_graph(frame)
        graph.vpush(frame)
        yield graph.vpull(), ticks


def _scaling_graph(frame: VideoFrame) -> Graph:
    """Return upright → scaled to even sizes, the shorter at most 540 px → yuv420p, as H.264 needs it."""
    graph = Graph()
    graph.threads = 1
    source = (
        f"video_size={frame.width}x{frame.height}:pix_fmt={frame.format.name}:time_base=1/1:pixel_aspect=1/1"
        f":colorspace={int(frame.colorspace)}:range={int(frame.color_range)}"
    )
    nodes = [graph.add("buffer", source)]
    nodes += [graph.add(name, arguments) for name, arguments in upright_filters(display_matrix(frame))]
    side = rf"2*trunc(min({MAX_SHORT_SIDE_PX}\,min(iw\,ih))/2)"
    nodes.append(graph.add("scale", rf"w=if(lt(iw\,ih)\,{side}\,-2):h=if(lt(iw\,ih)\,-2\,{side}):flags=bicubic"))
    nodes += [graph.add("format", "yuv420p"), graph.add("buffersink")]
    graph.link_nodes(*nodes).configure()
    return graph
