"""All questions through one endpoint: several at a time, each answer on disk as it arrives, failures listed.

Knows nothing of lighteval: its host is one caller, the benchmark of our own cost another.
"""

import asyncio
import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial

from tqdm import tqdm

from egobench_tasks.asking.messages import to_record
from egobench_tasks.asking.prompts import Segment
from egobench_tasks.errors import InputError
from egobench_tasks.files import make_private_folder
from egobench_tasks.frames.errors import ClipError
from egobench_tasks.frames.lazy import FrameList
from egobench_tasks.hosts.endpoint.message import question_message
from egobench_tasks.hosts.endpoint.settings import EndpointSettings
from egobench_tasks.hosts.endpoint.sight import check_sight
from egobench_tasks.runs.attempts import growing_budgets, next_attempt
from egobench_tasks.runs.claims import Claims
from egobench_tasks.runs.failed import FailedBefore
from egobench_tasks.runs.journal import (
    CLIP_UNREADABLE,
    REQUEST_FAILED,
    Answer,
    Journal,
    answer_key,
    journal_root,
    question_key,
)
from egobench_tasks.servers.client import SILENCE_S, ServerClient, tell
from egobench_tasks.servers.dialect import Message
from egobench_tasks.servers.failures import RequestFailed
from egobench_tasks.servers.reply import Reply
from egobench_tasks.servers.rounds import Outcome, ask_all, give_up_limit

_LOOK_AGAIN_S = 1.0
"""How often to look whether another run has answered what it has claimed."""

_ELSEWHERE = "another run was asking it when this one gave up"

