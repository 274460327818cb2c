"""A model behind an OpenAI-compatible endpoint, evaluated by lighteval: ``egobench run endpoint``."""

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lighteval.models.abstract_model import ModelConfig
from lighteval.models.model_output import ModelResponse
from lighteval.pipeline import Pipeline
from lighteval.tasks.requests import Doc
from pydantic import Field

from egobench_tasks.asking.messages import from_record
from egobench_tasks.errors import InputError
from egobench_tasks.files import check_output_folder
from egobench_tasks.hosts.endpoint.estimate import by_task, estimate, estimate_tasks
from egobench_tasks.hosts.endpoint.questions import EndpointAnswers, EndpointQuestion, Unanswered, shows_images
from egobench_tasks.hosts.endpoint.settings import EndpointSettings, load_endpoint_settings
from egobench_tasks.hosts.endpoint.sight import check_sight
from egobench_tasks.hosts.lighteval.generation import generation, no_generation
from egobench_tasks.hosts.lighteval.messages import is_ours
from egobench_tasks.hosts.lighteval.options import parse_lighteval_options
from egobench_tasks.hosts.lighteval.repeats import joined, repeat_of, with_repeats
from egobench_tasks.hosts.lighteval.run import AnsweringModel, finish, make_pipeline
from egobench_tasks.runs.record import Answerer, Asked
from egobench_tasks.runs.repeats import check_repeats, current_repeats
from egobench_tasks.runs.shards import current_shard
from egobench_tasks.servers.client import ServerClient
from egobench_tasks.servers.settings import Thinking
from egobench_tasks.texts import some_of


class EndpointModelConfig(ModelConfig):
    """What lighteval saves with the results. Holds the name of the key's variable, never the key.

    ``served``: what the server said of the model, by the fields of `servers.ServedModel`; empty before it was asked.
    """

    endpoint: dict[str, Any]
    served: dict[str, Any] = Field(default_factory=dict)


class EndpointModel(AnsweringModel):
    """Answers lighteval's documents from the journal, and by asking the endpoint for what it lacks.

    ``unanswered``, after a run: the questions that got no answer, and why.
    """

    is_async = True

    def __init__(self, settings: EndpointSettings) -> None:
        super().__init__(EndpointModelConfig(model_name=settings.model, endpoint=asdict(settings)))
        self._settings = settings
        self._answers = EndpointAnswers(settings)
        self.unanswered: list[Unanswered] = []

    @property
    def answerer(self) -> Answerer:
        """Who answers, for the run's record."""
        return self._answers.answerer

    @property
    def asked(self) -> Asked | None:
        """What was asked so far, for the run's record."""
        return self._answers.asked

    async def greedy_until(self, docs: list[Doc]) -> list[ModelResponse]:
        """Answer the documents, in their order. A question that fails scores 0 and is listed."""
        questions = [endpoint_question(doc) for doc in with_repeats(docs, current_repeats())]
        answers = self._answers
        n_missing = len(answers.missing(questions))
        print(
            f"{len(questions) - n_missing} answers from the journal {answers.journal.folder}, "
            f"{n_missing} to ask {self._settings.model} at {self._settings.base_url}",
            file=sys.stderr,
        )
        self.unanswered = await answers.ask(questions)
        self.config.served = dict(self.answerer.server or {})
        for (task, question_id), reason in answers.standing.items():
            print(f"{task} {question_id} stays truncated, a larger budget failed: {reason}", file=sys.stderr)
        reasons = {(item.task, item.question_id): item.finish_reason for item in self.unanswered}
        generations = [
            no_generation(question.prompt, reasons[question.task, question.question_id])
            if (answer := answers.find(question)) is None
            else generation(answer, self.answerer.key, thinking=self._settings.thinking is Thinking.ON)
            for question in questions
        ]
        return list(joined(generations, len(docs)))


