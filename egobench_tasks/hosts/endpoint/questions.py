"""All questions through one endpoint: several at a time, each answer on disk as it arrives, failures listed.

Knows nothing of lighteval: its host is one caller, the benchmark of our own cost another.
"""

import asyncio
import os
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

from tqdm import tqdm

from egobench_tasks.asking.messages import to_record
from egobench_tasks.asking.prompts import Segment
from egobench_tasks.frames.errors import ClipError
from egobench_tasks.frames.lazy import FrameList
from egobench_tasks.hosts.endpoint.client import EndpointClient, RequestFailed
from egobench_tasks.hosts.endpoint.cut_prompts import PromptMeter
from egobench_tasks.hosts.endpoint.message import message_content
from egobench_tasks.hosts.endpoint.reply import Reply
from egobench_tasks.hosts.endpoint.same_model import check_same_model, find_place
from egobench_tasks.hosts.endpoint.settings import EndpointSettings
from egobench_tasks.hosts.endpoint.sight import check_sight
from egobench_tasks.runs.attempts import growing_budgets, next_attempt
from egobench_tasks.runs.journal import (
    CLIP_UNREADABLE,
    REQUEST_FAILED,
    Answer,
    Journal,
    answer_key,
    journal_folder,
    next_generation,
    question_key,
)
from egobench_tasks.runs.record import Answerer, Asked
from egobench_tasks.runs.sessions import read_sessions, session_of
from egobench_tasks.runs.tally import count

# So many failures in a row, each tried again max_retries times, and the server is down or misconfigured:
# trying all others too would take hours of timeouts.
GIVE_UP_AFTER = 16


@dataclass(frozen=True, slots=True)
class EndpointQuestion:
    """What a question needs to be asked. ``prompt`` is the message as readable text, for the journal.

    ``budget_tokens``: new tokens that its task gives models that do not reason.
    """

    question_id: str
    task: str
    prompt: str
    segments: tuple[Segment, ...]
    frames: FrameList
    budget_tokens: int


@dataclass(frozen=True, slots=True)
class Unanswered:
    """A question that got no answer, and why. It scores as wrong, and the next run asks it again.

    ``finish_reason`` is the kind of failure, `CLIP_UNREADABLE` or `REQUEST_FAILED`; ``reason`` is for people.
    """

    question_id: str
    task: str
    finish_reason: str
    reason: str


