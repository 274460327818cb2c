"""The benchmarks as Inspect tasks: ``inspect eval egobench_tasks/egogears_multi --model …``.

Inspect finds this module by the entry point ``inspect_ai``. Questions, messages and scores are those
of the lighteval tasks. A truncated generation is wrong; a budget other than the benchmark's is Inspect's
own ``--max-tokens``.
"""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig

from egobench_tasks.benchmarks import EGOGEARS
from egobench_tasks.data import fingerprint, load_rows, locate
from egobench_tasks.frames.spec import FrameSpec, Sampling
from egobench_tasks.hosts.choice import ShownQuestion, show_choice
from egobench_tasks.hosts.inspect_scorers import choice_scorer
from egobench_tasks.hosts.inspect_solvers import ask_with_frames, frames_record
from egobench_tasks.hosts.messages import to_record
from egobench_tasks.prompts import CHOICE_TEMPLATES, PROMPTS_VARIABLE, load_choice_templates


@task
def egogears_single(frames: int = EGOGEARS.frames_per_question, log_images: bool = False) -> Task:
    """EgoGears' questions on one clip.

    Args:
        frames: frames a question; published results have 64.
        log_images: keep the frames in Inspect's log, about 2 MB a question.
    """
    return _egogears("single", frames, log_images)


@task
def egogears_multi(frames: int = EGOGEARS.frames_per_question, log_images: bool = False) -> Task:
    """EgoGears' questions on several clips, which share the frames by their durations.

    Args:
        frames: frames a question; published results have 64.
        log_images: keep the frames in Inspect's log, about 2 MB a question.
    """
    return _egogears("multi", frames, log_images)


def _egogears(config: str, n_frames: int, log_images: bool) -> Task:
    templates = load_choice_templates(Path(os.environ.get(PROMPTS_VARIABLE, CHOICE_TEMPLATES)))
    rows = load_rows(locate(EGOGEARS), config)

    def sample(row: Mapping[str, Any]) -> Sample:
        return _choice_sample(show_choice(row, templates, n_frames, EGOGEARS.min_frames_per_clip))

    spec = FrameSpec(sampling=Sampling.BUDGET, count=n_frames)
    return Task(
        dataset=_dataset(f"{EGOGEARS.name}_{config}", rows, sample),
        solver=ask_with_frames(log_images=log_images),
        scorer=choice_scorer(),
        config=GenerateConfig(temperature=0.0, max_tokens=EGOGEARS.max_new_tokens),
        metadata={
            "prompt": templates.fingerprint,
            "frames": f"{spec.key()} at least {EGOGEARS.min_frames_per_clip} a clip",
            "dataset": fingerprint(rows),
        },
        version=1,
    )


def _dataset(name: str, rows: Any, sample: Callable[[Mapping[str, Any]], Sample]) -> MemoryDataset:
    return MemoryDataset([sample(row) for row in rows], name=name)


def _choice_sample(shown: ShownQuestion) -> Sample:
    """A sample of text alone; its frames are named in the metadata, and decoded just before it is asked."""
    gold = sorted(letter for letter, original in shown.shown_to_original.items() if original in shown.question.answer)
    return Sample(
        id=shown.question.question_id,
        input=shown.readable(),
        target=gold,
        metadata={
            **shown.facts(),
            "segments": to_record(shown.segments),
            "clips": frames_record(shown.frames),
        },
    )