_Name = tuple[str, str]
"""A question's task and id."""


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
    server refuses the larger budget, the smaller attempt stands (PROTOCOL 1.2) until the next run.
    """

    def __init__(self, settings: EndpointSettings) -> None:
        self._settings = settings
        self._identity = settings.identity()
        self.journal = Journal(journal_root() / answer_key(**self._identity))
        self._kept = self.journal.answers()
        self._standing: set[str] = set()

    def find(self, question: EndpointQuestion) -> Answer | None:
        """Return the answer that counts, the last attempt's, or None where one is still to be made."""
        answer, budget = self._next_attempt(question)
        return answer if budget is None or self._claim_key(question) in self._standing else None

    def missing(self, questions: Sequence[EndpointQuestion]) -> list[EndpointQuestion]:
        """Return the questions without an answer that counts."""
        return [question for question in questions if self.find(question) is None]

    async def ask(self, questions: Sequence[EndpointQuestion]) -> list[Unanswered]:
        """Ask every question that has no answer yet; return those that still have none.

        Those that no run has asked so far come first, those that failed before last. What another run is asking at
        the moment is left to it. Where any has frames, the sight check comes first: raises ``EgobenchError`` where
        the server ignores images, ``InputError`` where the journal cannot be written.
        """
        missing = self.missing(questions)
        if not missing:
            return []
        self._check_journal()
        async with ServerClient(self._settings) as client:
            if shows_images(missing):
                await check_sight(client, self._settings)
            try:
                unanswered = await self._ask_all(client, missing)
            finally:
                self.journal.close()
        return [unanswered[name] for question in missing if (name := _name(question)) in unanswered]

    def _check_journal(self) -> None:
        try:
            make_private_folder(self.journal.folder)
            FailedBefore(self.journal.folder).touch()
        except OSError as error:
            raise InputError(
                f"{self.journal.folder}: answers cannot be kept there ({error.strerror}); "
                "name another folder with EGOBENCH_JOURNAL"
            ) from error

    async def _ask_all(self, client: ServerClient, missing: Sequence[EndpointQuestion]) -> dict[_Name, Unanswered]:
        # Decoding threads above the number of cores would only hold more frames.
        failed = FailedBefore(self.journal.folder)
        with (
            ThreadPoolExecutor(max_workers=min(self._settings.most_at_once, os.cpu_count() or 1)) as pool,
            tqdm(total=len(missing), desc=f"Asking {self._settings.model}", unit="question") as progress,
        ):
            asking = _Asking(client, pool, Claims(self.journal.folder / "claims"), failed, progress)
            before = failed.keys()
            questions = sorted(missing, key=lambda question: self._claim_key(question) in before)
            while questions:
                unasked = await ask_all(partial(self._ask_one, asking), questions, client)
                for question in unasked:
                    why = f"not asked: {give_up_limit(client)} questions in a row had failed before"
                    asking.unanswered[_name(question)] = _unanswered(question, REQUEST_FAILED, why)
                for question in asking.elsewhere if unasked else ():
                    asking.unanswered[_name(question)] = _unanswered(question, REQUEST_FAILED, _ELSEWHERE)
                questions = [] if unasked else await self._left_to_others(asking)
            return asking.unanswered

    async def _ask_one(self, asking: "_Asking", question: EndpointQuestion) -> Outcome:
        key = self._claim_key(question)
        with asking.claims.claim(key) as is_ours:
            if not is_ours:
                asking.elsewhere.append(question)
                return Outcome.NOT_ASKED
            self._kept |= self.journal.news()
            outcome = Outcome.ALIVE
            try:
                if self.find(question) is None:
                    message = await asyncio.get_running_loop().run_in_executor(
                        asking.pool, question_message, question.segments, question.frames, self._settings
                    )
                    await self._attempts(asking.client, question, message)
            except ClipError as error:
                asking.unanswered[_name(question)] = _unanswered(question, CLIP_UNREADABLE, str(error))
                outcome = Outcome.NOT_ASKED
            except RequestFailed as error:
                asking.unanswered[_name(question)] = _unanswered(question, REQUEST_FAILED, str(error))
                asking.failed.append(key)
                outcome = Outcome.OUTAGE if error.kind.is_outage else Outcome.ALIVE
            asking.progress.update()
            return outcome

    async def _attempts(self, client: ServerClient, question: EndpointQuestion, message: Message) -> None:
        """Ask until an answer ends by itself, the budget has reached its cap, or the server refuses a larger one."""
        last, budget_tokens = self._next_attempt(question)
        while budget_tokens is not None:
            try:
                reply, latency_s = await client.complete([message], budget_tokens)
            except RequestFailed as error:
                if last is None or error.kind.is_outage:
                    raise
                self._standing.add(self._claim_key(question))
                return
            answer = _answer(question, self._key(question, budget_tokens), reply, latency_s, budget_tokens)
            self.journal.append(answer)
            self._kept[answer.key] = answer
            last, budget_tokens = self._next_attempt(question)

    async def _left_to_others(self, asking: "_Asking") -> list[EndpointQuestion]:
        """Wait for other runs with the questions that they have claimed; return those that they have let go."""
        questions, asking.elsewhere = asking.elsewhere, []
        waited_s = 0.0
        while questions:
            self._kept |= self.journal.news()
            still = self.missing(questions)
            asking.progress.update(len(questions) - len(still))
            questions = still
            if any(asking.claims.is_free(self._claim_key(question)) for question in questions):
                break
            if questions and waited_s % SILENCE_S == 0:
                holder = asking.claims.holder(self._claim_key(questions[0]))
                tell(f"{len(questions)} questions are being asked by another run ({holder}); waiting for its answers")
            await asyncio.sleep(_LOOK_AGAIN_S)
            waited_s += _LOOK_AGAIN_S
        return questions

    def _next_attempt(self, question: EndpointQuestion) -> tuple[Answer | None, int | None]:
        """The last attempt so far, and the budget of the next one, None where there is none to come."""
        budgets = growing_budgets(self._first_budget(question), self._settings.max_tokens_cap)
        return next_attempt(self._kept, partial(self._key, question), budgets)

    def _first_budget(self, question: EndpointQuestion) -> int:
        return self._settings.first_budget(question.budget_tokens)

    def _claim_key(self, question: EndpointQuestion) -> str:
        return self._key(question, self._first_budget(question))

    def _key(self, question: EndpointQuestion, budget_tokens: int) -> str:
        return question_key(self._identity, to_record(question.segments), question.frames, budget_tokens)


@dataclass(slots=True)
class _Asking:
    """What one round of questions works with, and what has become of them."""

    client: ServerClient
    pool: ThreadPoolExecutor
    claims: Claims
    failed: FailedBefore
    progress: tqdm
    unanswered: dict[_Name, Unanswered] = field(default_factory=dict)
    elsewhere: list[EndpointQuestion] = field(default_factory=list)


def shows_images(questions: Iterable[EndpointQuestion]) -> bool:
    """Whether any of the questions has frames: words alone need no server that sees."""
    return any(question.frames.requests for question in questions)


def _name(question: EndpointQuestion) -> _Name:
    return question.task, question.question_id


def _unanswered(question: EndpointQuestion, finish_reason: str, reason: str) -> Unanswered:
    return Unanswered(question.question_id, question.task, finish_reason, reason)


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
