"""One OpenAI-compatible server: messages go out, a checked reply comes back, or the reason why not.

HTTP is spoken here and not through OpenAI's library, which reads any body to its end, repeats without knowing of a
limit a minute, and cannot say what it waits for.
"""

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from email.message import Message as HeaderReader
from types import TracebackType
from typing import Self
from urllib.parse import quote, urlsplit, urlunsplit

import httpx
from tqdm import tqdm

from egobench_tasks.malloc import give_back_large_buffers
from egobench_tasks.scoring.endings import is_known
from egobench_tasks.servers.body import Body
from egobench_tasks.servers.dialect import Message, adapted, first_dialect
from egobench_tasks.servers.failures import FailureKind, RequestFailed, kind_of_status
from egobench_tasks.servers.pace import Lanes, Pace, backoff_s, rest
from egobench_tasks.servers.reply import BadReply, Reply, read_reply
from egobench_tasks.servers.settings import AUTO, ServerSettings
from egobench_tasks.servers.stream import StreamCut, TooLarge, read_body
from egobench_tasks.servers.transport import make_transport
from egobench_tasks.servers.waits import asked_wait_s

SILENCE_S = 60.0
"""Nothing stands still for longer without a line that says so."""

_AUTO_AT_FIRST = 4
_REASON_CHARACTERS = 500
_TOLD_PAUSE_S = 5.0
_LOOK_S = 20.0
_SHORT_SECRET = 8
"""A shorter secret is masked in errors only: in a model's answer it may be a word like any other."""


def tell(line: str) -> None:
    """Print a line beside a progress bar."""
    tqdm.write(line, file=sys.stderr)


@dataclass(eq=False)
class _Failure(Exception):
    """One attempt failed. ``wait_s`` is the server's wish, if it has one."""

    kind: FailureKind
    reason: str
    wait_s: float | None = None
    status: int = 0
    body: str = ""

    @property
    def is_answer_to_form(self) -> bool:
        """Whether the server may have taken exception to how it was asked."""
        return self.kind in (FailureKind.REFUSED, FailureKind.SERVER_ERROR)


