"""Every run's raw texts parsed and scored again, on every question of its splits.

One scoring path: what a run saved beside its texts is checked against this, never used.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from enum import IntEnum

import pandas as pd

from egobench_tasks.asking.probes import find_probe
from egobench_tasks.asking.questions import ChoiceQuestion
from egobench_tasks.asking.view import CentralFrame, ChoiceView, NoFrames, plain_view
from egobench_tasks.errors import InputError
from egobench_tasks.report.read.choice_questions import Split
from egobench_tasks.report.read.responses import NO_COST, Cost, Response, Shown, TaskRun
from egobench_tasks.report.read.states import state_of
from egobench_tasks.runs.journal import MISSING
from egobench_tasks.scoring.answers import parse_answer
from egobench_tasks.scoring.choice import lacks_trace, to_original
from egobench_tasks.scoring.scores import NO_ANSWER, ChoiceScore, chance_exact, score_choice

COSTS = tuple(field.name for field in fields(Cost))
_COPIED = ("question_id", "state", "predicted", "shown_letters", "shown_gold", "shown_predicted", "no_trace")
METRICS = tuple(field.name for field in fields(ChoiceScore))


class Compared(IntEnum):
    """How much of a question a run kept, to be compared with the dataset's: each level holds those before it."""

    NOTHING = 0
    LETTERS = 1  # which are right, and how many there are
    OPTIONS = 2  # the options' texts
    WORDS = 3  # the question's words


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one run did on one question.

    ``predicted`` holds original letters; ``shown_*`` hold letters as the model saw them. Empty
    where there is no answer. ``agrees`` is False where the scores the run saved differ from these.
    ``compared``: how much of the question was found to be the dataset's.
    ``implied``: the original letters that are right under a probe which moves the answer, where that can be said.
    ``no_trace``: answered without reasoning although thinking was on (PROTOCOL 1.2).
    """

    question_id: str
    state: str
    score: ChoiceScore
    predicted: str
    shown_letters: str
    shown_gold: str
    shown_predicted: str
    agrees: bool
    compared: Compared = Compared.NOTHING
    implied: str = ""
    no_trace: bool = False
    cost: Cost = NO_COST


def score_task(task: TaskRun, split: Split) -> list[Outcome]:
    """Return an outcome for every question of the split, in its order; what the run lacks is wrong (PROTOCOL 1.3).

    Of a probe's task: for every question that the probe applies to, scored against the gold of the dataset.
    Raises ``InputError`` naming the run's file for a question answered twice, a question the
    dataset does not have, and one whose answer, options or wording differ.
    """
    asked = asked_views(task, split)
    found: dict[str, Outcome] = {}
    repeated, strange = [], []
    for response in task.responses():
        view = asked.get(response.question_id)
        if view is None or not _same_question(view.question, response.shown):
            strange.append(response.question_id)
        elif response.question_id in found:
            repeated.append(response.question_id)
        else:
            found[response.question_id] = _outcome(view, response)
    if strange:
        raise InputError(_other_dataset(task, split, strange))
    if repeated:
        raise InputError(
            f"{task.source}: answers {_some(repeated)} more than once; two runs were saved as one: "
            "remove the file and run again (answers come from the journal)"
        )
    if not found:
        raise InputError(f"{task.source}: holds no questions; run it again")
    return [found.get(question_id) or _missing(view) for question_id, view in asked.items()]


def asked_views(task: TaskRun, split: Split) -> dict[str, ChoiceView]:
    """Return by id what a task shows of the split's questions: all of them, or those its probe applies to.

    Raises ``InputError`` for a probe that this version does not know.
    """
    if not task.probe:
        return {question_id: plain_view(question, NoFrames()) for question_id, question in split.questions.items()}
    try:
        probe = find_probe(task.probe)
    except InputError as error:
        raise InputError(f"{task.source}: {error}") from None
    views = ((question_id, probe.view(question, CentralFrame())) for question_id, question in split.questions.items())
    return {question_id: view for question_id, view in views if view is not None}


def score_repeats(task: TaskRun, split: Split) -> list[list[Outcome]]:
    """Score a task that was asked several times: a list as of `score_task` for each repeat, the first one first.

    One list where it was asked once. A question that lacks a repeat counts as missing in it. Raises as `score_task`.
    """
    responses = list(task.responses())
    n_repeats = max((len(response.repeats) for response in responses), default=0) or 1
    if n_repeats == 1:
        return [score_task(replace(task, responses=lambda: responses), split)]
    return [_score_repeat(task, split, responses, number) for number in range(n_repeats)]


def _score_repeat(task: TaskRun, split: Split, responses: Sequence[Response], number: int) -> list[Outcome]:
    kept = [
        replace(
            response,
            text=response.repeats[number].text,
            finish_reason=response.repeats[number].finish_reason,
            saved_scores=response.saved_scores if number == 0 else {},
        )
        for response in responses
        if number < len(response.repeats)
    ]
    return score_task(replace(task, responses=lambda: kept), split)


def outcomes_frame(label: str, config: str, outcomes: Sequence[Outcome]) -> pd.DataFrame:
    """Return outcomes as a table: run, config, the fields of `Outcome`, `METRICS`, and those of `responses.Cost`."""
    rows = [
        {name: getattr(outcome, name) for name in _COPIED}
        | {name: getattr(outcome.score, name) for name in METRICS}
        | {name: getattr(outcome.cost, name) for name in COSTS}
        for outcome in outcomes
    ]
    frame = pd.DataFrame(rows)
    frame.insert(0, "run", label)
    frame.insert(1, "config", config)
    return frame


def _outcome(view: ChoiceView, response: Response) -> Outcome:
    question = view.question
    shown_to_original = _shown_to_original(view, response.shown)
    parsed = parse_answer(response.text, shown_to_original, response.finish_reason)
    predicted = None if parsed.letters is None else to_original(parsed.letters, shown_to_original)
    score = score_choice(predicted, question.answer)
    return Outcome(
        question_id=question.question_id,
        state=state_of(parsed, response.finish_reason),
        score=score,
        predicted="".join(sorted(predicted or ())),
        shown_letters="".join(shown_to_original),
        shown_gold=_shown_gold(question, shown_to_original),
        shown_predicted="".join(sorted(parsed.letters or ())),
        agrees=_agrees(question, score, response),
        compared=_compared(response.shown),
        implied="".join(sorted(view.implied or ())),
        no_trace=lacks_trace(parsed, response.text, response.reasoning, thinking=response.thinking),
        cost=response.cost,
    )


def _missing(view: ChoiceView) -> Outcome:
    question, shown_to_original = view.question, view.shown_to_original
    return Outcome(
        question_id=question.question_id,
        state=MISSING,
        score=NO_ANSWER,
        predicted="",
        shown_letters="".join(shown_to_original),
        shown_gold=_shown_gold(question, shown_to_original),
        shown_predicted="",
        agrees=True,
        implied="".join(sorted(view.implied or ())),
    )


def _shown_to_original(view: ChoiceView, shown: Shown | None) -> Mapping[str, str]:
    """What the run recorded, else what every host shows: the shuffle by question id, or a probe's order."""
    if shown is None:
        return view.shown_to_original
    return dict(zip(shown.letters, shown.originals, strict=True))


