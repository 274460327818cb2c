"""All frames that a dataset's questions will ask for: what `egobench frames` fills the store with."""

import itertools
from collections.abc import Iterable, Iterator

from egobench_tasks.asking.choice import show_choice
from egobench_tasks.asking.open import windowed
from egobench_tasks.asking.open_settings import DEFAULT_SETTING, TEXT_ONLY, open_settings
from egobench_tasks.asking.probes import PROBES, Probe
from egobench_tasks.asking.prompts import load_choice_templates
from egobench_tasks.asking.questions import choice_question, open_question
from egobench_tasks.asking.view import CentralFrame, OtherBudget
from egobench_tasks.benchmarks import EGOGEARS, EGOTEMPO
from egobench_tasks.data import DatasetLocation, benchmark_of, load_rows, load_rows_with_clips
from egobench_tasks.errors import InputError
from egobench_tasks.frames.lazy import FrameRequest
from egobench_tasks.frames.spec import FrameSpec
from egobench_tasks.texts import nearest


def dataset_requests(location: DatasetLocation, name: str | None) -> Iterator[FrameRequest]:
    """Yield the frames of every question: by the benchmark's own rule, or as ``name`` says.

    That is one of its probes or settings that show other frames (``f8``), or a spec in full (``uniform,count=8``) for
    every clip. Raises ``InputError`` before the first frame where it is neither, or the other benchmark's: nobody
    would ask for such frames, and where the dataset is of neither benchmark.
    """
    benchmark, configs = benchmark_of(location)
    if benchmark is EGOGEARS:
        probe, spec = _choice_frames(name) if name else (None, None)
        return itertools.chain.from_iterable(_egogears(location, config, spec, probe) for config in configs)
    return _egotempo(location, _open_frames(name or DEFAULT_SETTING))


def choice_requests(location: DatasetLocation, spec: FrameSpec) -> dict[str, list[FrameRequest]]:
    """Return by config the frames of every clip of EgoGears, by ``spec``.

    Raises ``InputError`` where the dataset is not EgoGears.
    """
    benchmark, configs = benchmark_of(location)
    if benchmark is not EGOGEARS:
        raise InputError(f"{location}: is {benchmark.title}, whose questions name their videos; give EgoGears")
    return {config: list(_egogears(location, config, spec)) for config in configs}


def named_recordings(location: DatasetLocation) -> dict[str, str]:
    """Return by digest the recording that EgoGears names as a clip's; clips whose recording is concealed are left out.

    Raises ``InputError`` where the dataset is not EgoGears.
    """
    benchmark, configs = benchmark_of(location)
    if benchmark is not EGOGEARS:
        raise InputError(f"{location}: is {benchmark.title}, whose questions name their videos; give EgoGears")
    rows = (row for config in configs for row in load_rows(location, config) if row.get("recording"))
    return {clip.sha256: row["recording"] for row in rows for clip in choice_question(row).clips}


def _choice_frames(name: str) -> tuple[Probe | None, FrameSpec | None]:
    """The probe of EgoGears that shows other frames, or the spec, that a name is."""
    others = [probe.name for probe in PROBES.values() if isinstance(probe.frames, CentralFrame | OtherBudget)]
    if name in others:
        return PROBES[name], None
    if name in PROBES:
        raise InputError(f"--spec {name}: this probe shows the benchmark's own frames, or none; leave --spec out")
    if name in open_settings():
        raise InputError(
            f"--spec {name}: is EgoTempo's, and this is EgoGears, which never asks for such frames; its own are "
            f"{', '.join(others)}"
        )
    return None, _full_spec(name, others)


def _open_frames(name: str) -> FrameSpec:
    """The spec that one of EgoTempo's settings is, or that a name is in full."""
    settings = open_settings()
    if name == TEXT_ONLY:
        raise InputError(f"--spec {name}: shows no frames; there is nothing to decode")
    if name in PROBES and name not in settings:
        raise InputError(
            f"--spec {name}: is a probe of EgoGears, and this is EgoTempo; its settings are {', '.join(settings)}"
        )
    return settings.get(name) or _full_spec(name, settings)


def _full_spec(text: str, known: Iterable[str]) -> FrameSpec:
    if "," not in text and "=" not in text:
        raise InputError(f"--spec {text}: unknown; {nearest(text, known)} (or in full: uniform,count=8)")
    return FrameSpec.parse(text)


def _egogears(
    location: DatasetLocation, split: str, spec: FrameSpec | None, probe: Probe | None = None
) -> Iterator[FrameRequest]:
    templates = load_choice_templates()
    for row in load_rows_with_clips(location, split):
        if spec is None:
            shown = show_choice(row, templates, EGOGEARS.frames_per_question, EGOGEARS.min_frames_per_clip, probe)
            yield from shown.frames.requests
        else:
            yield from (FrameRequest(clip.path, clip.sha256, spec) for clip in choice_question(row).clips)


def _egotempo(location: DatasetLocation, spec: FrameSpec) -> Iterator[FrameRequest]:
    for row in load_rows_with_clips(location, EGOTEMPO.config):
        question = open_question(row)
        if question.clip is not None:
            yield FrameRequest(question.clip.path, question.clip.sha256, windowed(spec, question.window_s))