def run_endpoint(config: Path, tasks: str, lighteval_arguments: Sequence[str] = (), *, dry_run: bool = False) -> int:
    """Ask the endpoint that a YAML file describes every question of the tasks, and score the answers.

    Args:
        config: the endpoint's settings, see `hosts.endpoint.settings.EndpointSettings`.
        tasks: as for lighteval: ``egogears``, ``egogears:single``, …
        lighteval_arguments: lighteval's own options, ``--output-dir DIR --save-details …``.
        dry_run: say how much is to be asked, and ask nothing but the sight check's tiny question, if that.

    Returns the exit code: 1 where questions stayed unanswered, else 0. Raises ``InputError`` for
    settings, tasks or options that cannot be used, ``EgobenchError`` where the server ignores images.
    """
    settings = load_endpoint_settings(config)
    _check_repeats(settings)
    settings.secrets()  # a missing key must not wait for the dataset to load
    options = parse_lighteval_options(lighteval_arguments, "egobench run endpoint CONFIG TASKS")
    if options is None:
        return 0
    if current_shard() is not None:
        options.tracker["save_details"] = True  # a shard is merged from its details
    model = EndpointModel(settings)
    pipeline = make_pipeline(tasks, model, options)
    if dry_run:
        print(_estimate(pipeline, settings))
        return 0
    check_output_folder(Path(options.tracker["output_dir"]))
    finish(pipeline)
    _list_unanswered(model.unanswered)
    return 1 if model.unanswered else 0


def _check_repeats(settings: EndpointSettings) -> None:
    n_repeats = current_repeats()
    if n_repeats > 1 and "seed" in settings.extra_body:
        raise InputError(
            f"extra_body's seed would make {n_repeats} repeats alike: give it as the setting `seed`, which counts up"
        )
    check_repeats(n_repeats, settings.temperature, settings.seed, "temperature (0.7), or a seed that the server takes")


def endpoint_question(doc: Doc) -> EndpointQuestion:
    """What an endpoint needs of a document of any task of ours: its frames, if it has any, are still references.

    Raises ``InputError`` for a document of another benchmark.
    """
    if not is_ours(doc):
        raise InputError(f"{doc.task_name}: `egobench run endpoint` asks egobench's own tasks only")
    return EndpointQuestion(
        question_id=doc.specific["question_id"],
        task=doc.task_name,
        prompt=doc.query,
        segments=tuple(from_record(doc.specific["segments"])),
        frames=doc.images,
        budget_tokens=doc.generation_size,
        repeat=repeat_of(doc),
    )


def _estimate(pipeline: Pipeline, settings: EndpointSettings) -> str:
    """What the run takes in all, and before it what each of several tasks takes."""
    docs = [doc for docs in pipeline.documents_dict.values() for doc in docs]
    questions = [endpoint_question(doc) for doc in with_repeats(docs, current_repeats())]
    missing = EndpointAnswers(settings).missing(questions)
    tokens_per_image = asyncio.run(_tokens_per_image(settings)) if shows_images(missing) else None
    tasks = by_task(estimate_tasks(questions, missing, settings, tokens_per_image))
    return "\n".join(filter(None, [tasks, str(estimate(questions, missing, settings, tokens_per_image))]))


async def _tokens_per_image(settings: EndpointSettings) -> int | None:
    async with ServerClient(settings) as client:
        return await check_sight(client, settings)


def _list_unanswered(unanswered: Sequence[Unanswered]) -> None:
    if not unanswered:
        return
    consequence = "they count as wrong (in EgoTempo neither as right nor as wrong), and the run is partial"
    print(f"\n{len(unanswered)} questions without an answer; {consequence}:", file=sys.stderr)
    alike: dict[tuple[str, str], list[str]] = {}
    for item in unanswered:
        alike.setdefault((item.task, item.reason), []).append(item.question_id)
    for (task, reason), question_ids in alike.items():
        print(f"  {task} {some_of(question_ids)}: {reason}", file=sys.stderr)
    print("The same command asks them again, and no other.", file=sys.stderr)
