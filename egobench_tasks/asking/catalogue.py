"""Every task by name, in every host's words: what it shows, of which questions, and about what an answer costs.

Needs no host: a mistyped name is refused before lighteval is imported.
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from egobench_tasks.asking.open_settings import DEFAULT_SETTING, TEXT_ONLY, category_slug, open_settings
from egobench_tasks.asking.probes import PROBES, PROBES_NAME, SET_OF_PROBES, Probe, probe_configs, probe_task
from egobench_tasks.asking.view import CentralFrame, NoFrames, OtherBudget
from egobench_tasks.benchmarks import EGOGEARS, EGOTEMPO, Benchmark
from egobench_tasks.errors import InputError
from egobench_tasks.frames.spec import FrameSpec, Sampling
from egobench_tasks.texts import nearest

CHOICES_VARIABLE = "EGOBENCH_CHOICES"
CLOSED_SETTINGS = (DEFAULT_SETTING, TEXT_ONLY, "center")

TOKENS_AN_IMAGE = {EGOGEARS.name: 170, EGOTEMPO.name: 650}
"""Of a frame of 480x270 and of one of 960x540 in a model that takes a token for 28x28 px, as Qwen2.5-VL does.
Others take from 64 to 2,800: `egobench run … --dry-run` measures."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskEntry:
    """One task: ``name`` is lighteval's, ``egogears_swapped:multi``.

    ``part``: the config of EgoGears or the category of EgoTempo that its questions are. ``probe``: what is changed of
    EgoGears' questions, None for nothing. ``spec``: what is taken of EgoTempo's clip, None for the words alone.
    ``closed``: EgoTempo's gold answer among three wrong ones. ``n_published``: questions in the published split; a
    probe may apply to fewer.
    """

    name: str
    benchmark: Benchmark
    part: str
    n_published: int
    probe: Probe | None = None
    spec: FrameSpec | None = None
    closed: bool = False

    @property
    def group(self) -> str:
        """The name that runs this task and its like: ``egogears_swapped``."""
        return self.name.partition(":")[0]

    @property
    def frames_a_question(self) -> float:
        """How many frames a question shows, on average where that follows from its clips."""
        if self.benchmark is EGOTEMPO:
            return _open_frames(self.spec)
        match self.probe and self.probe.frames:
            case NoFrames():
                return 0
            case CentralFrame():
                return EGOGEARS.mean_clips[self.part]
            case OtherBudget(total=total):
                return total
        return EGOGEARS.frames_per_question

    @property
    def shows(self) -> str:
        """What a model is shown, in words."""
        if self.benchmark is EGOGEARS:
            return self.probe.changes if self.probe else "the benchmark: labelled clips, options shuffled"
        shown = "words alone" if self.spec is None else _frames_in_words(self.spec)
        return f"{'four options, ' if self.closed else ''}{shown}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskGroup:
    """Tasks that one name runs. ``image_tokens``: of all their questions together, by `TOKENS_AN_IMAGE`."""

    name: str
    shows: str
    parts: tuple[str, ...]
    n_questions: int
    n_frames: int
    image_tokens: int


def choice_entries() -> list[TaskEntry]:
    """Return EgoGears' tasks, the benchmark's own first, then each probe's."""
    asked: list[tuple[str, Probe | None, str]] = [(EGOGEARS.name, None, config) for config in EGOGEARS.rows]
    asked += [(probe_task(name), probe, config) for name, probe in PROBES.items() for config in probe_configs(probe)]
    return [
        TaskEntry(
            name=f"{name}:{config}", benchmark=EGOGEARS, part=config, n_published=EGOGEARS.rows[config], probe=probe
        )
        for name, probe, config in asked
    ]


def open_entries() -> list[TaskEntry]:
    """Return EgoTempo's open tasks, a category each, for every input setting."""
    return [
        _open_entry(EGOTEMPO.name, setting, category, closed=False)
        for setting in open_settings()
        for category in EGOTEMPO.category_codes
    ]


def closed_entries() -> list[TaskEntry]:
    """Return EgoTempo's closed form, which can be asked where ``EGOBENCH_CHOICES`` names its wrong answers."""
    return [
        _open_entry(f"{EGOTEMPO.name}_choice", setting, category, closed=True)
        for setting in CLOSED_SETTINGS
        for category in EGOTEMPO.category_codes
    ]


