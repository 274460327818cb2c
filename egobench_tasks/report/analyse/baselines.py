"""What guessing scores on the datasets at hand, in the terminal (`egobench baseline`)."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict

from rich.console import Group, RenderableType
from rich.table import Table

from egobench_tasks.asking.questions import OpenQuestion, choice_question, open_question
from egobench_tasks.benchmarks import EGOGEARS, EGOTEMPO
from egobench_tasks.data import load_rows, locate, pin
from egobench_tasks.judge.client import judge
from egobench_tasks.judge.identity import judge_identity
from egobench_tasks.judge.prompt import JudgeItem
from egobench_tasks.judge.settings import JudgeSettings
from egobench_tasks.judge.store import VerdictStore, default_store_path
from egobench_tasks.judge.summary import JudgeSummary, describe, mean_accuracy, summarise
from egobench_tasks.report.analyse.tables import NOT_KNOWN
from egobench_tasks.scoring.baselines import GoldAnswer, choice_chance, random_answers, simulate_choices
from egobench_tasks.scoring.open import exact_match, token_f1

N_TRIALS = 200
"""Guesses a question of the simulation: its means then lie within a few tenths of a percent of the closed form."""


def egogears_baseline(seed: int) -> RenderableType:
    """Return the scores of uniform guesses at EgoGears, simulated and in closed form, by config."""
    location = pin(locate(EGOGEARS))
    table = Table(title=f"Uniform choice of as many options as are right, {location}")
    for name in ("config", "questions", "how", "exact_set", "jaccard", "overlap"):
        table.add_column(name, justify="left" if name in ("config", "how") else "right")
    for config in EGOGEARS.rows:
        questions = [choice_question(row) for row in load_rows(location, config)]
        counts = [(len(question.options), question.n_select) for question in questions]
        figures = {
            "closed form": choice_chance(counts),
            f"{N_TRIALS} guesses": simulate_choices(counts, N_TRIALS, seed),
        }
        for how, chance in figures.items():
            table.add_row(config, str(len(counts)), how, *(f"{value:.2%}" for value in asdict(chance).values()))
    return table


def egotempo_baseline(seed: int, settings: JudgeSettings | None) -> RenderableType:
    """Return the scores of a random answer of the same category, by category; judged where there is a judge."""
    questions = [open_question(row) for row in load_rows(pin(locate(EGOTEMPO)), EGOTEMPO.config)]
    answers = random_answers((GoldAnswer(q.question_id, q.category, q.answer) for q in questions), seed)
    verdicts = _judged(questions, answers, settings) if settings else {}
    table = Table(title=f"A random answer of the same category, seed {seed}")
    for name in ("category", "questions", "exact_match", "token_f1", "judge_accuracy", "judged"):
        table.add_column(name, justify="left" if name == "category" else "right")
    for category in EGOTEMPO.category_codes:
        table.add_row(
            category, *_cells([q for q in questions if q.category == category], answers, verdicts.get(category))
        )
    return Group(table, *_overall(verdicts, settings))


def _judged(
    questions: Sequence[OpenQuestion], answers: Mapping[str, str], settings: JudgeSettings
) -> dict[str, JudgeSummary]:
    items = [JudgeItem(q.question_id, q.question, q.answer, answers[q.question_id]) for q in questions]
    judgements = judge(items, settings, VerdictStore(default_store_path()))
    pairs = list(zip(questions, judgements, strict=True))
    return {
        category: summarise(judgement for question, judgement in pairs if question.category == category)
        for category in EGOTEMPO.category_codes
    }


def _cells(
    questions: Sequence[OpenQuestion], answers: Mapping[str, str], summary: JudgeSummary | None
) -> tuple[str, ...]:
    def mean(score: float) -> str:
        return f"{score / len(questions):.2%}" if questions else NOT_KNOWN

    return (
        str(len(questions)),
        mean(math.fsum(exact_match(answers[q.question_id], q.answer) for q in questions)),
        mean(math.fsum(token_f1(answers[q.question_id], q.answer) for q in questions)),
        f"{summary.accuracy:.2%}" if summary and summary.decided else NOT_KNOWN,
        f"{summary.judged} of {summary.total}" if summary else NOT_KNOWN,
    )


def _overall(verdicts: Mapping[str, JudgeSummary], settings: JudgeSettings | None) -> Iterator[str]:
    if settings is None:
        yield "No judge is configured: set EGOBENCH_JUDGE_BASE_URL and EGOBENCH_JUDGE_MODEL for judge_accuracy."
        return
    average, judge = mean_accuracy(verdicts.values()), judge_identity(settings)
    yield f"Mean of the categories, judged by {judge.name}: " + (NOT_KNOWN if math.isnan(average) else f"{average:.2%}")
    for category, summary in verdicts.items():
        if summary.unjudged:
            yield f"{category}: {describe(summary)}"
