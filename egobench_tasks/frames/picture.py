"""From a decoded frame to what a model sees: turned upright, scaled, as RGB or as JPEG.

The filters, and their order, are those FFmpeg's program sets up for ``-vf scale=…`` with its
automatic rotation; PyAV's bare graph does not rotate.
"""

import io
import math
import struct
from collections.abc import Mapping
from fractions import Fraction
from typing import cast

import numpy as np
import numpy.typing as npt
from av.codec.context import CodecContext
from av.filter import Graph
from av.sidedata.sidedata import SideData, Type
from av.video.codeccontext import VideoCodecContext
from av.video.frame import VideoFrame
from PIL import Image

from egobench_tasks.frames.spec import FrameSpec, Jpeg

RgbFrame = npt.NDArray[np.uint8]
RGB_FORMATS = "rgb24"
JPEG_FORMATS = "yuvj420p|yuvj422p|yuvj444p"
FFMPEG_QUANTISER = 3
"""Of ``-q:v 3``: 2 is the best, 31 the worst."""
LIBJPEG_QUALITY = 95


class Scaler:
    """Turns frames upright and scales them to the size that a spec asks for, in one of ``pixel_formats``."""

    def __init__(self, spec: FrameSpec, pixel_formats: str) -> None:
        self._size = scaled_size(spec)
        self._pixel_formats = pixel_formats
        self._graph: Graph | None = None
        self._made_for: tuple[object, ...] | None = None

    def scale(self, frame: VideoFrame) -> VideoFrame:
        """Return the frame as it is shown; ``frame`` itself stays as it was."""
        made_for = properties(frame)
        if self._graph is None or self._made_for != made_for:
            self._graph, self._made_for = self._make_graph(frame), made_for
        self._graph.vpush(frame)
        return self._graph.vpull()

    def _make_graph(self, frame: VideoFrame) -> Graph:
        graph = Graph()
        graph.threads = 1
        nodes = [graph.add("buffer", _buffer_arguments(frame))]
        nodes += [graph.add(name, arguments) for name, arguments in upright_filters(display_matrix(frame))]
        nodes.append(graph.add("scale", f"{self._size}:flags=bicubic"))
        nodes.append(graph.add("format", self._pixel_formats))
        nodes.append(graph.add("buffersink"))
        graph.link_nodes(*nodes).configure()
        return graph


class RgbPictures:
    """Frames as RGB arrays."""

    def __init__(self, spec: FrameSpec) -> None:
        self._scaler = Scaler(spec, RGB_FORMATS)

    def render(self, frame: VideoFrame) -> RgbFrame:
        """Return the frame as shown: height x width x 3, uint8, RGB."""
        return np.ascontiguousarray(self._scaler.scale(frame).to_ndarray(), dtype=np.uint8)


class LibjpegPictures:
    """Frames as JPEG files of libjpeg's, as OpenCV writes them: colours at half the size, its standard tables."""

    def __init__(self, spec: FrameSpec) -> None:
        self._pictures = RgbPictures(spec)

    def render(self, frame: VideoFrame) -> bytes:
        """Return the frame as shown, as one JPEG file of `LIBJPEG_QUALITY`."""
        file = io.BytesIO()
        Image.fromarray(self._pictures.render(frame)).save(file, "jpeg", quality=LIBJPEG_QUALITY, subsampling="4:2:0")
        return file.getvalue()


class FfmpegJpegPictures:
    """Frames as JPEG files of FFmpeg's."""

    def __init__(self, spec: FrameSpec) -> None:
        self._scaler = Scaler(spec, JPEG_FORMATS)
        self._encoder: VideoCodecContext | None = None

    def render(self, frame: VideoFrame) -> bytes:
        """Return the frame as shown, as one JPEG file: the bytes that FFmpeg's ``-q:v 3`` writes."""
        scaled = self._scaler.scale(frame)
        if self._encoder is None or _shape(self._encoder) != _shape(scaled):
            self._encoder = _jpeg_encoder(scaled)
        scaled.pts = None
        return b"".join(bytes(packet) for packet in self._encoder.encode(scaled))


def jpeg_pictures(spec: FrameSpec) -> FfmpegJpegPictures | LibjpegPictures:
    """Return what writes the spec's JPEG files."""
    return FfmpegJpegPictures(spec) if spec.jpeg is Jpeg.FFMPEG_Q3 else LibjpegPictures(spec)


