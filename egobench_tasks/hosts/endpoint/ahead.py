"""Asking in a thread of its own, while the main thread imports what scores the answers: seconds that a user waits."""

import asyncio
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import suppress
from types import TracebackType
from typing import Self

from egobench_tasks.hosts.endpoint.questions import EndpointAnswers, EndpointQuestion, Unanswered
from egobench_tasks.runs.record import utc_now


class AskingAhead:
    """Questions that are asked from the moment a ``with`` block is entered; whoever leaves it ends the asking.

    ``answers`` is not to be changed by others meanwhile. SIGTERM, which the main thread notes, ends it as it ends
    `EndpointAnswers.ask`; an error in the block, Ctrl-C among them, cancels what is under way, and what is answered
    stays in the journal.
    """

    def __init__(self, answers: EndpointAnswers, questions: Sequence[EndpointQuestion]) -> None:
        self.answers = answers
        self.questions = tuple(questions)
        self.started_utc = utc_now()
        self._done: Future[list[Unanswered]] = Future()
        self._done.set_running_or_notify_cancel()  # who waits for it and gives up must not cancel it
        self._started = threading.Event()
        self._thread = threading.Thread(target=self._run, name="asking ahead")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._done.done():
            self._started.wait()
            with suppress(RuntimeError):  # it has ended since
                self._loop.call_soon_threadsafe(self._task.cancel)
        self._thread.join()

    async def unanswered(self) -> list[Unanswered]:
        """Wait until all is asked; returns and raises what `EndpointAnswers.ask` does."""
        return await asyncio.wrap_future(self._done)

    def _run(self) -> None:
        try:
            self._done.set_result(asyncio.run(self._ask()))
        except BaseException as error:  # it is raised where the answers are waited for
            self._done.set_exception(error)
        finally:
            self._started.set()

    async def _ask(self) -> list[Unanswered]:
        task = asyncio.current_task()
        assert task is not None
        self._loop, self._task = asyncio.get_running_loop(), task
        self._started.set()
        return await self.answers.ask(self.questions)
