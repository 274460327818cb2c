"""Tasks as lighteval makes their documents, written for another program to ask: ``egobench export``."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from lighteval.models.abstract_model import ModelConfig
from lighteval.pipeline import Pipeline

from egobench_tasks import __version__
from egobench_tasks.benchmarks import BENCHMARKS
from egobench_tasks.data import benchmark_of, parse_location
from egobench_tasks.errors import InputError
from egobench_tasks.files import check_output_folder
from egobench_tasks.hosts.endpoint.settings import EndpointSettings
from egobench_tasks.hosts.export.lmms_eval import check_budgets
from egobench_tasks.hosts.export.manifest import Embed, Form, Manifest, Plan
from egobench_tasks.hosts.export.write import OPENAI_LIMITS, Limits, questions_digest, write_export
from egobench_tasks.hosts.lighteval.endpoint import endpoint_question
from egobench_tasks.hosts.lighteval.offline import as_task_names
from egobench_tasks.hosts.lighteval.options import parse_lighteval_options
from egobench_tasks.hosts.lighteval.run import AnsweringModel, make_pipeline
from egobench_tasks.runs.repeats import current_repeats
from egobench_tasks.runs.shards import current_shard
from egobench_tasks.servers.settings import Thinking

# What a request says of the model and how it is to answer stands in a batch's requests alone.
_NO_MODEL = "no model named"


class _NobodyModel(AnsweringModel):
    """Stands where lighteval wants a model, so that it makes its documents."""

    def greedy_until(self, docs: list[Any]) -> NoReturn:
        """Nothing is asked here."""
        raise AssertionError("an export asks nothing")


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be exported. ``named`` is a dataset or tasks; ``tasks`` are those of a dataset, None for all."""

    named: str
    form: Form
    embed: Embed | None = None
    tasks: str | None = None
    limit: int | None = None


def export(order: Order, settings: EndpointSettings, out: Path, limits: Limits = OPENAI_LIMITS) -> Manifest:
    """Write the questions of a dataset or of some tasks into ``out``; a second call completes a stopped one.

    Raises ``InputError`` for what cannot be exported so, and for a folder that holds something else.
    """
    embed = _embed(order, settings)
    _check_surroundings()
    tasks = chosen_tasks(order.named, order.tasks)
    pipeline = open_tasks(tasks, order.limit)
    questions = [endpoint_question(doc) for docs in pipeline.documents_dict.values() for doc in docs]
    if order.form is Form.LMMS_EVAL:
        check_budgets({settings.first_budget(question.budget_tokens) for question in questions})
    check_output_folder(out)
    plan = Plan(
        form=order.form,
        embed=embed,
        tasks=tasks,
        limit=order.limit,
        model=settings.model if settings.model != _NO_MODEL else None,
        thinking=settings.thinking is Thinking.ON,
        inputs=inputs_of(pipeline),
        datasets=_datasets(pipeline),
        settings=_shaping(order.form, settings),
        questions=questions_digest(questions, settings),
        version=__version__,
    )
    manifest = write_export(questions, settings, plan, out, limits)
    _list_unreadable(manifest)
    return manifest


def settings_for_export(values: Mapping[str, Any]) -> EndpointSettings:
    """Return an endpoint's settings for an export, which needs no address and, but for batches, no model's name."""
    return EndpointSettings(**{"base_url": "http://localhost/v1", "model": _NO_MODEL, **values})


def open_tasks(tasks: str, limit: int | None) -> Pipeline:
    """Return lighteval's pipeline with the documents of some tasks, and no model that could be asked."""
    return make_pipeline(as_task_names(tasks), _NobodyModel(ModelConfig(model_name="export")), _options(limit))


def inputs_of(pipeline: Pipeline) -> dict[str, str]:
    """Return what each task shows, by its full name: wording, frames and rows in words."""
    return {task.full_name: task.config.prompt_function.__name__ for task in pipeline.tasks_dict.values()}


def chosen_tasks(named: str, tasks: str | None) -> str:
    """Return the tasks that are meant, and let a dataset that is named be the one that they are of.

    A task's name is a task even where a folder has it too. Raises ``InputError`` for what is neither.
    """
    is_dataset = "/" in named or (Path(named).is_dir() and named not in {one.name for one in BENCHMARKS})
    if not is_dataset:
        if tasks is not None:
            raise InputError(f"{named} names tasks already; --tasks is for a dataset's folder or Hub id")
        return named
    location = parse_location(named, where="DATASET_OR_TASKS")
    benchmark, _ = benchmark_of(location)
    os.environ[benchmark.data_variable] = str(location)
    return tasks or benchmark.name


def _embed(order: Order, settings: EndpointSettings) -> Embed:
    needed = {Form.OPENAI_BATCH: Embed.BASE64, Form.LMMS_EVAL: Embed.FILES}.get(order.form)
    if needed is not None and order.embed not in (None, needed):
        raise InputError(f"--format {order.form} has its frames as {needed}; leave out --embed")
    if order.form is Form.OPENAI_BATCH and settings.model == _NO_MODEL:
        raise InputError("a batch's requests name their model: give --model, or `model:` in --config")
    return needed or order.embed or Embed.BASE64


def _check_surroundings() -> None:
    if current_repeats() > 1 or current_shard() is not None:
        raise InputError(
            "an export holds every question once: ask it several times and score each file as a run of its own, or "
            "share its files out; --limit leaves questions out"
        )


def _shaping(form: Form, settings: EndpointSettings) -> dict[str, Any]:
    """What shapes the messages; of a batch the requests too."""
    shaping = settings.identity()
    if form is not Form.OPENAI_BATCH:
        del shaping["endpoint"]
    return shaping


def _datasets(pipeline: Pipeline) -> dict[str, str]:
    found = {}
    for task in pipeline.tasks_dict.values():
        config = task.config
        revision = f"@{config.hf_revision}" if config.hf_revision else ""
        found[config.prompt_function.benchmark.data_variable] = f"{config.hf_repo}{revision}"
    return found


def _options(limit: int | None) -> Any:
    arguments = [] if limit is None else ["--max-samples", str(limit)]
    return parse_lighteval_options(arguments, "egobench export")


def _list_unreadable(manifest: Manifest) -> None:
    if unreadable := [question for question in manifest.written if question.failure is not None]:
        print(f"{len(unreadable)} questions were not exported; a run of the others is partial:", file=sys.stderr)
        for question in unreadable:
            print(f"  {question.id}: {question.failure}", file=sys.stderr)
