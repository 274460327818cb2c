"""What a run of a transformers model will take: the first questions of each task are answered, and the rest worked out.

What is answered is kept in the journal like any other answer, so the run itself begins after it.
"""

import math
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lighteval.logging.evaluation_tracker import EvaluationTracker
from lighteval.pipeline import ParallelismManager, Pipeline, PipelineParameters
from lighteval.tasks.requests import Doc

from egobench_tasks.hosts.endpoint.estimate import n_images
from egobench_tasks.hosts.lighteval.offline import load_only_our_tasks
from egobench_tasks.hosts.lighteval.options import LightevalOptions
from egobench_tasks.hosts.lighteval.run import TASKS_MODULE
from egobench_tasks.hosts.lighteval.usage import our_errors
from egobench_tasks.hosts.lighteval.vision.settings import FrameVLMConfig

N_TIMED = 10
_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Timed:
    """Some questions answered one batch after another: of each batch, its questions and the seconds that it took.

    Tokens are those of all these questions together; None where none was answered now.
    """

    batches: Sequence[tuple[int, float]]
    n_prompt_tokens: int | None
    n_new_tokens: int | None

    @property
    def n_questions(self) -> int:
        """The questions timed."""
        return sum(n for n, _ in self.batches)

    @property
    def seconds_a_question(self) -> float:
        """The mean over the questions timed."""
        return sum(seconds for _, seconds in self.batches) / self.n_questions

    @property
    def standard_error_s(self) -> float | None:
        """Of `seconds_a_question`, from the batches' spread; None for fewer than two."""
        if len(self.batches) < 2:
            return None
        return statistics.stdev(seconds / n for n, seconds in self.batches) / len(self.batches) ** 0.5


@dataclass(frozen=True, slots=True)
class TaskEstimate:
    """A task's questions still to be answered before the timing, their images, and what timing some of them gave."""

    task: str
    n_to_ask: int
    n_images: int
    timed: Timed

    @property
    def n_left(self) -> int:
        """What is left to ask after the timing."""
        return self.n_to_ask - self.timed.n_questions

    @property
    def seconds(self) -> tuple[float, float, float] | None:
        """Seconds for what is left: expected, and two standard errors below and above; None where nothing was timed.

        Where one batch alone was timed the spread is not known, and low and high are not numbers.
        """
        if not self.timed.n_questions:
            return None
        mean, error = self.timed.seconds_a_question, self.timed.standard_error_s
        spread = math.nan if error is None else 2 * error
        return self.n_left * mean, self.n_left * max(0.0, mean - spread), self.n_left * (mean + spread)

    def tokens(self, counted: int | None) -> int | None:
        """Tokens of all questions to ask, from those counted of the ones timed."""
        return None if not counted else round(counted / self.timed.n_questions * self.n_to_ask)


def dry_run(
    settings: FrameVLMConfig, tasks: str, options: LightevalOptions, prices: tuple[float | None, float | None]
) -> None:
    """Load a model as `lighteval accelerate` does, time `N_TIMED` questions of each task, and print what all will take.

    ``prices``: of a million prompt tokens and of a million new ones. Raises ``InputError`` for tasks or
    options that cannot be used.
    """
    load_only_our_tasks()
    with our_errors():
        pipeline = Pipeline(
            tasks=tasks,
            pipeline_parameters=PipelineParameters(
                launcher_type=ParallelismManager.ACCELERATE, custom_tasks_directory=TASKS_MODULE, **options.pipeline
            ),
            evaluation_tracker=EvaluationTracker(**options.tracker),
            model_config=settings,
        )
        print(describe(time_tasks(pipeline.model, pipeline.documents_dict), *prices))


def time_tasks(model: Any, docs_of: Mapping[str, Sequence[Doc]], n_timed: int = N_TIMED) -> list[TaskEstimate]:
    """Answer the first questions of each task that have no answer yet, and time them; ``model`` is a `vlm.FrameVLM`."""
    return [_time_task(model, task, docs, n_timed) for task, docs in docs_of.items()]


def _time_task(model: Any, task: str, docs: Sequence[Doc], n_timed: int) -> TaskEstimate:
    missing = model.missing(docs)
    batches, prompt_tokens, new_tokens = [], 0, 0
    for start in range(0, min(n_timed, len(missing)), model.batch_size):
        batch = missing[start : min(start + model.batch_size, n_timed)]
        started_s = time.monotonic()
        model.greedy_until(batch)
        batches.append((len(batch), time.monotonic() - started_s))
        prompt_tokens += model.asked.counts.prompt_tokens or 0
        new_tokens += model.asked.counts.new_tokens or 0
    images = sum(n_images(request) for doc in missing for request in doc.images.requests)
    return TaskEstimate(task, len(missing), images, Timed(batches, prompt_tokens or None, new_tokens or None))


def describe(tasks: Sequence[TaskEstimate], price_in: float | None, price_out: float | None) -> str:
    """Return the estimates as a table, a line a task and one for all; ``price_*`` of a million tokens, if known."""
    width = max(len("all tasks"), *(len(one.task) for one in tasks))
    names = ("to ask", "images", "prompt tokens", "new tokens", "cost", "s/question", "time")
    lines = [f"{'task':{width}}{_cells(names)}"]
    for one in tasks:
        prompt, new = one.tokens(one.timed.n_prompt_tokens), one.tokens(one.timed.n_new_tokens)
        pace = f"{one.timed.seconds_a_question:.2f}" if one.timed.n_questions else ""
        cells = (f"{one.n_to_ask:,}", f"{one.n_images:,}", _count(prompt), _count(new))
        money = _money(prompt, new, price_in, price_out)
        lines.append(f"{one.task:{width}}{_cells((*cells, money, pace, _duration([one])))}")
    lines += [
        f"{'all tasks':{width}}  {_duration(tasks)}",
        f"Timed: the first {N_TIMED} questions of each task, one batch after another (a run decodes ahead).",
        "Times are of what is left, with two standard errors on either side. What was answered is kept.",
    ]
    return "\n".join(line.rstrip() for line in lines)


def _duration(tasks: Sequence[TaskEstimate]) -> str:
    """Minutes for all that is left; errors of tasks add up in squares."""
    known = [one.seconds for one in tasks if one.seconds is not None]
    if not known:
        return "nothing to ask"
    expected_s = sum(expected for expected, _, _ in known)
    spread_s = sum((high - expected) ** 2 for expected, _, high in known) ** 0.5
    if math.isnan(spread_s):
        return f"{_minutes(expected_s)} min (one batch: spread unknown)"
    low, high = _minutes(max(0.0, expected_s - spread_s)), _minutes(expected_s + spread_s)
    return f"{_minutes(expected_s)} min ({low} to {high})"


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:,.1f}"


def _money(prompt: int | None, new: int | None, price_in: float | None, price_out: float | None) -> str:
    if price_in is None or price_out is None or prompt is None:
        return ""
    return f"{(prompt * price_in + (new or 0) * price_out) / _MILLION:,.2f}"


def _count(count: int | None) -> str:
    return "" if count is None else f"{count:,}"


def _cells(cells: Sequence[str]) -> str:
    return "".join(f"  {cell:>13}" for cell in cells[:-1]) + f"  {cells[-1]}"
