"""EgoTempo's runs of every kind as answers with what became of them: one a question of the categories asked."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from egobench_tasks.asking.open import to_judge
from egobench_tasks.asking.open_settings import category_slug
from egobench_tasks.benchmarks import EGOTEMPO
from egobench_tasks.data import DatasetLocation, load_rows
from egobench_tasks.errors import InputError
from egobench_tasks.judge.identity import JudgeIdentity, answer_digest
from egobench_tasks.judge.prompt import JudgeItem
from egobench_tasks.judge.summary import LOST, UNANSWERED
from egobench_tasks.judge.verdict import Judgement, Verdict
from egobench_tasks.judge.verdict_files import VerdictFile, read_verdict_files
from egobench_tasks.report.read.choice_results import PARTIAL
from egobench_tasks.report.read.inspect_logs import LOG_SUFFIX
from egobench_tasks.report.read.inspect_open_reader import find_inspect_open_runs
from egobench_tasks.report.read.journal_open_reader import find_open_journal_run
from egobench_tasks.report.read.lighteval_open_reader import find_lighteval_open_runs
from egobench_tasks.report.read.open_outcomes import OpenOutcome, OpenState
from egobench_tasks.report.read.open_responses import OpenFacts, OpenResponse, OpenRun, OpenTask, before_each_judge


@dataclass(frozen=True, slots=True)
class OpenRow:
    """A question of the dataset; ``video``: the Ego4D video that its clip was cut from."""

    question_id: str
    question: str
    answer: str
    category: str
    duration_s: float | None
    video: str | None = None

    @property
    def facts(self) -> OpenFacts:
        """What a run must have asked."""
        return OpenFacts(self.question, self.answer, self.category)


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
        found = list(self.run.notes)
        if self.run.judge is not None and self.run.judge.file is not None and self.n_other:
            file = self.run.judge.file
            found.append(
                f"{self.run.name}: {self.n_other} of {len(file.verdicts)} verdicts in {file.path.name} are of other "
                "answers than this run's, and do not count here"
            )
        return tuple(found)


def find_open_runs(path: Path) -> list[OpenRun]:
    """Return the runs of EgoTempo at a path: one a model, set of settings, and judge.

    A path is a folder of lighteval's, an Inspect log or a folder of them, or, where it holds neither, a journal's
    folder. Each run says whose verdicts it has (`open_responses.before_each_judge`). Raises ``InputError`` as
    `saved.saved_runs`, `inspect_logs.read_headers` and `verdict_files.read_verdict_files` do.
    """
    found = answered_runs(path)
    return [one for run in found for one in before_each_judge(run, _verdict_files(path, run))]


def answered_runs(path: Path) -> list[OpenRun]:
    """Return the runs of EgoTempo at a path, whoever judged them: one a model and set of settings."""
    found = find_inspect_open_runs(path)
    if path.is_dir():
        found += find_lighteval_open_runs(path)
        if not found and (journalled := find_open_journal_run(path)):
            found.append(journalled)
    return found


def _verdict_files(path: Path, run: OpenRun) -> list[VerdictFile]:
    """The verdicts beside a path and beside each log that the run was read from, those of one judge as one."""
    logs = (task.source for task in run.tasks if task.source.suffix == LOG_SUFFIX)
    by_judge: dict[JudgeIdentity, VerdictFile] = {}
    for file in (file for place in dict.fromkeys((path, *logs)) for file in read_verdict_files(place)):
        other = by_judge.get(file.judge)
        by_judge[file.judge] = file if other is None else replace(file, verdicts={**other.verdicts, **file.verdicts})
    return list(by_judge.values())


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
    where any is. Raises ``InputError`` for answers to another dataset, of another version, or to a question twice.
    """
    answers: list[OpenAnswer] = []
    digests: set[str] = set()
    for task in run.tasks:
        for asked, response, item in judged_items(task, rows, only):
            if isinstance(item, JudgeItem):
                digests.add(answer_digest(item))
            answers.append(_answer(run, task, asked, response, item))
    if any(answer.outcome.state is OpenState.LOST for answer in answers):
        answers = [replace(one, outcome=replace(one.outcome, run=f"{one.outcome.run} {PARTIAL}")) for one in answers]
    file = None if run.judge is None else run.judge.file
    n_other = 0 if file is None else sum(digest not in digests for digest in file.verdicts)
    return OpenResult(run, tuple(answers), n_other)


