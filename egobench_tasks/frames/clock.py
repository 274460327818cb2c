"""The time of each decoded frame, as FFmpeg's program sees it.

Most containers state both times of every packet and nothing here does any work. Where they do not
(AVI), the decoder's guess and the program's estimates decide which frames a rate selects.
"""

from dataclasses import dataclass
from fractions import Fraction

from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from egobench_tasks.frames.select import round_half_away

_BEFORE_ALL = -(2**63)


@dataclass(slots=True)
class FrameClock:
    """Gives times to the frames of one stream, in decoding order of output. All in ticks of ``time_base``.

    ``duration``: how long the latest frame is shown.
    """

    time_base: Fraction
    decoder_rate: Fraction | None
    container_rate: Fraction | None
    duration: int = 1
    _last: int | None = None
    _last_dts: int = _BEFORE_ALL
    _last_pts: int = _BEFORE_ALL
    _faulty_dts: int = 0
    _faulty_pts: int = 0

    @classmethod
    def of(cls, stream: VideoStream) -> "FrameClock":
        """Return the clock of a stream."""
        assert stream.time_base is not None
        return cls(stream.time_base, stream.codec_context.framerate or None, stream.guessed_rate or None)

    def time_of(self, frame: VideoFrame) -> int:
        """Return the frame's time; call once a frame, in order."""
        time = self._best_guess(frame.pts, frame.dts)
        if time is None:
            time = 0 if self._last is None else self._last + self.duration
        self.duration = self._estimate_duration(time, frame.duration or 0)
        self._last = time
        return time

    def _best_guess(self, pts: int | None, dts: int | None) -> int | None:
        """The timestamp with the fewer faults so far (guess_correct_pts in libavcodec/decode.c)."""
        if dts is not None:
            self._faulty_dts += dts <= self._last_dts
            self._last_dts = dts
        elif pts is not None:
            self._last_dts = pts
        if pts is not None:
            self._faulty_pts += pts <= self._last_pts
            self._last_pts = pts
        elif dts is not None:
            self._last_pts = dts
        if pts is not None and (self._faulty_pts <= self._faulty_dts or dts is None):
            return pts
        return dts

    def _estimate_duration(self, time: int, stated: int) -> int:
        """What the program takes for a frame's duration (video_duration_estimate in fftools/ffmpeg_dec.c)."""
        since_last = -1 if self._last is None else time - self._last
        made_up = stated == 1 and since_last > 2 * stated
        if stated > 0 and not made_up:
            return stated
        candidates = (since_last, stated, self._frame_ticks(self.decoder_rate), self._frame_ticks(self.container_rate))
        return next((ticks for ticks in candidates if ticks > 0), max(self.duration, 1))

    def _frame_ticks(self, rate: Fraction | None) -> int:
        if rate is None:
            return 0
        ticks = 1 / (rate * self.time_base)
        return round_half_away(ticks.numerator, ticks.denominator)
