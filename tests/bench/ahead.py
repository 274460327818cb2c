"""How long an accelerator waits for its inputs, with ``generate`` replaced by a wait of known length.

    python tests/bench/ahead.py gemma3 idefics3        (those that need no torchvision)
    make families; PYTHONPATH=. .families/bin/python tests/bench/ahead.py smolvlm qwen2_5_vl …

Processors are as published checkpoints have them, frames are JPEGs of 480x270, 64 a question. Prints, for 1, 4 and 8
questions a batch, the gap between batches as a share of the wait, by one thread (as it was) and as a run does it; what
one batch costs in processor seconds and in bytes; and the most memory of all processes. Each worker's first batches,
while its memory grows, are not in the gap; what was waited in them all, the start of processes too, stands apart. Ends
with 1 where a run's gap is over its limit.
"""

import argparse
import hashlib
import io
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil
from PIL import Image

sys.path.insert(0, str(Path(__file__).parent.parent / "families"))
from build import make_processor, make_tokenizer
from recipes import RECIPES

from egobench_tasks.asking.prompts import ClipFrames, Text
from egobench_tasks.frames.lazy import FrameList, FrameRequest
from egobench_tasks.frames.spec import FrameSpec, Sampling
from egobench_tasks.frames.store import StoredClip
from egobench_tasks.hosts.lighteval.vision import ahead
from egobench_tasks.hosts.lighteval.vision.fitting import family_defaults, processor_options
from egobench_tasks.hosts.lighteval.vision.inputs import InputMaker
from egobench_tasks.hosts.lighteval.vision.pieces import process_in_pieces
from egobench_tasks.hosts.lighteval.vision.prepare import Prepared, Question, prepare
from egobench_tasks.hosts.lighteval.vision.prompt import Visual, prompt_form
from egobench_tasks.hosts.lighteval.vision.settings import IN_ORDER, FrameVLMConfig

GROWING_BATCHES = 3
"""A worker's memory is as large as it will be after so many (its own, and a buffer each for two or three batches)."""
N_FRAMES, WIDTH_PX, HEIGHT_PX = 64, 480, 270
GAP_LIMIT = 0.05
COLUMNS = (
    "family",
    "questions",
    "wait, s",
    "cpu s a batch",
    "MB a batch",
    "MB while made",
    "gap, one thread",
    "gap now",
    "start, s",
    "workers",
    "peak, GB",
    "load",
)


@dataclass(frozen=True, slots=True)
class JpegStore:
    """One picture, over and over."""

    jpeg: bytes

    def get(self, path: str, sha256: str, spec: FrameSpec) -> StoredClip:
        """Return as many frames as are asked for."""
        return StoredClip((self.jpeg,) * spec.count, tuple(map(float, range(spec.count))), spec.count, None, "-")


@dataclass(frozen=True, slots=True)
class Measured:
    """Seconds that were waited for inputs, as a share of those that the model took, after ``start_s`` of waiting
    for the first; memory of all processes."""

    gap: float
    start_s: float
    peak_bytes: int


