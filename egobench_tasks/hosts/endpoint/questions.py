"""All questions through one endpoint: several at a time, each answer on disk as it arrives, failures listed.

Knows nothing of lighteval: its host is one caller, the benchmark of our own cost another.
"""

import asyncio
import os
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import partial

from tqdm import tqdm

from egobench_tasks import stopping
from egobench_tasks.asking.messages import to_record
from egobench_tasks.asking.order import clips_together
from egobench_tasks.asking.prompts import Segment
from egobench_tasks.errors import InputError
from egobench_tasks.files import make_private_folder
from egobench_tasks.frames.errors import ClipError
from egobench_tasks.frames.lazy import FrameList
from egobench_tasks.hosts.endpoint.cut_prompts import PromptMeter
from egobench_tasks.hosts.endpoint.message import question_message
from egobench_tasks.hosts.endpoint.same_answers import ANSWERS
from egobench_tasks.hosts.endpoint.settings import EndpointSettings
from egobench_tasks.hosts.endpoint.sharing import ask_shared
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
    is_fresh,
    journal_folder,
    next_generation,
    question_key,
)
from egobench_tasks.runs.record import Answerer, Asked
from egobench_tasks.runs.repeats import keyed_rows
from egobench_tasks.runs.same_model import Model, check_same_model, find_place
from egobench_tasks.runs.sessions import read_sessions, session_of
from egobench_tasks.runs.tally import count
from egobench_tasks.servers.client import ServerClient
from egobench_tasks.servers.dialect import Message
from egobench_tasks.servers.failures import FailureKind, RequestFailed
from egobench_tasks.servers.reply import Reply
from egobench_tasks.servers.rounds import Outcome, give_up_limit