class EndpointAnswers:
    """The answers of one endpoint's model: those in its journal, and those still to be asked for.

    A truncated answer is kept, and followed by another attempt with twice the budget; see `attempts`. Where the
    larger budget is refused or fails for good, the truncated one stands in this run (PROTOCOL 1.2); ``standing``
    says why, by task and question id. The next run asks again.
    """

    def __init__(self, settings: EndpointSettings) -> None:
        self._settings = settings
        identity = settings.identity()
        generation = next_generation(identity)
        self.answerer = Answerer(
            name=settings.model, key=answer_key(**identity), identity=identity, generation=generation
        )
        self.journal = Journal(journal_folder(identity, generation))
        self._kept = self.journal.answers()
        self._n_asked_again = 0
        self.asked: Asked | None = None
        self.standing: dict[tuple[str, str], str] = {}

    def find(self, question: EndpointQuestion) -> Answer | None:
        """Return the answer that counts, the last attempt's, or None where one is still to be made."""
        answer, budget = self._next_attempt(question)
        return answer if budget is None or (question.task, question.question_id) in self.standing else None

    def missing(self, questions: Sequence[EndpointQuestion]) -> list[EndpointQuestion]:
        """Return the questions without an answer that counts."""
        return [question for question in questions if self.find(question) is None]

    async def ask(self, questions: Sequence[EndpointQuestion]) -> list[Unanswered]:
        """Ask every question that has no answer yet; return those that still have none.

        Before the first, the model is looked at: raises ``InputError`` where kept answers are another model's (see
        `same_model`). Where any question has frames, the sight check follows: raises ``EgobenchError`` where the server
        ignores images.
        """
        started_s = time.monotonic()
        missing = self.missing(questions)
        async with EndpointClient(self._settings) as client:
            await self._look_at_model(client, questions, n_missing=len(missing))
            unanswered = await self._ask_missing(client, missing) if missing else []
        counts = count([self.find(question) for question in questions], len(missing), self._n_asked_again)
        self.asked = Asked(counts=counts, seconds=time.monotonic() - started_s)
        return unanswered

    async def _look_at_model(
        self, client: EndpointClient, questions: Sequence[EndpointQuestion], n_missing: int
    ) -> None:
        """Make sure that this model's answers are kept where another's are not. Raises ``InputError`` where they are.

        Kept answers need no server that is there, if nothing is to be asked.
        """
        place = await find_place(client, self._settings)
        if place is None:
            if not n_missing:
                print(f"{self._settings.base_url} is not there; all answers are kept ones", file=sys.stderr)
            return
        self.answerer = replace(self.answerer, server=asdict(place.served))
        question_of = {answer.key: question for question in questions if (answer := self.find(question))}
        kept = {
            stem: taken
            for stem, answers in self.journal.by_session().items()
            if (taken := [answer for answer in answers if answer.key in question_of])
        }

        async def ask_again(answer: Answer) -> Answer | None:
            question = question_of[answer.key]
            try:
                content = await asyncio.to_thread(self._content, question)
                budget_tokens = answer.budget_tokens or question.budget_tokens
                return _answer(question, answer.key, *await client.complete(content, budget_tokens), budget_tokens)
            except (ClipError, RequestFailed):
                return None

        sessions = read_sessions(self.journal.folder)
        confirmed, self._n_asked_again = await check_same_model(self._settings, place, sessions, kept, ask_again)
        self.journal.session = session_of(self.answerer, place, confirmed)
        if self._n_asked_again:
            self.journal.note_session()  # what was seen now need not be looked at again

    async def _ask_missing(self, client: EndpointClient, missing: Sequence[EndpointQuestion]) -> list[Unanswered]:
        n_tokens = await check_sight(client, self._settings.image_detail) if shows_images(missing) else None
        self._meter = PromptMeter(client, self._settings.image_detail, n_tokens)
        try:
            return await self._ask_all(client, missing)
        finally:
            self.journal.close()

    async def _ask_all(self, client: EndpointClient, questions: Sequence[EndpointQuestion]) -> list[Unanswered]:
        # Decoding threads above the number of cores would only hold more frames.
        with (
            ThreadPoolExecutor(max_workers=min(self._settings.concurrency, os.cpu_count() or 1)) as pool,
            tqdm(total=len(questions), desc=f"Asking {self._settings.model}", unit="question") as progress,
        ):
            loop = asyncio.get_running_loop()

            async def ask_one(question: EndpointQuestion) -> Unanswered | None:
                try:
                    content = await loop.run_in_executor(pool, self._content, question)
                    await self._attempts(client, question, content)
                except ClipError as error:
                    return Unanswered(question.question_id, question.task, CLIP_UNREADABLE, str(error))
                except RequestFailed as error:
                    smaller, _ = self._next_attempt(question)
                    if smaller is None:
                        return Unanswered(question.question_id, question.task, REQUEST_FAILED, str(error))
                    self.standing[question.task, question.question_id] = str(error)
                finally:
                    progress.update()
                return None

            return await _in_parallel(ask_one, questions, self._settings.concurrency)

    def _content(self, question: EndpointQuestion) -> list[dict[str, Any]]:
        return message_content(question.segments, question.frames, self._settings.image_detail)

    async def _attempts(
        self, client: EndpointClient, question: EndpointQuestion, content: Sequence[dict[str, Any]]
    ) -> None:
        """Ask until an answer ends by itself, or the budget has reached its cap."""
        _, budget_tokens = self._next_attempt(question)
        while budget_tokens is not None:
            reply, latency_s = await client.complete(content, budget_tokens)
            if complaint := await self._meter.complaint(content, reply):
                raise RequestFailed(complaint)
            answer = _answer(question, self._key(question, budget_tokens), reply, latency_s, budget_tokens)
            self.journal.append(answer)
            self._kept[answer.key] = answer
            _, budget_tokens = self._next_attempt(question)

    def _next_attempt(self, question: EndpointQuestion) -> tuple[Answer | None, int | None]:
        """The last attempt so far, and the budget of the next one, None where there is none to come."""
        first_tokens = self._settings.first_budget(question.budget_tokens)
        budgets = growing_budgets(first_tokens, self._settings.max_tokens_cap)
        return next_attempt(self._kept, partial(self._key, question), budgets)

    def _key(self, question: EndpointQuestion, budget_tokens: int) -> str:
        return question_key(
            self.answerer.identity,
            to_record(question.segments),
            question.frames,
            budget_tokens,
            self.answerer.generation,
        )


def shows_images(questions: Sequence[EndpointQuestion]) -> bool:
    """Whether any of the questions has frames: words alone need no server that sees."""
    return any(question.frames.requests for question in questions)


def _answer(question: EndpointQuestion, key: str, reply: Reply, latency_s: float, budget_tokens: int) -> Answer:
    return Answer(
        key=key,
        question_id=question.question_id,
        task=question.task,
        prompt=question.prompt,
        text=reply.text,
        reasoning=reply.reasoning,
        finish_reason=reply.finish_reason,
        n_prompt_tokens=reply.n_prompt_tokens,
        n_new_tokens=reply.n_new_tokens,
        budget_tokens=budget_tokens,
        latency_s=round(latency_s, 3),
    )


async def _in_parallel(
    ask_one: Callable[[EndpointQuestion], Awaitable[Unanswered | None]],
    questions: Sequence[EndpointQuestion],
    concurrency: int,
) -> list[Unanswered]:
    """Run ``ask_one`` on all questions, and return those that stayed unanswered, in their order.

    Gives up once too many requests in a row have failed; the rest then stay unanswered for that reason.
    A clip that cannot be read says nothing of the server: EgoTempo's users may lack any number of clips.
    """
    give_up_after = max(GIVE_UP_AFTER, concurrency)
    why = f"not asked: {give_up_after} questions in a row had failed before"
    outcomes: list[Unanswered | None] = [
        Unanswered(question.question_id, question.task, REQUEST_FAILED, why) for question in questions
    ]
    waiting = iter(enumerate(questions))
    failed_in_a_row = 0

    async def work() -> None:
        nonlocal failed_in_a_row
        for index, question in waiting:  # shared by all workers: each question goes to one of them
            outcomes[index] = outcome = await ask_one(question)
            if outcome is None:
                failed_in_a_row = 0
            elif outcome.finish_reason == REQUEST_FAILED:
                failed_in_a_row += 1
            if failed_in_a_row >= give_up_after:
                return

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(concurrency):
                group.create_task(work())
    except ExceptionGroup as errors:  # a defect, or a full disk: one is enough to say so
        raise errors.exceptions[0] from None
    return [outcome for outcome in outcomes if outcome is not None]
