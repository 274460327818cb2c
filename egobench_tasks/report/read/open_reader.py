"""Reading EgoTempo's open answers and their verdicts from what `lighteval --save-details` wrote."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from egobench_tasks.asking.open_settings import DEFAULT_SETTING, category_slug
from egobench_tasks.benchmarks import EGOTEMPO
from egobench_tasks.data import DatasetLocation, load_rows
from egobench_tasks.errors import InputError
from egobench_tasks.hosts.lighteval.details import OPEN_TASK, read_rows
from egobench_tasks.hosts.lighteval.judge_run import item_of, saved_verdict
from egobench_tasks.hosts.lighteval.saved import SavedRun, saved_runs
from egobench_tasks.hosts.lighteval.saved_task import SavedTask
from egobench_tasks.judge.identity import answer_digest
from egobench_tasks.judge.prompt import JudgeItem
from egobench_tasks.judge.summary import UNANSWERED
from egobench_tasks.judge.verdict import Judgement, Verdict
from egobench_tasks.judge.verdict_files import VerdictFile, read_verdict_files
from egobench_tasks.report.read.choice_results import PARTIAL
from egobench_tasks.report.read.open_outcomes import OpenOutcome, OpenState

NOT_JUDGED = "not judged"
_COLUMNS = (
    *(f"doc.specific.{name}" for name in ("question_id", "question", "answer", "category")),
    "model_response.text",
    "metric.judged",
    "metric.judge_accuracy",
)
_OPTIONAL = ("model_response.finish_reason", "model_response.reasonings", "metric.judge_score")


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
    """One model's open answers under one set of settings, as one judge sees them; ``judge`` None: as nobody does."""

    name: str
    folder: Path
    saved: SavedRun
    judge: OpenJudge | None

    @property
    def judged_by(self) -> str:
        """The judge in words."""
        return NOT_JUDGED if self.judge is None else f"judged by {self.judge.name}"


@dataclass(frozen=True, slots=True)
class OpenRow:
    """A question of the dataset; ``video``: the Ego4D video that its clip was cut from."""

    question_id: str
    question: str
    answer: str
    category: str
    duration_s: float | None
    video: str | None = None


@dataclass(frozen=True, slots=True)
class OpenAnswer:
    """What a run said to a question and what became of it. ``verdict`` is the judge's, None where it gave none."""

    outcome: OpenOutcome
    text: str = ""
    reasoning: str = ""
    finish_reason: str = ""
    verdict: Verdict | None = None


@dataclass(frozen=True, slots=True)
class OpenResult:
    """A run's answers, one a question of the categories it was asked. ``n_other``: how many verdicts of its judge's
    file are of other answers than these."""

    run: OpenRun
    answers: tuple[OpenAnswer, ...]
    n_other: int

    @property
    def label(self) -> str:
        """The run's name as shown, marked where it is partial."""
        return self.answers[0].outcome.run if self.answers else self.run.name

    @property
    def outcomes(self) -> list[OpenOutcome]:
        """The outcomes alone."""
        return [answer.outcome for answer in self.answers]

    @property
    def notices(self) -> tuple[str, ...]:
        """What a reader must know before the tables."""
        found = list(self.run.saved.notes)
        if self.run.judge is not None and self.run.judge.file is not None and self.n_other:
            file = self.run.judge.file
            found.append(
                f"{self.run.name}: {self.n_other} of {len(file.verdicts)} verdicts in {file.path.name} are of other "
                "answers than this run's, and do not count here"
            )
        return tuple(found)


def find_open_runs(folder: Path) -> list[OpenRun]:
    """Return the runs of EgoTempo whose details lie under ``folder``: one a model, set of settings, and judge.

    Judges are those whose verdicts were saved with the answers and those that `egobench judge` asked; their verdicts
    are never mixed, and each run says whose it has. Raises ``InputError`` as `saved.saved_runs` and
    `verdict_files.read_verdict_files` do.
    """
    found = saved_runs(folder, OPEN_TASK)
    files = read_verdict_files(folder) if found else []
    runs = []
    for saved in found:
        judges: list[OpenJudge | None] = [*_judges(saved, files)]
        for judge in judges or [None]:
            run = OpenRun(saved.name, folder, saved, judge)
            runs.append(replace(run, name=f"{saved.name}, {run.judged_by}"))
    return runs


def _judges(saved: SavedRun, files: list[VerdictFile]) -> list[OpenJudge]:
    judges = [OpenJudge(file.judge.name, file.judge.wording, file.judge.digest, file) for file in files]
    known = {judge.digest for judge in judges}
    with_answers = {task.judge.digest: task.judge for task in saved.tasks.values() if task.judge is not None}
    return [
        *(OpenJudge(one.name, one.wording, digest) for digest, one in with_answers.items() if digest not in known),
        *judges,
    ]


def load_open_rows(location: DatasetLocation) -> dict[str, OpenRow]:
    """Load EgoTempo's questions by id; clips are not opened."""
    return {
        row["question_id"]: OpenRow(
            row["question_id"], row["question"], row["answer"], row["category"], row["duration_s"], row["video_uid"]
        )
        for row in load_rows(location, EGOTEMPO.config)
    }


