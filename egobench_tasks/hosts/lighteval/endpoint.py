"""A model behind an OpenAI-compatible endpoint, as lighteval's model; see `endpoint_run`."""

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from lighteval.models.abstract_model import ModelConfig
from lighteval.models.model_output import ModelResponse
from lighteval.pipeline import Pipeline
from lighteval.tasks.requests import Doc
from pydantic import Field

from egobench_tasks.asking.messages import from_record
from egobench_tasks.errors import InputError
from egobench_tasks.hosts.endpoint.ahead import AskingAhead
from egobench_tasks.hosts.endpoint.estimate import by_task, estimate, estimate_tasks
from egobench_tasks.hosts.endpoint.questions import EndpointAnswers, EndpointQuestion, Unanswered, shows_images
from egobench_tasks.hosts.endpoint.settings import EndpointSettings
from egobench_tasks.hosts.endpoint.sight import check_sight
from egobench_tasks.hosts.lighteval.generation import generation, no_generation
from egobench_tasks.hosts.lighteval.messages import is_ours
from egobench_tasks.hosts.lighteval.repeats import joined, repeat_of, with_repeats
from egobench_tasks.hosts.lighteval.run import AnsweringModel
from egobench_tasks.runs.record import Answerer, Asked
from egobench_tasks.runs.repeats import current_repeats
from egobench_tasks.servers.client import ServerClient
from egobench_tasks.servers.settings import Thinking


class EndpointModelConfig(ModelConfig):
    """What lighteval saves with the results. Holds the name of the key's variable, never the key.

    ``served``: what the server said of the model, by the fields of `servers.ServedModel`; empty before it was asked.
    """

    endpoint: dict[str, Any]
    served: dict[str, Any] = Field(default_factory=dict)


class EndpointModel(AnsweringModel):
    """Answers lighteval's documents from the journal, and by asking the endpoint for what it lacks.

    ``ahead``: its questions, where they are being asked already. ``unanswered``, after a run: the questions that got
    no answer, and why.
    """

    is_async = True

    def __init__(self, settings: EndpointSettings, ahead: AskingAhead | None = None) -> None:
        super().__init__(EndpointModelConfig(model_name=settings.model, endpoint=asdict(settings)))
        self._settings = settings
        self._ahead = ahead
        self._answers = EndpointAnswers(settings) if ahead is None else ahead.answers
        self.unanswered: list[Unanswered] = []

    @property
    def answerer(self) -> Answerer:
        """Who answers, for the run's record."""
        return self._answers.answerer

    @property
    def started_utc(self) -> str | None:
        """When the first question was asked, where that was before lighteval began."""
        return None if self._ahead is None else self._ahead.started_utc

    @property
    def asked(self) -> Asked | None:
        """What was asked so far, for the run's record."""
        return self._answers.asked

    async def greedy_until(self, docs: list[Doc]) -> list[ModelResponse]:
        """Answer the documents, in their order. A question that fails scores 0 and is listed."""
        questions = [endpoint_question(doc) for doc in with_repeats(docs, current_repeats())]
        answers = self._answers
        self.unanswered = await self._ask(questions)
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

    async def _ask(self, questions: Sequence[EndpointQuestion]) -> list[Unanswered]:
        """Ask what is not asked already. Questions ahead that lighteval does not have leave kept answers, no more."""
        if self._ahead is not None:
            unanswered = await self._ahead.unanswered()
            if self._answers.keys(questions) == self._answers.keys(self._ahead.questions):
                return unanswered
        print(self._answers.outlook(questions), file=sys.stderr)
        return await self._answers.ask(questions)


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


def estimate_of(pipeline: Pipeline, settings: EndpointSettings) -> str:
    """Return what a run takes in all, and before it what each of several tasks takes, in words."""
    docs = [doc for docs in pipeline.documents_dict.values() for doc in docs]
    questions = [endpoint_question(doc) for doc in with_repeats(docs, current_repeats())]
    missing = EndpointAnswers(settings).missing(questions)
    tokens_per_image = asyncio.run(_tokens_per_image(settings)) if shows_images(missing) else None
    tasks = by_task(estimate_tasks(questions, missing, settings, tokens_per_image))
    return "\n".join(filter(None, [tasks, str(estimate(questions, missing, settings, tokens_per_image))]))


async def _tokens_per_image(settings: EndpointSettings) -> int | None:
    async with ServerClient(settings) as client:
        return await check_sight(client, settings)
