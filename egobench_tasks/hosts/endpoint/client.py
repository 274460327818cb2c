"""One OpenAI-compatible endpoint: a message goes out, a checked reply comes back, or the reason why not.

The library's own repeats are off: they know nothing of a limit a minute, of replies that are none,
or of the other requests that a 429 should hold back too.
"""

import asyncio
import time
from collections.abc import Sequence
from http import HTTPStatus
from types import TracebackType
from typing import Any, Self

import openai

from egobench_tasks.hosts.endpoint.pace import Pace, backoff_s, retry_after_s
from egobench_tasks.hosts.endpoint.reply import BadReply, Reply, read_reply
from egobench_tasks.hosts.endpoint.settings import NO_KEY, EndpointSettings

_REPEATED_STATUSES = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.CONFLICT, HTTPStatus.TOO_MANY_REQUESTS})
_REASON_CHARACTERS = 500
_LOOK_S = 20.0


class RequestFailed(Exception):
    """No reply to a request, repeats included. Its text says why, and never holds the key."""


class _Repeatable(Exception):
    """One attempt failed in a way that another may not; ``wait_s`` is the server's wish, if it has one."""

    def __init__(self, reason: str, wait_s: float | None = None) -> None:
        super().__init__(reason)
        self.wait_s = wait_s


class EndpointClient:
    """Asks one endpoint, at its settings' pace. An async context manager; use it in one event loop.

    Raises ``InputError`` where the key's variable is not set.
    """

    def __init__(self, settings: EndpointSettings) -> None:
        self._settings = settings
        self._key = settings.api_key()
        self._pace = Pace(settings.requests_per_minute)
        self._client = openai.AsyncOpenAI(
            base_url=settings.base_url,
            api_key=self._key,
            max_retries=0,
            timeout=None,  # asyncio's timeout bounds the whole request; the library's would bound each wait
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._client.close()

    async def complete(self, content: Sequence[dict[str, Any]], budget_tokens: int) -> tuple[Reply, float]:
        """Send one user message and return the reply and the seconds that its request took.

        Repeats what may pass; raises `RequestFailed` for what did not.
        """
        for n_failures in range(1, self._settings.max_retries + 2):
            await self._pace.turn()
            try:
                return await self._attempt(content, budget_tokens)
            except _Repeatable as failure:
                reason = str(failure)
                if n_failures <= self._settings.max_retries:
                    await self._wait(failure, n_failures)
        raise RequestFailed(f"{reason} (after {n_failures} attempts)" if n_failures > 1 else reason)

    async def model_list(self) -> str | None:
        """Return the body of ``GET /models``, empty where the server offers none; None where it cannot be reached."""
        try:
            async with asyncio.timeout(min(_LOOK_S, self._settings.timeout_s)):
                response = await self._client.models.with_raw_response.list()
        except openai.APIStatusError:
            return ""
        except (TimeoutError, openai.OpenAIError):
            return None
        return response.http_response.text

    async def _wait(self, failure: _Repeatable, n_failures: int) -> None:
        if failure.wait_s is None:
            await asyncio.sleep(backoff_s(n_failures))
        else:
            self._pace.pause(failure.wait_s)

    async def _attempt(self, content: Sequence[dict[str, Any]], budget_tokens: int) -> tuple[Reply, float]:
        started_s = time.monotonic()
        try:
            async with asyncio.timeout(self._settings.timeout_s):
                body = await self._post(content, budget_tokens)
            return read_reply(body), time.monotonic() - started_s
        except TimeoutError:
            raise _Repeatable(f"no reply within {self._settings.timeout_s:g} s") from None
        except BadReply as error:
            raise _Repeatable(self._without_key(str(error))) from None
        except openai.APIConnectionError as error:
            raise _Repeatable(self._without_key(f"connection: {error.__cause__ or error!r}")) from None
        except openai.APIStatusError as error:
            raise self._of_status(error) from None

    async def _post(self, content: Sequence[dict[str, Any]], budget_tokens: int) -> str:
        fields = self._settings.request_fields(budget_tokens)
        message: Any = {"role": "user", "content": content}
        response = await self._client.chat.completions.with_raw_response.create(
            model=fields.pop("model"),
            messages=[message],
            extra_body=fields,
        )
        return response.http_response.text

    def _of_status(self, error: openai.APIStatusError) -> Exception:
        reason = self._without_key(f"HTTP {error.status_code}: {error.response.text[:_REASON_CHARACTERS]}")
        if error.status_code in _REPEATED_STATUSES or error.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR:
            return _Repeatable(reason, retry_after_s(error.response.headers))
        return RequestFailed(reason)

    def _without_key(self, text: str) -> str:
        """Servers quote a wrong key back in their errors; it must reach neither logs nor lists."""
        return text if self._key == NO_KEY else text.replace(self._key, "[key]")