def read_open_run(run: OpenRun, rows: Mapping[str, OpenRow], only: Collection[str] | None = None) -> OpenResult:
    """Return an answer for every question of the categories that the run was asked; ``only`` for some of them, ``rows``
    then being these.

    One that the run lacks is lost, as one whose request failed is: neither right nor wrong. The run's label is marked
    where any is. Raises ``InputError`` for details of another dataset, of another version, or with a question twice.
    """
    answers: list[OpenAnswer] = []
    digests: set[str] = set()
    for name, task in run.saved.tasks.items():
        found: dict[str, OpenAnswer] = {}
        for row in _checked_rows(task, rows, only):
            question_id = row["doc"]["specific"]["question_id"]
            item = item_of(row["doc"]["specific"], row["model_response"])
            if isinstance(item, JudgeItem):
                digests.add(answer_digest(item))
            found[question_id] = _answer(run, name, task, rows[question_id], row, item)
        category = name.partition(":")[2].partition("|")[0]
        for asked in (one for one in rows.values() if category_slug(one.category) == category):
            answers.append(found.get(asked.question_id) or OpenAnswer(_outcome(run, name, asked, OpenState.LOST)))
    if any(answer.outcome.state is OpenState.LOST for answer in answers):
        answers = [replace(one, outcome=replace(one.outcome, run=f"{one.outcome.run} {PARTIAL}")) for one in answers]
    file = None if run.judge is None else run.judge.file
    n_other = 0 if file is None else sum(digest not in digests for digest in file.verdicts)
    return OpenResult(run, tuple(answers), n_other)


def _checked_rows(
    task: SavedTask, rows: Mapping[str, OpenRow], only: Collection[str] | None
) -> Iterator[Mapping[str, Any]]:
    """Yield a details file's rows, checked against the dataset."""
    seen: set[str] = set()
    for row in read_rows(task.details, _COLUMNS, _OPTIONAL):
        facts = row["doc"]["specific"]
        question_id = facts["question_id"]
        if only is not None and question_id not in only:
            continue
        known = rows.get(question_id)
        if known is None or any(getattr(known, name) != facts[name] for name in ("question", "answer", "category")):
            raise InputError(
                f"{task.details}: question {question_id} is not, or not with the same wording and answer, in the "
                f"dataset here; point {EGOTEMPO.data_variable} at the revision that was run"
            )
        if question_id in seen:
            raise InputError(
                f"{task.details}: answers question {question_id} more than once; remove the file and run again"
            )
        seen.add(question_id)
        yield row


def _answer(
    run: OpenRun, name: str, task: SavedTask, asked: OpenRow, row: Mapping[str, Any], item: JudgeItem | Judgement
) -> OpenAnswer:
    response = row["model_response"]
    verdict = _verdict(run, task, row["metric"], item) if isinstance(item, JudgeItem) else None
    return OpenAnswer(
        outcome=_outcome(run, name, asked, _state(run, item, verdict)),
        text="".join(response["text"] or ()),
        reasoning=first_reasoning(response),
        finish_reason=response.get("finish_reason") or "",
        verdict=verdict,
    )


def _verdict(run: OpenRun, task: SavedTask, metric: Mapping[str, Any], item: JudgeItem) -> Verdict | None:
    if run.judge is None:
        # Details of before results named a judge: a verdict without a judge is none.
        return None
    given = None if run.judge.file is None else run.judge.file.of(item)
    if given is None and task.judge is not None and task.judge.digest == run.judge.digest:
        return saved_verdict(metric)
    return given


def _state(run: OpenRun, item: JudgeItem | Judgement, verdict: Verdict | None) -> OpenState:
    if item == UNANSWERED:
        return OpenState.UNANSWERED if run.judge is not None else OpenState.NO_VERDICT
    if not isinstance(item, JudgeItem):
        return OpenState.LOST
    if verdict is None:
        return OpenState.NO_VERDICT
    return OpenState.CORRECT if verdict.correct else OpenState.INCORRECT


def setting_of(task: str) -> str:
    """The setting in a task's name: ``egotempo_f16:counting_actions|0`` has ``f16``."""
    match = OPEN_TASK.fullmatch(task)
    assert match is not None  # find_open_runs took no other
    return match["setting"] or DEFAULT_SETTING


def _outcome(run: OpenRun, name: str, asked: OpenRow, state: OpenState) -> OpenOutcome:
    return OpenOutcome(
        run=run.name,
        setting=setting_of(name),
        question_id=asked.question_id,
        category_code=EGOTEMPO.category_codes[asked.category],
        duration_s=asked.duration_s,
        state=state,
        video=asked.video,
    )


def first_reasoning(response: Mapping[str, object]) -> str:
    """The reasoning that a host kept apart from a saved response's one generation; empty where it has none."""
    kept = response.get("reasonings")
    return str(kept[0] or "") if isinstance(kept, list) and kept else ""