def _open_entry(name: str, setting: str, category: str, *, closed: bool) -> TaskEntry:
    group = name if setting == DEFAULT_SETTING else f"{name}_{setting}"
    return TaskEntry(
        name=f"{group}:{category_slug(category)}",
        benchmark=EGOTEMPO,
        part=category,
        n_published=EGOTEMPO.rows_per_category,
        spec=open_settings()[setting],
        closed=closed,
    )


def all_entries() -> list[TaskEntry]:
    """Return every task that there is, EgoTempo's closed form included."""
    return [*choice_entries(), *open_entries(), *closed_entries()]


def task_groups(entries: Iterable[TaskEntry]) -> list[TaskGroup]:
    """Return the names that run several tasks of one kind, in the tasks' order."""
    grouped: dict[str, list[TaskEntry]] = {}
    for entry in entries:
        grouped.setdefault(entry.group, []).append(entry)
    return [_group(name, of) for name, of in grouped.items()]


def _group(name: str, entries: Sequence[TaskEntry]) -> TaskGroup:
    n_frames = sum(entry.n_published * entry.frames_a_question for entry in entries)
    return TaskGroup(
        name=name,
        shows=entries[0].shows,
        parts=tuple(entry.name.partition(":")[2] for entry in entries),
        n_questions=sum(entry.n_published for entry in entries),
        n_frames=round(n_frames),
        image_tokens=round(n_frames * TOKENS_AN_IMAGE[entries[0].benchmark.name]),
    )


def entries_named(tasks: str) -> list[TaskEntry]:
    """Return the tasks that lighteval's TASKS argument names (``egogears,probes``, ``egogears:multi|0``), each once.

    A file of names, one a line, is read as lighteval reads it. Raises ``InputError`` for a name that is no task of
    ours, with the nearest that is, and for the closed form without its wrong answers.
    """
    found = [entry for name in _names(tasks) for entry in _entries_of(name)]
    if any(entry.closed for entry in found) and not os.environ.get(CHOICES_VARIABLE):
        raise InputError(
            f"EgoTempo's closed form needs wrong answers: set {CHOICES_VARIABLE} to a file "
            "{question_id: [three wrong answers]}"
        )
    return list({entry.name: entry for entry in found}.values())


def _names(tasks: str) -> list[str]:
    if Path(tasks).is_file():
        lines = Path(tasks).read_text(encoding="utf-8").splitlines()
        given = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    else:
        given = [name.strip() for name in tasks.split(",")]
    return [name.split("|")[-2] if "|" in name else name for name in given]


def _entries_of(name: str) -> list[TaskEntry]:
    if name == PROBES_NAME:
        return [entry for probe in SET_OF_PROBES for entry in _entries_of(probe_task(probe))]
    found = [entry for entry in all_entries() if name in (entry.name, entry.group)]
    if not found:
        raise InputError(unknown_task(name))
    return found


def unknown_task(name: str, others: Iterable[str] = ()) -> str:
    """Return what to say of a name that is no task; ``others`` are names that are known beside ours."""
    entries = all_entries()
    group, _, part = name.partition(":")
    parts = [entry.name for entry in entries if part and entry.group == group]
    known = parts or [PROBES_NAME, *(entry.group for entry in entries), *others]
    hint = nearest(name, dict.fromkeys(known))
    if not hint.startswith("did"):
        hint = f"there are {', '.join(parts)}" if parts else f"the benchmarks are {EGOGEARS.name} and {EGOTEMPO.name}"
    return f"there is no task {name!r}; {hint} (all tasks: egobench tasks)"


def _open_frames(spec: FrameSpec | None) -> float:
    if spec is None:
        return 0
    if spec.rate_fps is not None:
        return spec.rate_fps * EGOTEMPO.mean_clip_s
    return spec.count or 1


def _frames_in_words(spec: FrameSpec) -> str:
    if spec.sampling is Sampling.CENTRAL:
        return "the central frame"
    how_many = f"{spec.count} frames" if spec.rate_fps is None else f"{spec.rate_fps:g} frames a second"
    order = ", drawn at random" if spec.sampling is Sampling.RANDOM else ", in random order" if spec.shuffled else ""
    return f"{how_many}{order}"
