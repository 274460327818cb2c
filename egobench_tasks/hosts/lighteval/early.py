"""The questions that lighteval is going to ask of an endpoint, made without it: it takes seconds to import.

What is told of a run is lighteval's to say all the same; it loads the tasks again, and answers are found by their keys.
"""

import os
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from egobench_tasks.asking.catalogue import TaskEntry, entries_named
from egobench_tasks.asking.closed import load_closed_form
from egobench_tasks.asking.prompts import PROMPTS_VARIABLE, choice_templates, open_templates
from egobench_tasks.benchmarks import EGOGEARS, EGOTEMPO
from egobench_tasks.hosts.endpoint.questions import EndpointQuestion
from egobench_tasks.hosts.lighteval.docs import OpenChoicePrompt, OpenPrompt, RowPrompt, egogears_prompt
from egobench_tasks.hosts.lighteval.options import LightevalOptions
from egobench_tasks.hosts.lighteval.rows import load_asked
from egobench_tasks.runs.repeats import current_repeats

_LIGHTEVALS_SEED = 42
"""With which lighteval 0.13 shuffles a task's documents before it takes the first ``--max-samples``."""
_CHECKED_BY_LIGHTEVAL = ("push_to_hub", "push_to_tensorboard", "public", "hub_results_org", "results_path_template")


def can_start_early(tasks: str, options: LightevalOptions, environ: Mapping[str, str] = os.environ) -> bool:
    """Whether all that may be wrong with a run can be found without lighteval.

    Otherwise lighteval comes first, so that nothing is asked before a mistake is told: for results that go to the Hub
    or another place than a folder, tasks with solved examples, a user's own wording, and tasks listed in a file.
    """
    names = tasks.split(",")
    return not (
        Path(tasks).is_file()
        or any(name.count("|") > 1 or name.partition("|")[2] not in ("", "0") for name in names)
        or "://" in str(options.tracker["output_dir"])
        or any(options.tracker[name] for name in _CHECKED_BY_LIGHTEVAL)
        or environ.get(PROMPTS_VARIABLE)
    )


def early_questions(tasks: str, options: LightevalOptions) -> list[EndpointQuestion]:
    """Return the questions that lighteval will ask of the tasks, its choice of ``--max-samples`` too, each repeat.

    Their order is the tasks' as named; lighteval has its own, and whoever asks has another yet (`clips_together`).
    Raises ``InputError`` for whatever is wrong with tasks, settings of theirs and datasets.
    """
    entries = entries_named(tasks)
    max_samples = options.pipeline["max_samples"]
    questions = [
        question
        for entry, prompt in zip(entries, _prompts(entries), strict=True)
        for question in _questions(entry, prompt)[:max_samples]
    ]
    return [replace(question, repeat=n) for n in range(current_repeats()) for question in questions]


def _prompts(entries: Sequence[TaskEntry]) -> list[RowPrompt]:
    """What the tasks' rows are shown by. Every wording and a file of wrong answers are read, as lighteval has it."""
    choice, open_ended, closed = choice_templates(), open_templates(), load_closed_form()

    def prompt(entry: TaskEntry) -> RowPrompt:
        if entry.benchmark is EGOGEARS:
            return egogears_prompt(entry.part, choice, entry.probe)
        if not entry.closed:
            return OpenPrompt(entry.part, entry.spec, open_ended)
        assert closed is not None  # `entries_named` refuses the closed form without it
        return OpenChoicePrompt(entry.part, entry.spec, closed.templates(entry.spec), closed.choices)

    return list(map(prompt, entries))


def _questions(entry: TaskEntry, prompt: RowPrompt) -> list[EndpointQuestion]:
    config = entry.part if entry.benchmark is EGOGEARS else EGOTEMPO.config
    shown = [prompt.show(row) for row in load_asked(prompt, config, entry.name).chosen]
    random.Random(_LIGHTEVALS_SEED).shuffle(shown)
    return [
        EndpointQuestion(
            question_id=one.question.question_id,
            task=f"{entry.name}|0",
            prompt=one.readable(),
            segments=one.segments,
            frames=one.frames,
            budget_tokens=prompt.max_new_tokens,
        )
        for one in shown
    ]
