"""Decoding only what the wanted frames need, for streams that say what that is.

A group of pictures without a wanted frame is not decoded, and not even read where the container lists
its key frames. Of the others, the decoder gets every packet up to the last wanted one, less those
that no other picture refers to.

Nothing is taken on trust: wherever times, order, parameter sets or the number of frames that come
out are not as they must be, ``UnusualClip`` is raised and the clip is decoded in full instead.
"""

import itertools
from collections.abc import Callable

import av
from av.video.frame import VideoFrame

from egobench_tasks.frames.bitstream import UnusualBitstream
from egobench_tasks.frames.gop import Gop, GopReader
from egobench_tasks.frames.select import IndexSelector, Selector
from egobench_tasks.frames.source import Source, UnusualClip, fail_on_errors

Show = Callable[[VideoFrame, int, int], None]


def decode_selectively(source: Source, selector: Selector, show: Show) -> None:
    """Call ``show(frame, time, repeats)`` for each frame that the selector chooses, in order of display.

    Times are in ticks from the source's start. Raises ``UnusualClip``, perhaps after some frames were
    shown: these are then to be forgotten.
    """
    fail_on_errors(source)
    try:
        reader = GopReader(source)
        while not selector.done and (gop := reader.read()) is not None:
            times = [time for time in gop.times() if source.in_window(time)]
            repeats = dict(zip(times, selector.plan(times, gop.until), strict=True))
            wanted = {time: count for time, count in repeats.items() if count}
            if wanted:
                _decode_wanted(source, gop, wanted, show)
            if not selector.done:
                reader.skip_ahead(selector)
        if isinstance(selector, IndexSelector) and not selector.done:
            raise UnusualClip("fewer frames than counted")
    except UnusualBitstream as error:
        raise UnusualClip(str(error)) from error
    except (av.FFmpegError, OSError) as error:
        raise UnusualClip("damaged") from error


def _decode_wanted(source: Source, gop: Gop, wanted: dict[int, int], show: Show) -> None:
    context = source.stream.codec_context
    fed = gop.needed_for(set(wanted))
    came_out = []
    for packet in itertools.chain((picture.packet for picture in fed), [None]):
        for frame in context.decode(packet):
            if frame.pts is None or frame.is_corrupt:
                raise UnusualClip("a damaged frame, or one without a time")
            time = frame.pts - source.start_ticks
            came_out.append(time)
            if time in wanted:
                show(frame, time, wanted[time])
    context.flush_buffers()
    if came_out != sorted(picture.time for picture in fed):
        raise UnusualClip("other frames came out than went in")
