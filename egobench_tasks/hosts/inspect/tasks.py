"""The benchmarks as Inspect tasks: ``inspect eval egobench_tasks/egogears_multi --model …``.

Also ``egobench_tasks/egogears_single`` and ``egobench_tasks/egotempo``; ``-T probe=swapped``
asks by one of `asking.probes`. Inspect finds this module by the
entry point ``inspect_ai``. Questions, messages and scores are those of the lighteval tasks. A truncated
answer is asked for again with twice the budget; a first one other than the benchmark's is Inspect's ``--max-tokens``.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from inspect_ai import Epochs, Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig

from egobench_tasks.asking.choice import ShownQuestion, show_choice
from egobench_tasks.asking.messages import to_record
from egobench_tasks.asking.open import (
    OPEN_ANSWER_TOKENS,
    ShownOpenQuestion,
    find_category,
    rows_of_category,
    show_open,
)
from egobench_tasks.asking.open_settings import DEFAULT_SETTING, open_settings
from egobench_tasks.asking.probes import find_probe, rows_asked
from egobench_tasks.asking.prompts import choice_templates, open_templates
from egobench_tasks.asking.view import SharedFrames
from egobench_tasks.benchmarks import EGOGEARS, EGOTEMPO, Benchmark
from egobench_tasks.data import DatasetLocation, fingerprint, load_rows, locate, pin
from egobench_tasks.errors import InputError
from egobench_tasks.frames.decode import decoder_version
from egobench_tasks.frames.spec import FrameSpec
from egobench_tasks.hosts.inspect.repeats import first_answer
from egobench_tasks.hosts.inspect.scorers import choice_scorer, open_scorer
from egobench_tasks.hosts.inspect.solvers import ask_with_frames, frames_record
from egobench_tasks.judge.identity import judge_identity
from egobench_tasks.judge.identity import to_record as judge_record
from egobench_tasks.judge.prompt import prompt_fingerprint
from egobench_tasks.judge.settings import load_settings
from egobench_tasks.runs.circumstances import library_versions, this_package
from egobench_tasks.runs.repeats import check_repeats

logger = logging.getLogger(__name__)

# Inspect calls the tasks of an installed package PACKAGE/TASK, but not those of an editable install whose
# distribution (egobench) is named otherwise than the package: there the name has to say it itself.
_NAMESPACE = "" if {"site-packages", "dist-packages"} & set(Path(__file__).parts) else "egobench_tasks/"


@task(name=f"{_NAMESPACE}egogears_single")
def egogears_single(
    frames: int = EGOGEARS.frames_per_question,
    probe: str | None = None,
    repeats: int = 1,
    temperature: float = 0.0,
    log_images: bool = False,
) -> Task:
    """EgoGears' questions on one clip.

    Args:
        frames: frames a question; published results have 64.
        probe: one of `asking.probes`, which changes one thing of every question: ``swapped``, ``blind`` ….
        repeats: how often each question is asked; scores are those of the first answers.
        temperature: published results have 0; repeats need more.
        log_images: keep the frames in Inspect's log, about 2 MB a question.
    """
    return _egogears("single", frames, probe, repeats, temperature, log_images)


@task(name=f"{_NAMESPACE}egogears_multi")
def egogears_multi(
    frames: int = EGOGEARS.frames_per_question,
    probe: str | None = None,
    repeats: int = 1,
    temperature: float = 0.0,
    log_images: bool = False,
) -> Task:
    """EgoGears' questions on several clips, which share the frames by their durations.

    Args:
        frames: frames a question; published results have 64.
        probe: one of `asking.probes`, which changes one thing of every question: ``swapped``, ``blind`` ….
        repeats: how often each question is asked; scores are those of the first answers.
        temperature: published results have 0; repeats need more.
        log_images: keep the frames in Inspect's log, about 2 MB a question.
    """
    return _egogears("multi", frames, probe, repeats, temperature, log_images)


@task(name=f"{_NAMESPACE}egotempo")
def egotempo(
    setting: str = DEFAULT_SETTING, category: str | None = None, judge: str | None = None, log_images: bool = False
) -> Task:
    """EgoTempo's open questions, judged where a judge is configured (``EGOBENCH_JUDGE_BASE_URL``, ``…_MODEL``).

    Args:
        setting: what a model sees of the clip: ``text``, ``center``, ``f8``, ``fps0.5`` and the others of
            `open_settings`.
        category: one of the ten, ``counting_actions``; all of them where it is not given.
        judge: the judge's model, in place of ``EGOBENCH_JUDGE_MODEL``.
        log_images: keep the frames in Inspect's log.
    """
    spec, settings = _spec(setting), load_settings(overrides={"model": judge})
    templates = open_templates()
    location = pin(locate(EGOTEMPO))
    rows = load_rows(location, EGOTEMPO.config)
    if category is not None:
        rows = rows_of_category(rows, find_category(category))
    if spec is not None and (n_missing := sum(video is None for video in rows["video"])):
        logger.warning(f"{EGOTEMPO.name}: {n_missing} of {len(rows)} questions have no clip here: the run is partial")
    return Task(
        dataset=_dataset(f"{EGOTEMPO.name}_{setting}", rows, lambda row: _open_sample(show_open(row, templates, spec))),
        solver=ask_with_frames(log_images=log_images),
        scorer=open_scorer(judge),
        config=GenerateConfig(temperature=0.0, max_tokens=OPEN_ANSWER_TOKENS),
        metadata={
            "prompt": templates.fingerprint,
            "frames": spec.key() if spec else "none",
            "dataset": fingerprint(rows),
            "judge": f"{settings.model}, prompt {prompt_fingerprint()}" if settings else "none",
            **({"judge_identity": judge_record(judge_identity(settings))} if settings else {}),
            **_circumstances(EGOTEMPO, location),
        },
        version=EGOTEMPO.version,
    )


def _egogears(
    config: str, n_frames: int, probe_name: str | None, n_repeats: int, temperature: float, log_images: bool
) -> Task:
    templates = choice_templates()
    probe = None if probe_name is None else find_probe(probe_name)
    check_repeats(n_repeats, temperature, seed=None, remedy="-T temperature=0.7")
    location = pin(locate(EGOGEARS))
    rows = load_rows(location, config)
    asked = rows if probe is None else rows_asked(rows, probe)
    if len(asked) != len(rows):
        logger.warning(
            f"{probe_name}, {config}: asks {len(asked)} of {len(rows)} questions; it does not apply to others"
        )

    def sample(row: Mapping[str, Any]) -> Sample:
        return _choice_sample(show_choice(row, templates, n_frames, EGOGEARS.min_frames_per_clip, probe))

    frames = (probe and probe.frames) or SharedFrames(n_frames, EGOGEARS.min_frames_per_clip)
    named = {} if probe is None else {"probe": probe.name}
    return Task(
        dataset=_dataset("_".join([EGOGEARS.name, *named.values(), config]), asked, sample),
        solver=ask_with_frames(log_images=log_images),
        scorer=choice_scorer(),
        config=GenerateConfig(temperature=temperature, max_tokens=EGOGEARS.max_new_tokens),
        epochs=Epochs(n_repeats, first_answer()),
        metadata={
            "prompt": templates.fingerprint,
            "frames": str(frames),
            "dataset": fingerprint(rows),
            **_circumstances(EGOGEARS, location),
            **named,
        },
        version=EGOGEARS.version,
    )


def _circumstances(benchmark: Benchmark, location: DatasetLocation) -> dict[str, Any]:
    """What surrounds a run and Inspect does not log itself; the model and its settings it does."""
    return {
        "egobench": asdict(this_package()),
        "libraries": library_versions(),
        "libavcodec": decoder_version(),
        "location": str(location),
        "canary": benchmark.canary,
    }


def _dataset(name: str, rows: Any, sample: Callable[[Mapping[str, Any]], Sample]) -> MemoryDataset:
    return MemoryDataset([sample(row) for row in rows], name=name)


def _spec(setting: str) -> FrameSpec | None:
    settings = open_settings()
    if setting not in settings:
        raise InputError(f"no setting {setting!r}; there are {', '.join(settings)}")
    return settings[setting]


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


def _open_sample(shown: ShownOpenQuestion) -> Sample:
    """See `_choice_sample`."""
    return Sample(
        id=shown.question.question_id,
        input=shown.readable(),
        target=shown.question.answer,
        metadata={
            **shown.facts(),
            "segments": to_record(shown.segments),
            "clips": frames_record(shown.frames),
        },
    )