class ServerClient:
    """Asks one server, at its settings' pace. An async context manager; use it in one event loop.

    ``lanes``: whoever asks several questions takes one for each, so that no more are held than can be under way.
    Raises ``InputError`` where a key's variable is not set, or this machine's settings forbid asking.
    """

    def __init__(self, settings: ServerSettings, tell: Callable[[str], None] = tell) -> None:
        self.settings = settings
        self._tell = tell
        self._secrets = settings.secrets()
        give_back_large_buffers()
        self._url, self._models_url = _address(settings, "chat/completions"), _address(settings, "models")
        self._headers = _headers(settings)
        self._dialect = first_dialect(settings)
        self._pace = Pace(settings.requests_per_minute)
        at_first = _AUTO_AT_FIRST if settings.concurrency == AUTO else settings.most_at_once
        self.lanes = Lanes(settings.most_at_once, at_first)
        self._requests = self.lanes.of_the_same_width()
        self._n_limited = 0
        self._limited_s = -1.0
        self._last_reply_s = self._last_sign_s = time.monotonic()
        self._under_way: dict[object, float] = {}
        self._odd_ends: set[str] = set()
        self._http = make_transport(settings.base_url, settings.most_at_once)
        self._watch: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._last_reply_s = self._last_sign_s = time.monotonic()
        self._watch = asyncio.create_task(self._tell_of_silence())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._watch is not None:
            self._watch.cancel()
        await self._http.aclose()

    def lane(self) -> AbstractAsyncContextManager[None]:
        """Wait until one question more may be under way, and hold its place."""
        return self.lanes.one()

    async def complete(self, messages: Sequence[Message], budget_tokens: int, repeat: int = 0) -> tuple[Reply, float]:
        """Send a conversation and return the reply and the seconds that its request took.

        ``repeat``: see `ServerSettings.request_fields`.
        Repeats what may pass, waits where the server says so, and does without what it refuses; raises
        `RequestFailed` for what is left, and `Stopped` instead of waiting where SIGTERM has come.
        """
        n_failures = 0
        while True:
            dialect = self._dialect
            try:
                async with self._requests.one():
                    await self._pace.turn()
                    started_s = time.monotonic()
                    dialect = self._dialect
                    fields = self.settings.request_fields(budget_tokens, repeat)
                    reply = await self._attempt(Body(dialect.put(fields, messages)))
                self._answered()
                return reply, time.monotonic() - started_s
            except _Failure as failure:
                if failure.is_answer_to_form and self._adapts(dialect, failure, messages):
                    continue
                if failure.kind is FailureKind.RATE_LIMITED:
                    self._limited(failure, started_s)
                    continue
                n_failures += 1
                if not failure.kind.may_pass or n_failures > self.settings.max_retries:
                    after = f" (after {n_failures} attempts)" if n_failures > 1 else ""
                    raise RequestFailed(failure.kind, failure.reason + after) from None
                await self._back_off(failure, n_failures)

    async def model_list(self) -> str | None:
        """Return the body of ``GET /models``, empty where the server offers none; None where it cannot be reached."""
        try:
            async with asyncio.timeout(min(_LOOK_S, self.settings.timeout_s)):
                async with self._http.stream("GET", self._models_url, headers=self._headers) as response:
                    text = await read_body(response.aiter_bytes(), _charset(response.headers))
        except TooLarge:
            return ""
        except (TimeoutError, httpx.HTTPError, StreamCut, OSError):
            return None
        return text if response.is_success else ""

    async def _attempt(self, body: Body) -> Reply:
        token = object()
        self._under_way[token] = time.monotonic()
        try:
            async with asyncio.timeout(self.settings.timeout_s):
                text, response = await self._post(body)
        except TimeoutError:
            raise _Failure(FailureKind.TIMEOUT, f"no reply within {self.settings.timeout_s:g} s") from None
        except TooLarge as error:
            raise _Failure(FailureKind.TOO_LARGE, str(error)) from None
        except (httpx.HTTPError, StreamCut, OSError) as error:
            raise _Failure(FailureKind.CONNECTION, self._masked(f"connection: {_words(error)}")) from None
        finally:
            del self._under_way[token]
        if not response.is_success:
            raise self._of_status(response, text)
        return self._read(text)

    async def _post(self, body: Body) -> tuple[str, httpx.Response]:
        async def pieces() -> AsyncIterator[bytes]:
            for piece in body.pieces():
                yield piece

        # Without its length it would go out in chunks of HTTP's own, which some servers refuse.
        headers = {**self._headers, "Content-Length": str(body.n_bytes)}
        async with self._http.stream("POST", self._url, content=pieces(), headers=headers) as response:
            return await read_body(response.aiter_bytes(), _charset(response.headers)), response

    def _read(self, text: str) -> Reply:
        try:
            reply = read_reply(text)
        except BadReply as error:
            kind = FailureKind.BAD_REPLY if '"choices"' in text else FailureKind.NO_COMPLETION
            raise _Failure(kind, self._masked(str(error))) from None
        self._tell_of_odd_end(reply.finish_reason)
        long = [secret for secret in self._secrets if len(secret) >= _SHORT_SECRET]
        return replace(reply, text=_mask(reply.text, long), reasoning=_mask(reply.reasoning, long))

    def _tell_of_odd_end(self, finish_reason: str) -> None:
        """A word that nobody listed is no normal end, so its replies hold no answer: not in silence."""
        if not is_known(finish_reason) and finish_reason not in self._odd_ends:
            self._odd_ends.add(finish_reason)
            self._tell(
                f"{self.settings.model}'s server ends replies with {finish_reason!r}, which is not known as a normal "
                "end: such replies count as no answer"
            )

    def _of_status(self, response: httpx.Response, text: str) -> _Failure:
        status = response.status_code
        return _Failure(
            kind=kind_of_status(status, text),
            reason=self._masked(f"HTTP {status}: {text[:_REASON_CHARACTERS]}"),
            wait_s=asked_wait_s(response.headers, text),
            status=status,
            body=text,
        )

    def _answered(self) -> None:
        self._last_reply_s = self._last_sign_s = time.monotonic()
        self._n_limited = 0
        self.lanes.went_well()

    def _adapts(self, dialect: object, failure: _Failure, messages: Sequence[Message]) -> bool:
        """Whether the request is to be put in another way, which is found here or was while this one was under way."""
        if self._dialect != dialect:
            return True
        has_system = any(message["role"] == "system" for message in messages)
        found = adapted(self._dialect, failure.status, failure.body, has_system)
        if found is None:
            return False
        self._dialect, what = found
        self._tell(f"{self.settings.model}'s server refuses {what}. Its words: {failure.reason}")
        return True

    def _limited(self, failure: _Failure, started_s: float) -> None:
        """Pause for everyone. A request that was under way when the pause began says nothing new."""
        now_s = time.monotonic()
        stalled_s = now_s - self._last_reply_s
        if stalled_s > self.settings.max_stall_s:
            raise RequestFailed(failure.kind, f"{failure.reason} (no reply for {stalled_s:.0f} s)") from None
        if started_s > self._limited_s:
            self._n_limited, self._limited_s = self._n_limited + 1, now_s
            self.lanes.went_badly()
        elif failure.wait_s is None:
            return
        wait_s = failure.wait_s if failure.wait_s is not None else backoff_s(self._n_limited + 1)
        if wait_s > max(self._pace.pause_left_s, _TOLD_PAUSE_S):
            self._last_sign_s = now_s
            self._tell(f"{self.settings.model} is over its limit: waiting {wait_s:.0f} s. {failure.reason}")
        self._pace.pause(wait_s)

    async def _back_off(self, failure: _Failure, n_failures: int) -> None:
        if failure.kind is FailureKind.TIMEOUT:
            self.lanes.went_badly()
        if failure.wait_s is None:
            await rest(backoff_s(n_failures))
        else:
            self._pace.pause(failure.wait_s)

    async def _tell_of_silence(self) -> None:
        """Say, once a minute without a reply, what is waited for."""
        while True:
            await asyncio.sleep(SILENCE_S / 10)
            now_s = time.monotonic()
            if now_s - self._last_sign_s < SILENCE_S:
                continue
            self._last_sign_s = now_s
            if (pause_s := self._pace.pause_left_s) > 0:
                self._tell(f"{self.settings.model}: asking nothing for another {pause_s:.0f} s, as its server wishes")
            elif self._under_way:
                longest_s = now_s - min(self._under_way.values())
                self._tell(
                    f"{self.settings.model}: no reply for {now_s - self._last_reply_s:.0f} s; {len(self._under_way)} "
                    f"requests under way, the longest for {longest_s:.0f} s (given up at {self.settings.timeout_s:g} s)"
                )

    def _masked(self, text: str) -> str:
        """Servers quote a wrong key back in their errors; it must reach neither logs nor lists."""
        return _mask(text, self._secrets)


def _mask(text: str, secrets: Sequence[str]) -> str:
    for secret in secrets:
        for form in (secret, quote(secret, safe=""), json.dumps(secret)[1:-1]):
            text = text.replace(form, "[key]")
    return text


def _address(settings: ServerSettings, what: str) -> httpx.URL:
    parts = urlsplit(settings.base_url)
    path = f"{parts.path.rstrip('/')}/{what}"
    url = httpx.URL(urlunsplit((parts.scheme, parts.netloc, path, parts.query, "")))
    return url.copy_merge_params(settings.sent_query()) if settings.query else url


def _headers(settings: ServerSettings) -> dict[str, str]:
    key = settings.api_key()
    authorization = {} if key is None else {"Authorization": f"Bearer {key}"}
    return {"Content-Type": "application/json", **authorization, **settings.sent_headers()}


def _charset(headers: httpx.Headers) -> str | None:
    reader = HeaderReader()
    reader["Content-Type"] = headers.get("content-type", "")
    return reader.get_content_charset()


def _words(error: Exception) -> str:
    """What happened, also where the library's own text is empty."""
    return str(error) or type(error).__name__