@dataclass(frozen=True, slots=True)
class EndpointQuestion:
    """What a question needs to be asked. ``prompt`` is the message as readable text, for the journal.

    ``budget_tokens``: new tokens that its task gives models that do not reason. ``repeat`` counts from 0 where a
    question is asked several times.
    """

    question_id: str
    task: str
    prompt: str
    segments: tuple[Segment, ...]
    frames: FrameList
    budget_tokens: int
    repeat: int = 0


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
        return answer if budget is None or _name(question) in self.standing else None

    def missing(self, questions: Sequence[EndpointQuestion]) -> list[EndpointQuestion]:
        """Return the questions without an answer that counts."""
        return [question for question in questions if self.find(question) is None]

    def keys(self, questions: Sequence[EndpointQuestion]) -> frozenset[tuple[str, str]]:
        """Return each question's task and the key of its first attempt: what makes two lists ask the same."""
        return frozenset((question.task, self._claim_key(question)) for question in questions)

    def outlook(self, questions: Sequence[EndpointQuestion]) -> str:
        """Return how many answers there are and how many are to be asked for, in words."""
        n_missing = len(self.missing(questions))
        return (
            f"{len(questions) - n_missing} answers from the journal {self.journal.folder}, "
            f"{n_missing} to ask {self._settings.model} at {self._settings.base_url}"
        )

    async def ask(self, questions: Sequence[EndpointQuestion]) -> list[Unanswered]:
        """Ask every question that has no answer yet; return those that still have none.

        Before the first, the model is looked at: raises ``InputError`` where kept answers are another model's (see
        `same_model`). Where any question has frames, the sight check follows: raises ``EgobenchError`` where the server
        ignores images. Raises ``InputError`` too where the journal cannot be written. What another run is asking at
        the moment is left to it, and waited for. Raises `Stopped` where SIGTERM came before all were asked.
        """
        started_s = time.monotonic()
        missing = clips_together(self.missing(questions), lambda question: (question.frames, question.prompt))
        async with ServerClient(self._settings) as client:
            await self._look_at_model(client, questions, n_missing=len(missing))
            unanswered: list[Unanswered] = []
            with suppress(stopping.Stopped):
                unanswered = await self._ask_missing(client, missing) if missing else []
        if stopping.is_asked() and (left := self.missing(missing)):
            n_done = len(questions) - len(left)
            raise stopping.stopped(n_done, len(questions), "answers", self.journal.folder, fresh=is_fresh())
        counts = count([self.find(question) for question in questions], len(missing), self._n_asked_again)
        self.asked = Asked(counts=counts, seconds=time.monotonic() - started_s)
        return unanswered

    async def _look_at_model(self, client: ServerClient, questions: Sequence[EndpointQuestion], n_missing: int) -> None:
        """Make sure that this model's answers are kept where another's are not. Raises ``InputError`` where they are.

        Kept answers need no server that is there, if nothing is to be asked.
        """
        place = await find_place(client.model_list, self._settings.base_url, self._settings.model)
        if place is None:
            if not n_missing:
                print(f"{self._settings.base_url} is not there; all answers are kept ones", file=sys.stderr)
            return
        self.answerer = replace(self.answerer, server=asdict(place.served))
        # A cut attempt counts too: it stands where a larger budget is refused.
        question_of = {answer.key: question for question in questions if (answer := self._next_attempt(question)[0])}
        kept = {
            stem: taken
            for stem, answers in self.journal.by_session().items()
            if (taken := [answer for answer in answers if answer.key in question_of])
        }

        async def ask_again(answer: Answer) -> Answer | None:
            question = question_of[answer.key]
            try:
                message = await asyncio.to_thread(self._message, question)
                budget_tokens = answer.budget_tokens or question.budget_tokens
                return _answer(
                    question,
                    answer.key,
                    *await client.complete([message], budget_tokens, question.repeat),
                    budget_tokens,
                )
            except (ClipError, RequestFailed):
                return None

        sessions = read_sessions(self.journal.folder)
        model = Model(self._settings.model, place, self._settings.most_at_once, sampled=self._settings.temperature != 0)
        confirmed, self._n_asked_again = await check_same_model(model, ANSWERS, sessions, kept, ask_again)
        self.journal.session = session_of(self.answerer, place, confirmed)
        if self._n_asked_again:
            self.journal.note_session()  # what was seen now need not be looked at again

    async def _ask_missing(self, client: ServerClient, missing: Sequence[EndpointQuestion]) -> list[Unanswered]:
        """Ask those first that no run has asked so far, those last that failed before."""
        self._check_journal()
        n_tokens = await check_sight(client, self._settings) if shows_images(missing) else None
        failed = FailedBefore(self.journal.folder)
        before = failed.keys()
        questions = sorted(missing, key=lambda question: self._claim_key(question) in before)
        unanswered: dict[tuple[str, str], Unanswered] = {}
        # Decoding threads above the number of cores would only hold more frames.
        with (
            ThreadPoolExecutor(max_workers=min(self._settings.most_at_once, os.cpu_count() or 1)) as pool,
            tqdm(total=len(questions), desc=f"Asking {self._settings.model}", unit="question") as progress,
        ):
            meter = PromptMeter(client, self._settings, n_tokens)

            async def ask_one(question: EndpointQuestion) -> Outcome:
                outcome = Outcome.ALIVE
                try:
                    message = await asyncio.get_running_loop().run_in_executor(pool, self._message, question)
                    await self._attempts(client, question, message, meter)
                except ClipError as error:
                    unanswered[_name(question)] = _unanswered(question, CLIP_UNREADABLE, str(error))
                    outcome = Outcome.NOT_ASKED
                except RequestFailed as error:
                    smaller, _ = self._next_attempt(question)
                    if smaller is not None:
                        self.standing[_name(question)] = str(error)
                    else:
                        unanswered[_name(question)] = _unanswered(question, REQUEST_FAILED, str(error))
                        failed.append(self._claim_key(question))
                        outcome = Outcome.OUTAGE if error.kind.is_outage else Outcome.ALIVE
                progress.update()
                return outcome

            def is_answered(question: EndpointQuestion) -> bool:
                self._kept |= self.journal.news()  # another run's may have come
                return self.find(question) is not None

            claims = Claims(self.journal.folder / "claims")
            try:
                given_up = await ask_shared(ask_one, questions, client, claims, self._claim_key, is_answered)
            finally:
                self.journal.close()
        why = f"not asked: {give_up_limit(client)} questions in a row had failed before"
        unanswered |= {_name(question): _unanswered(question, REQUEST_FAILED, why) for question in given_up}
        return [unanswered[_name(question)] for question in missing if _name(question) in unanswered]

    def _check_journal(self) -> None:
        try:
            make_private_folder(self.journal.folder)
            FailedBefore(self.journal.folder).touch()
        except OSError as error:
            raise InputError(
                f"{self.journal.folder}: answers cannot be kept there ({error.strerror}); "
                "name another folder with EGOBENCH_JOURNAL"
            ) from error

    def _message(self, question: EndpointQuestion) -> Message:
        return question_message(question.segments, question.frames, self._settings)

    async def _attempts(
        self, client: ServerClient, question: EndpointQuestion, message: Message, meter: PromptMeter
    ) -> None:
        """Ask until an answer ends by itself, or the budget has reached its cap."""
        _, budget_tokens = self._next_attempt(question)
        while budget_tokens is not None:
            reply, latency_s = await client.complete([message], budget_tokens, question.repeat)
            if complaint := await meter.complaint(message, reply):
                raise RequestFailed(FailureKind.MISCONFIGURED, complaint)
            answer = _answer(question, self._key(question, budget_tokens), reply, latency_s, budget_tokens)
            self.journal.append(answer)
            self._kept[answer.key] = answer
            _, budget_tokens = self._next_attempt(question)

    def _next_attempt(self, question: EndpointQuestion) -> tuple[Answer | None, int | None]:
        """The last attempt so far, and the budget of the next one, None where there is none to come."""
        budgets = growing_budgets(self._first_budget(question), self._settings.max_tokens_cap)
        return next_attempt(self._kept, partial(self._key, question), budgets)

    def _first_budget(self, question: EndpointQuestion) -> int:
        return self._settings.first_budget(question.budget_tokens)

    def _claim_key(self, question: EndpointQuestion) -> str:
        return self._key(question, self._first_budget(question))

    def _key(self, question: EndpointQuestion, budget_tokens: int) -> str:
        return question_key(
            self.answerer.identity,
            keyed_rows(to_record(question.segments), question.repeat),
            question.frames,
            budget_tokens,
            self.answerer.generation,
        )


def shows_images(questions: Sequence[EndpointQuestion]) -> bool:
    """Whether any of the questions has frames: words alone need no server that sees."""
    return any(question.frames.requests for question in questions)


def _name(question: EndpointQuestion) -> tuple[str, str]:
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
        repeat=question.repeat,
    )