def _shown_gold(question: ChoiceQuestion, shown_to_original: Mapping[str, str]) -> str:
    return "".join(letter for letter, original in shown_to_original.items() if original in question.answer)


def _same_question(question: ChoiceQuestion, shown: Shown | None) -> bool:
    """Whether the run saw this question as the dataset has it, as far as the run recorded it."""
    if shown is None:
        return True
    if shown.answer != question.answer or sorted(shown.originals) != list(question.letters):
        return False
    if len(shown.letters) != len(shown.originals) or len(set(shown.letters)) != len(shown.letters):
        return False
    if shown.texts is not None:
        text_of = dict(zip(question.letters, question.options, strict=True))
        if list(shown.texts) != [text_of[letter] for letter in shown.originals]:
            return False
    if shown.question is not None:
        return shown.question == question.question
    return shown.query is None or question.question in shown.query  # a message holds it among other words


def _compared(shown: Shown | None) -> Compared:
    if shown is None:
        return Compared.NOTHING
    if shown.texts is None:
        return Compared.LETTERS
    return Compared.OPTIONS if shown.question is None else Compared.WORDS


def _agrees(question: ChoiceQuestion, score: ChoiceScore, response: Response) -> bool:
    def ours(name: str) -> float:
        if name == "chance":
            return chance_exact(len(question.options), question.n_select)
        return float(getattr(score, name))

    return all(
        math.isclose(saved, ours(name), rel_tol=1e-9, abs_tol=1e-12) for name, saved in response.saved_scores.items()
    )


def _other_dataset(task: TaskRun, split: Split, question_ids: Sequence[str]) -> str:
    asked = f" (fingerprint {task.settings.dataset})" if task.settings.dataset else ""
    return (
        f"{task.source}: answers questions of another dataset revision{asked}: {_some(question_ids)} not, or not with "
        f"the same wording, options and answer, in {split.location} (config {split.config}, fingerprint "
        f"{split.fingerprint}); point EGOGEARS_DATA at the revision that was run"
    )


def _some(question_ids: Sequence[str], n_named: int = 3) -> str:
    def names() -> Iterator[str]:
        yield from question_ids[:n_named]
        if len(question_ids) > n_named:
            yield f"… ({len(question_ids)} in all)"

    return f"question{'s' if len(question_ids) > 1 else ''} {', '.join(names())}"
