"""All frames that a dataset's questions will ask for: what `egobench frames` fills the store with."""

from collections.abc import Iterator

from egobench_tasks.asking.choice import show_choice
from egobench_tasks.asking.open import windowed
from egobench_tasks.asking.open_settings import DEFAULT_SETTING, open_settings
from egobench_tasks.asking.prompts import load_choice_templates
from egobench_tasks.asking.questions import choice_question, open_question
from egobench_tasks.benchmarks import EGOGEARS, EGOTEMPO
from egobench_tasks.data import DatasetLocation, benchmark_of, load_rows
from egobench_tasks.errors import InputError
from egobench_tasks.frames.lazy import FrameRequest
from egobench_tasks.frames.spec import FrameSpec


def dataset_requests(location: DatasetLocation, spec: FrameSpec | None) -> Iterator[FrameRequest]:
    """Yield the frames of every question: by the benchmark's own rule, or by ``spec`` for every clip.

    Raises ``InputError`` where the dataset is of neither benchmark.
    """
    benchmark, configs = benchmark_of(location)
    if benchmark is EGOGEARS:
        for config in configs:
            yield from _egogears(location, config, spec)
    else:
        yield from _egotempo(location, spec or open_settings()[DEFAULT_SETTING])


def choice_requests(location: DatasetLocation, spec: FrameSpec) -> dict[str, list[FrameRequest]]:
    """Return by config the frames of every clip of EgoGears, by ``spec``.

    Raises ``InputError`` where the dataset is not EgoGears.
    """
    benchmark, configs = benchmark_of(location)
    if benchmark is not EGOGEARS:
        raise InputError(f"{location}: is {benchmark.title}, whose questions name their videos; give EgoGears")
    return {config: list(_egogears(location, config, spec)) for config in configs}


def parse_spec(text: str) -> FrameSpec:
    """Read one of EgoTempo's settings (``f8``, ``fps0.5``) or a spec in full (``uniform,count=8``)."""
    return open_settings().get(text) or FrameSpec.parse(text)


def _egogears(location: DatasetLocation, split: str, spec: FrameSpec | None) -> Iterator[FrameRequest]:
    templates = load_choice_templates()
    for row in load_rows(location, split):
        if spec is None:
            shown = show_choice(row, templates, EGOGEARS.frames_per_question, EGOGEARS.min_frames_per_clip)
            yield from shown.frames.requests
        else:
            yield from (FrameRequest(clip.path, clip.sha256, spec) for clip in choice_question(row).clips)


def _egotempo(location: DatasetLocation, spec: FrameSpec | None) -> Iterator[FrameRequest]:
    for row in load_rows(location, EGOTEMPO.config):
        question = open_question(row)
        if question.clip is not None and spec is not None:
            yield FrameRequest(question.clip.path, question.clip.sha256, windowed(spec, question.window_s))
