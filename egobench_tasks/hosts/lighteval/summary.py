"""How a run ends on the terminal: each figure once, then at most six lines and the next command to type."""

import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from fsspec.implementations.local import LocalFileSystem

from egobench_tasks.benchmarks import EGOGEARS, EGOTEMPO
from egobench_tasks.hosts.lighteval.averages import AVERAGE
from egobench_tasks.hosts.lighteval.metrics import finish_reason
from egobench_tasks.runs.journal import UNANSWERED
from egobench_tasks.runs.record import RunRecord
from egobench_tasks.scoring.endings import Ending, ending
from egobench_tasks.scoring.intervals import wilson_interval

Values = Mapping[str, Sequence[float]]
"""A task's figures, a list of its questions' by metric."""


def each_once(results: Mapping[str, Any]) -> dict[str, Any]:
    """Return lighteval's results without a mean over all tasks, and without the average of a single one."""
    tasks = [name for name in results if name != "all" and AVERAGE not in name]
    groups = [name.partition(":")[0] for name in tasks]
    return {
        name: values
        for name, values in results.items()
        if name in tasks or (name != "all" and groups.count(name.partition(":")[0]) > 1)
    }


def summary_lines(pipeline: Any) -> list[str]:
    """Return what a finished run comes to: figures, counts, where it lies, how long it took, what to type next."""
    values: Mapping[str, Values] = pipeline.evaluation_tracker.metrics_logger.metrics_values
    responses = [
        detail.model_response
        for details in pipeline.evaluation_tracker.details_logger.details.values()
        for detail in details
    ]
    reasons = [finish_reason(response) for response in responses]
    record: RunRecord | None = pipeline._egobench_record
    tracker = pipeline.evaluation_tracker
    folder = Path(tracker.output_dir) if isinstance(tracker.fs, LocalFileSystem) else None
    return [
        *_figures(values),
        *([_counts_line(reasons, record)] if reasons else []),
        *([] if folder is None else [f"saved in {folder}"]),
        *([] if record is None else [_time_line(record)]),
        *([] if folder is None else [f"next: {_next_command(folder, values, tracker.should_save_details)}"]),
    ]


def _figures(values: Mapping[str, Values]) -> Iterator[str]:
    """A line a benchmark: its own tasks where they ran, else how many others did."""
    choice = {name: of for name, of in values.items() if "exact_set" in of}
    own = {name: of for name, of in choice.items() if name.partition(":")[0] == EGOGEARS.name} or choice
    if own:
        shown = [_choice_figure(name.partition("|")[0], of) for name, of in own.items()]
        further = len(choice) - 2
        yield "; ".join(shown[:2]) + (f"; {further} more tasks above" if further > 0 else "")
    opened: dict[str, list[Values]] = {}
    for name, of in values.items():
        if "judge_accuracy" in of:
            opened.setdefault(name.partition(":")[0], []).append(of)
    if opened:
        name = EGOTEMPO.name if EGOTEMPO.name in opened else next(iter(opened))
        further = len(opened) - 1
        yield _open_figure(name, opened[name]) + (f"; {further} more settings above" if further else "")


def _choice_figure(name: str, values: Values) -> str:
    """One task's accuracy with Wilson's interval, and what guessing scores."""
    exact = values["exact_set"]
    chance = math.fsum(values["chance"]) / len(exact)
    return f"{name} {_with_interval(math.fsum(exact), len(exact))}, chance {chance:.1%}"


def _open_figure(name: str, categories: Sequence[Values]) -> str:
    """The mean of the categories' judged accuracies, with Wilson's interval for as many judged answers at that rate."""
    judged = [[value for value in of["judge_accuracy"] if not math.isnan(value)] for of in categories]
    n_judged = sum(map(len, judged))
    if not n_judged:
        return f"{name}: no answer has a verdict yet"
    rates = [math.fsum(of) / len(of) for of in judged if of]
    rate = math.fsum(rates) / len(rates)
    n_all, n_lost = len(EGOTEMPO.category_codes), sum(map(sum, (of.get("lost", ()) for of in categories)))
    lacks = "" if len(rates) == n_all else f" of {n_all}: not the benchmark's figure"
    partial = f"; partial: {n_lost:.0f} questions lost" if n_lost else ""
    figure = _with_interval(rate * n_judged, n_judged)
    return f"{name} judged right {figure}, mean of {len(rates)} categories{lacks}{partial}"


def _with_interval(successes: float, total: int) -> str:
    low, high = wilson_interval(min(successes, total), total)
    return f"{successes / total:.1%} ({low:.1%} to {high:.1%})"


def _counts_line(reasons: Sequence[str], record: RunRecord | None) -> str:
    """How many questions, and of them those truncated, lost, and taken from kept answers."""
    n_truncated = sum(ending(reason) is Ending.LENGTH for reason in reasons)
    n_lost = sum(reason in UNANSWERED for reason in reasons)
    reused = f", {record.counts.reused:,} reused" if record else ""
    # Answers from elsewhere are asked by another program, and ``score`` says which are lacking.
    asks = record is None or record.elsewhere is None
    again = "; the same command asks those lost again" if n_lost and asks else ""
    return f"{len(reasons):,} questions: {n_truncated:,} truncated, {n_lost:,} lost{reused}{again}"


def _time_line(record: RunRecord) -> str:
    times = record.times
    assert times.ended_utc is not None  # completed when its results were saved
    spent: timedelta = datetime.fromisoformat(times.ended_utc) - datetime.fromisoformat(times.started_utc)
    pace = f", {times.seconds_a_question:g} s a question asked" if times.seconds_a_question else ""
    return f"time {spent}{pace}"


def _next_command(folder: Path, values: Mapping[str, Values], details_saved: bool) -> str:
    """What to type after this run: the judge where verdicts are missing, else the report."""
    unjudged = any("judged" in of and not all(of["judged"]) for of in values.values())
    if unjudged and details_saved:
        return f"egobench judge {folder}"
    if not details_saved:
        return f"the same with --save-details, then: egobench report {folder}"
    return f"egobench report {folder} --out {folder / 'report'}"