def scaled_size(spec: FrameSpec) -> str:
    """Return the size of pictures for FFmpeg's ``scale`` filter; -2 follows the other side, to an even number."""
    if spec.max_short_side_px is None:
        return rf"w=min({spec.max_width_px}\,iw):h=-2"
    side_px = spec.max_short_side_px
    small, upright = rf"lte(min(iw\,ih)\,{side_px})", r"lte(iw\,ih)"
    width = rf"if({small}\,iw\,if({upright}\,{side_px}\,-2))"
    height = rf"if({small}\,ih\,if({upright}\,-2\,{side_px}))"
    return f"w={width}:h={height}"


def display_matrix(frame: VideoFrame) -> tuple[int, ...] | None:
    """Return the nine numbers (16.16 and 2.30 fixed point, row by row) that say how to show the frame."""
    # PyAV ties a frame whose side data were read into a cycle that only the collector breaks: until then its buffer
    # stays, of a 4K frame 12 MB. A copy of two by two pixels has the same side data.
    by_type = cast(Mapping[Type, SideData], frame.reformat(width=2, height=2, format="gray").side_data)
    matrix = by_type.get(Type.DISPLAYMATRIX)
    return None if matrix is None else struct.unpack("=9i", bytes(matrix))


def upright_filters(matrix: tuple[int, ...] | None) -> list[tuple[str, str]]:
    """Return the filters (name, arguments) that FFmpeg's program inserts for a display matrix.

    Source: configure_input_video_filter in fftools/ffmpeg_filter.c, get_rotation in fftools/cmdutils.c.
    """
    if matrix is None:
        return []
    degrees = _clockwise_degrees(matrix)
    if abs(degrees - 90) < 1:
        return [("transpose", "cclock_flip" if matrix[3] > 0 else "clock")]
    if abs(degrees - 180) < 1:
        return [(name, "") for name, scale in (("hflip", matrix[0]), ("vflip", matrix[4])) if scale < 0]
    if abs(degrees - 270) < 1:
        return [("transpose", "clock_flip" if matrix[3] < 0 else "cclock")]
    if abs(degrees) > 1:
        return [("rotate", f"{degrees:f}*PI/180")]
    return [("vflip", "")] if matrix[4] < 0 else []


def _clockwise_degrees(matrix: tuple[int, ...]) -> float:
    """The rotation a matrix asks for, in (-3, 357]; 0 for a matrix without one (av_display_rotation_get)."""
    scale_x = math.hypot(matrix[0], matrix[3])
    scale_y = math.hypot(matrix[1], matrix[4])
    if scale_x == 0 or scale_y == 0:
        return 0.0
    counterclockwise = -math.degrees(math.atan2(matrix[1] / scale_y, matrix[0] / scale_x))
    clockwise = -_round_half_away(counterclockwise)
    return clockwise - 360 * math.floor(clockwise / 360 + 0.9 / 360)


def _round_half_away(value: float) -> float:
    return math.copysign(math.floor(abs(value) + 0.5), value)


def properties(frame: VideoFrame) -> tuple[object, ...]:
    """Return what a filter graph is made for, and what FFmpeg's program makes a new one for when it changes."""
    return (*_shape(frame), int(frame.colorspace), int(frame.color_range), frame.rotation)


def _shape(item: VideoFrame | VideoCodecContext) -> tuple[int, int, str]:
    assert item.format is not None
    return item.width, item.height, item.format.name


def _buffer_arguments(frame: VideoFrame) -> str:
    return (
        f"video_size={frame.width}x{frame.height}:pix_fmt={frame.format.name}:time_base=1/1:pixel_aspect=1/1"
        f":colorspace={int(frame.colorspace)}:range={int(frame.color_range)}"
    )


def _jpeg_encoder(frame: VideoFrame) -> VideoCodecContext:
    encoder = CodecContext.create("mjpeg", "w")
    assert isinstance(encoder, VideoCodecContext)
    encoder.width, encoder.height, encoder.pix_fmt = _shape(frame)
    encoder.time_base = Fraction(1, 1)
    encoder.sample_aspect_ratio = Fraction(1, 1)  # writes the JFIF header
    encoder.thread_count = 1
    encoder.color_range = frame.color_range
    encoder.options = {"qmin": str(FFMPEG_QUANTISER), "qmax": str(FFMPEG_QUANTISER)}
    return encoder