def judged_items(
    task: OpenTask, rows: Mapping[str, OpenRow], only: Collection[str] | None = None
) -> Iterator[tuple[OpenRow, OpenResponse | None, JudgeItem | Judgement]]:
    """Yield every question of the categories that count, what was said to it (None: nothing is there, it is lost), and
    what a judge is asked of that, or what is settled without one.

    Raises ``InputError`` as `read_open_run` does.
    """
    found = {response.question_id: response for response in _checked(task, rows, only)}
    for asked in (one for one in rows.values() if category_slug(one.category) in task.categories):
        response = found.get(asked.question_id)
        if response is None:
            yield asked, None, LOST
            continue
        facts = {"question_id": asked.question_id, "question": asked.question, "answer": asked.answer}
        yield asked, response, to_judge(facts, response.text, response.finish_reason)


def _checked(task: OpenTask, rows: Mapping[str, OpenRow], only: Collection[str] | None) -> Iterator[OpenResponse]:
    """Yield the responses that count, checked against the dataset."""
    seen: set[str] = set()
    for response in task.responses():
        question_id = response.question_id
        if only is not None and question_id not in only:
            continue
        known = rows.get(question_id)
        if known is None or response.facts not in (None, known.facts):
            raise InputError(
                f"{task.source}: question {question_id} is not, or not with the same wording and answer, in the "
                f"dataset here; point {EGOTEMPO.data_variable} at the revision that was run"
            )
        if question_id in seen:
            raise InputError(
                f"{task.source}: answers question {question_id} more than once; remove the file and run again"
            )
        seen.add(question_id)
        if category_slug(known.category) in task.categories:
            yield response


def _answer(
    run: OpenRun, task: OpenTask, asked: OpenRow, response: OpenResponse | None, item: JudgeItem | Judgement
) -> OpenAnswer:
    if response is None:
        return OpenAnswer(_outcome(run, task, asked, OpenState.LOST))
    verdict = _verdict(run, task, response, item) if isinstance(item, JudgeItem) else None
    return OpenAnswer(
        outcome=_outcome(run, task, asked, _state(run, item, verdict)),
        text=response.text,
        reasoning=response.reasoning,
        finish_reason=response.finish_reason,
        verdict=verdict,
    )


def _verdict(run: OpenRun, task: OpenTask, response: OpenResponse, item: JudgeItem) -> Verdict | None:
    if run.judge is None:
        return None
    given = None if run.judge.file is None else run.judge.file.of(item)
    if given is None and task.judge is not None and task.judge.digest == run.judge.digest:
        return response.verdict
    return given


def _state(run: OpenRun, item: JudgeItem | Judgement, verdict: Verdict | None) -> OpenState:
    if item == UNANSWERED:
        return OpenState.UNANSWERED if run.judge is not None else OpenState.NO_VERDICT
    if not isinstance(item, JudgeItem):
        return OpenState.LOST
    if verdict is None:
        return OpenState.NO_VERDICT
    return OpenState.CORRECT if verdict.correct else OpenState.INCORRECT


def _outcome(run: OpenRun, task: OpenTask, asked: OpenRow, state: OpenState) -> OpenOutcome:
    return OpenOutcome(
        run=run.name,
        setting=task.setting,
        question_id=asked.question_id,
        category_code=EGOTEMPO.category_codes[asked.category],
        duration_s=asked.duration_s,
        state=state,
        video=asked.video,
    )
