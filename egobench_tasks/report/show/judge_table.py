"""A judged run in the terminal."""

import math
from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from egobench_tasks.hosts.lighteval.judge_run import JudgedRun
from egobench_tasks.judge.summary import Agreement, JudgeSummary, describe
from egobench_tasks.report.analyse.tables import NOT_KNOWN

MAX_DISAGREEMENTS = 20


def judged_run_table(judged: JudgedRun) -> RenderableType:
    """Return the scores by task, the averages, and the agreement with the verdicts the run ended with."""
    saved = ", ".join(judged.saved_judges) or "no judge"
    return Group(_scores(judged), describe(judged.overall), *_agreement(judged.agreement_with_saved(), saved))


def _scores(judged: JudgedRun) -> Table:
    partial = ", PARTIAL" if judged.overall.lost else ""
    table = Table(title=f"Judged by {judged.judge.name}, wording {judged.judge.wording}{partial}")
    table.add_column("task")
    for name in ("accuracy", "95 % interval", "score of 5", "judged", "unanswered", "lost"):
        table.add_column(name, justify="right")
    for task, summary in judged.by_task().items():
        table.add_row(task, *_cells(summary))
    for name, average in judged.averages().items():
        shown = NOT_KNOWN if math.isnan(average) else f"{average:.1%}"
        table.add_row(f"{name}, mean of the ten categories", shown, *[""] * 5, style="bold")
    return table


def _cells(summary: JudgeSummary) -> tuple[str, ...]:
    counts = (f"{summary.judged} of {summary.answers}", str(summary.unanswered), str(summary.lost))
    if not summary.decided:
        return (*[NOT_KNOWN] * 3, *counts)
    low, high = summary.interval
    return (f"{summary.accuracy:.1%}", f"{low:.1%} to {high:.1%}", f"{summary.mean_score:.2f}", *counts)


def _agreement(found: Agreement, saved: str) -> Iterator[RenderableType]:
    if not found.compared:
        return
    yield (
        f"Agreement with the verdicts saved in the run, by {saved}: {found.rate:.1%} of {found.compared}, "
        f"Cohen's kappa {found.kappa:.2f}"
    )
    for pair in found.disagreements[:MAX_DISAGREEMENTS]:
        saved, given = ("correct" if verdict.correct else "incorrect" for verdict in (pair.first, pair.second))
        yield Text(
            f"  {pair.item.question_id}: saved {saved}, now {given}\n    question: {pair.item.question}\n"
            f"    gold: {pair.item.gold}\n    answer: {pair.item.prediction}"
        )
    if len(found.disagreements) > MAX_DISAGREEMENTS:
        yield f"  and {len(found.disagreements) - MAX_DISAGREEMENTS} more"
