"""What readers of every kind of run hand over of EgoTempo: one typed response a question, before any judge's view."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from egobench_tasks.hosts.lighteval.saved_task import Inputs, SavedJudge
from egobench_tasks.judge.verdict import Verdict
from egobench_tasks.judge.verdict_files import VerdictFile
from egobench_tasks.runs.record import RunRecord

NOT_JUDGED = "not judged"
_NOT_RECORDED = Inputs()


@dataclass(frozen=True, slots=True)
class OpenFacts:
    """A question as a run says that it asked it."""

    question: str
    answer: str
    category: str


@dataclass(frozen=True, slots=True)
class OpenResponse:
    """One question's generation. ``facts`` is None where a run keeps none (a journal); ``verdict`` is the one saved
    with the answer by the task's judge, None where there is none. ``reasoning``: what the host split off the text."""

    question_id: str
    text: str
    finish_reason: str
    reasoning: str = ""
    facts: OpenFacts | None = None
    verdict: Verdict | None = None


@dataclass(frozen=True, slots=True)
class OpenTask:
    """One setting of EgoTempo as one source answered it.

    ``categories``: those whose answers count from here, as `open_settings.category_slug` writes them; answers of others
    are left aside. ``judge`` gave the verdicts saved with the answers. ``responses`` reads the source anew each time,
    and raises ``InputError`` for one that cannot be read.
    """

    setting: str
    categories: tuple[str, ...]
    source: Path
    responses: Callable[[], Iterable[OpenResponse]]
    inputs: Inputs = _NOT_RECORDED
    judge: SavedJudge | None = None


@dataclass(frozen=True, slots=True)
class OpenJudge:
    """Whose verdicts count: those of ``file``, and those saved with the answers of the tasks that this judge judged.

    ``name`` and ``wording`` are for tables; ``digest`` is `JudgeIdentity.digest`.
    """

    name: str
    wording: str
    digest: str
    file: VerdictFile | None = None


@dataclass(frozen=True, slots=True)
class OpenRun:
    """One model's open answers under one set of settings, as one judge sees them; ``judge`` None: as nobody does.

    ``model`` names the answers, whoever judged them; ``name`` says the judge too. ``notes``, ``mixed`` and ``records``
    are as in `responses.Run`.
    """

    name: str
    model: str
    folder: Path
    tasks: tuple[OpenTask, ...]
    judge: OpenJudge | None = None
    notes: tuple[str, ...] = ()
    mixed: bool = False
    records: tuple[RunRecord, ...] = ()

    @property
    def judged_by(self) -> str:
        """The judge in words."""
        return NOT_JUDGED if self.judge is None else f"judged by {self.judge.name}"


def before_each_judge(run: OpenRun, files: Iterable[VerdictFile]) -> list[OpenRun]:
    """Return a run as each of its judges sees it, named after both; as nobody does where there is none.

    Judges are those whose verdicts were saved with the answers, and those of the ``files``, which `egobench judge`
    wrote. Their verdicts are never mixed.
    """
    by_file = [OpenJudge(file.judge.name, file.judge.wording, file.judge.digest, file) for file in files]
    known = {judge.digest for judge in by_file}
    with_answers = {task.judge.digest: task.judge for task in run.tasks if task.judge is not None}
    judges = [
        *(OpenJudge(one.name, one.wording, digest) for digest, one in with_answers.items() if digest not in known),
        *by_file,
    ]
    seen = [replace(run, judge=judge) for judge in judges] or [run]
    return [replace(one, name=f"{run.model}, {one.judged_by}") for one in seen]