def main() -> int:
    """Print the table; 1 where a gap is over the limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("families", nargs="+", choices=sorted(RECIPES), metavar="FAMILY")
    parser.add_argument("--batch-sizes", type=int, nargs="+", default=[1, 4, 8])
    parser.add_argument("--batches", type=int, default=6, help="measured, after the first")
    parser.add_argument("--wait", type=float, default=0.75, help="seconds a question; two at least a batch")
    arguments = parser.parse_args()
    print(f"{len(os.sched_getaffinity(0))} processors, load {os.getloadavg()[0]:.1f}")
    print("| " + " | ".join(COLUMNS) + " |")
    print("|---" * len(COLUMNS) + "|", flush=True)
    worst = 0.0
    for name in arguments.families:
        maker = real_maker(name)
        for batch_size in arguments.batch_sizes:
            wait_s = max(2.0, arguments.wait * batch_size)
            batch = [question(store(seed), seed) for seed in range(batch_size)]
            cpu_s, cost = cost_of(maker, batch)
            # As a run would decide on a real number of questions, whatever few are measured here.
            workers = ahead.workers_for(cost, 1000, 1)
            thread = measure(maker, batch, 0, wait_s, arguments.batches)
            now = measure(maker, batch, workers, wait_s, arguments.batches) if workers else thread
            worst = max(worst, now.gap)
            cells = [name, batch_size, f"{wait_s:.1f}", f"{cpu_s:.2f}"]
            cells += [f"{n_bytes / 1e6:,.0f}" for n_bytes in (cost.n_bytes, cost.peak_bytes)]
            cells += [f"{thread.gap:.1%}", f"{now.gap:.1%}", f"{now.start_s:.1f}", workers or "thread"]
            cells += [f"{now.peak_bytes / 1e9:.1f}", f"{os.getloadavg()[0]:.1f}"]
            print("| " + " | ".join(map(str, cells)) + " |", flush=True)
    return 1 if worst > GAP_LIMIT else 0


def real_maker(name: str) -> InputMaker:
    """The family's inputs as a run makes them, for a checkpoint in bfloat16."""
    import torch

    recipe = RECIPES[name]
    processor = make_processor(recipe, make_tokenizer(recipe), real=True)
    processor.tokenizer.padding_side = "left"
    settings = FrameVLMConfig(model_name=name)
    options = processor_options(settings, family_defaults(recipe.model_type, settings, processor))
    in_order = IN_ORDER in recipe.arguments
    form = prompt_form(
        processor, Visual.IMAGE, template=processor.chat_template, in_order=in_order, variables={}, system=None
    )
    maker = InputMaker(processor, form, Visual.IMAGE, options, True, torch.bfloat16, 10**9, True)
    process_in_pieces(maker)
    return maker


def store(seed: int) -> JpegStore:
    """A picture as a video frame is: smooth, with some detail."""
    random = np.random.default_rng(seed)
    small = Image.fromarray(random.integers(0, 256, (HEIGHT_PX // 10, WIDTH_PX // 10, 3), np.uint8))
    file = io.BytesIO()
    small.resize((WIDTH_PX, HEIGHT_PX), Image.Resampling.BICUBIC).save(file, "JPEG", quality=90)
    return JpegStore(file.getvalue())


def question(frames: JpegStore, seed: int) -> Question:
    """A question about one clip of 64 frames."""
    spec = FrameSpec(sampling=Sampling.BUDGET, count=N_FRAMES)
    sha256 = hashlib.sha256(str(seed).encode()).hexdigest()
    segments = (Text("Which of the options is right? " * 30), Text("CLIP_1\n"), ClipFrames(0))
    return Question(str(seed), segments, FrameList([FrameRequest("-", sha256, spec)], frames))


def cost_of(maker: InputMaker, batch: list[Question]) -> tuple[float, ahead.Cost]:
    """Processor seconds and cost of a batch, made once before so that nothing is counted that happens once."""
    prepare(maker, batch[:1])
    begun_cpu_s = time.process_time()
    _, cost = ahead.measured(lambda: prepare(maker, batch))
    return time.process_time() - begun_cpu_s, cost


def measure(maker: InputMaker, batch: list[Question], workers: int, wait_s: float, n_measured: int) -> Measured:
    """Use the batch again and again as a model would that takes ``wait_s`` for each."""
    n_growing = max(1, GROWING_BATCHES * workers)
    gaps, peak_bytes = [], 0
    made: Iterator[Prepared] = ahead.prepared_ahead(maker, [batch] * (n_growing + n_measured), workers)
    for number in range(n_growing + n_measured):
        begun_s = time.monotonic()
        prepared = next(made)
        gaps.append(time.monotonic() - begun_s)
        assert prepared.inputs is not None
        if number in (n_growing - 1, n_growing + n_measured - 1):  # it takes a second: not with every batch
            peak_bytes = max(peak_bytes, memory_bytes())
        time.sleep(wait_s)
        del prepared
    made.close()
    return Measured(sum(gaps[n_growing:]) / n_measured / wait_s, sum(gaps[:n_growing]), peak_bytes)


def memory_bytes() -> int:
    """What this process and its workers hold, shared memory counted once."""
    processes = [psutil.Process(), *psutil.Process().children(recursive=True)]
    return sum(process.memory_full_info().pss for process in processes)


if __name__ == "__main__":
    sys.exit(main())
