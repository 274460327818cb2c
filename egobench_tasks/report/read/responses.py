"""What readers of every kind of run hand over: one typed response a question, raw text and all."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from egobench_tasks.runs.record import RunRecord

SCORE_NAMES = ("exact_set", "jaccard", "overlap", "wellformed", "answered", "chance")


@dataclass(frozen=True, slots=True)
class Shown:
    """What a run says it showed: the options in shown order, and the gold it scored against.

    ``letters`` and ``originals`` are strings of equal length: the i-th shown letter showed the
    option of the i-th original letter. ``texts``, ``query`` (the whole message) and ``question`` (its
    wording alone) are None where a host keeps none.
    """

    letters: str
    originals: str
    answer: frozenset[str]
    texts: tuple[str, ...] | None = None
    query: str | None = None
    question: str | None = None


@dataclass(frozen=True, slots=True)
class Cost:
    """What one generation took. None where the host does not count; ``seconds`` from asking to its end."""

    n_prompt_tokens: int | None = None
    n_new_tokens: int | None = None
    seconds: float | None = None


NO_COST = Cost()


@dataclass(frozen=True, slots=True)
class Repeat:
    """One of several generations for the same question."""

    text: str
    finish_reason: str


@dataclass(frozen=True, slots=True)
class Response:
    """One question's generation. ``shown`` is None where a run keeps none (a journal);
    ``saved_scores`` holds those of `SCORE_NAMES` that the run computed itself. ``repeats``: all generations where
    the question was asked several times, this one first; else empty. ``reasoning`` is what the host had split off the
    text; ``thinking`` is whether the run says that the model was told to reason. ``cost``: what it took, as far as the
    run says."""

    question_id: str
    text: str
    finish_reason: str
    shown: Shown | None = None
    saved_scores: Mapping[str, float] = field(default_factory=dict)
    repeats: tuple[Repeat, ...] = ()
    reasoning: str = ""
    thinking: bool = False
    cost: Cost = NO_COST


@dataclass(frozen=True, slots=True)
class Settings:
    """What shaped a task's input, as text; None where the run does not say."""

    prompt: str | None = None
    frames: str | None = None
    dataset: str | None = None


@dataclass(frozen=True, slots=True)
class TaskRun:
    """One config of EgoGears as one run answered it, by one probe of `asking.probes` where ``probe`` names one.

    ``responses`` reads the source anew each time: the texts of a reasoning model are too many to
    keep for all runs at once. It raises ``InputError`` for a source that cannot be read.
    """

    config: str
    source: Path
    settings: Settings
    responses: Callable[[], Iterable[Response]]
    probe: str = ""


@dataclass(frozen=True, slots=True)
class Run:
    """One model in one configuration. ``notes`` are remarks of the reader's, for the report's head.

    ``tasks`` are the benchmark itself; ``probes`` are the same questions with one thing changed, which no
    score, rank or published figure compares with.
    ``mixed``: its folder holds the same model's answers under other settings too, which are runs of their own.
    ``records`` are the ``run.json`` of what made it, the oldest first; none where nothing wrote them.
    """

    name: str
    folder: Path
    tasks: tuple[TaskRun, ...]
    notes: tuple[str, ...] = ()
    mixed: bool = False
    records: tuple[RunRecord, ...] = ()
    probes: tuple[TaskRun, ...] = ()


def run_of(
    name: str,
    folder: Path,
    tasks: Iterable[TaskRun],
    notes: Iterable[str] = (),
    *,
    mixed: bool = False,
    records: Iterable[RunRecord] = (),
) -> Run:
    """Return a run of all that a model answered, the probes' tasks apart from the benchmark's."""
    found = list(tasks)
    return Run(
        name,
        folder,
        tuple(task for task in found if not task.probe),
        tuple(notes),
        mixed,
        tuple(records),
        tuple(task for task in found if task.probe),
    )
