"""Asking a judge behind an OpenAI-compatible endpoint, many items at a time.

One item's failure never ends a run: it becomes a judgement without a verdict. Every judgement is
on the disk before the next question goes out, so a run that is killed goes on where it stopped.
"""

import asyncio
import json
import os
from collections.abc import Sequence
from dataclasses import replace
from http import HTTPStatus
from typing import TYPE_CHECKING

from tqdm import tqdm

from egobench_tasks.errors import InputError
from egobench_tasks.judge.identity import JudgeIdentity, served_identity
from egobench_tasks.judge.prompt import JudgeItem, judge_messages
from egobench_tasks.judge.settings import API_KEY_VARIABLE, JudgeSettings
from egobench_tasks.judge.store import VerdictStore, verdict_key
from egobench_tasks.judge.verdict import Judgement, NoVerdict, read_verdict

if TYPE_CHECKING:
    from openai import AsyncOpenAI

# A server that failed for so many items in a row, each tried again max_retries times, is down or
# misconfigured; trying all others too would take hours of timeouts.
GIVE_UP_AFTER = 16
SERVER_FAILURES = frozenset(
    {NoVerdict.TIMEOUT, NoVerdict.CONNECTION, NoVerdict.RATE_LIMITED, NoVerdict.SERVER_ERROR, NoVerdict.REFUSED}
)
_NO_KEY = "none"
_NOT_ASKED = Judgement(None, NoVerdict.NOT_ASKED, "")


def stored_judgements(items: Sequence[JudgeItem], identity: JudgeIdentity, store: VerdictStore) -> list[Judgement]:
    """Return what the store holds of one judge's judgements, one an item, without asking anyone."""
    keys = [verdict_key(item, identity) for item in items]
    found = store.find(frozenset(keys), identity.served)
    return [found.get(key, _NOT_ASKED) for key in keys]


def judge(items: Sequence[JudgeItem], settings: JudgeSettings, store: VerdictStore) -> list[Judgement]:
    """Judge all items, asking only for verdicts the store lacks; see `judge_async`."""
    return asyncio.run(judge_async(items, settings, store))


async def judge_async(items: Sequence[JudgeItem], settings: JudgeSettings, store: VerdictStore) -> list[Judgement]:
    """Return one judgement an item, in the items' order; equal items are asked once.

    Raises no error for a judge that fails: see `Judgement.failure` for what went wrong.
    """
    identity = served_identity(settings)
    before = stored_judgements(items, identity, store)
    missing = {
        verdict_key(item, identity): item
        for item, judgement in zip(items, before, strict=True)
        if judgement.verdict is None
    }
    if missing:
        await _ask_all(list(missing.values()), settings, identity, store)
    return stored_judgements(items, identity, store)


async def _ask_all(
    items: Sequence[JudgeItem], settings: JudgeSettings, identity: JudgeIdentity, store: VerdictStore
) -> None:
    import openai

    key = _api_key(settings)
    waiting = iter(items)
    failures_in_a_row = 0

    async def work() -> None:
        nonlocal failures_in_a_row
        for item in waiting:  # shared by all workers: each item goes to one of them
            judgement = _without_key(await _ask(client, settings, item), key)
            store.append(item, identity, judgement)
            progress.update()
            failures_in_a_row = failures_in_a_row + 1 if judgement.failure in SERVER_FAILURES else 0
            if failures_in_a_row >= GIVE_UP_AFTER:
                return

    client = openai.AsyncOpenAI(
        base_url=settings.base_url, api_key=key, timeout=settings.timeout_s, max_retries=settings.max_retries
    )
    # Inspect scores one answer at a time: no bar for each.
    shown = {"desc": f"judging ({settings.model})", "unit": "answer", "disable": len(items) == 1}
    with tqdm(total=len(items), **shown) as progress:
        try:
            async with client, asyncio.TaskGroup() as group:
                for _ in range(settings.concurrency):
                    group.create_task(work())
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None


async def _ask(client: "AsyncOpenAI", settings: JudgeSettings, item: JudgeItem) -> Judgement:
    """Send one request. The library repeats it with backoff, as long as a 429's Retry-After says where it says so.

    The response is read here and not by the library, which hands on whatever a broken server sends.
    """
    import openai

    try:
        response = await client.chat.completions.with_raw_response.create(
            model=settings.model,
            messages=judge_messages(item),  # type: ignore[arg-type]  # plain dicts are what is sent
            temperature=0,
            max_tokens=settings.max_tokens,
        )
    except openai.APITimeoutError as error:
        return Judgement(None, NoVerdict.TIMEOUT, str(error))
    except openai.APIConnectionError as error:
        return Judgement(None, NoVerdict.CONNECTION, str(error.__cause__ or error))
    except openai.APIStatusError as error:
        return Judgement(None, _status_failure(error.status_code), error.response.text)
    except openai.OpenAIError as error:
        return Judgement(None, NoVerdict.BAD_RESPONSE, str(error))
    return read_response(response.http_response.text)


def read_response(body: str) -> Judgement:
    """Read the body of a chat completion; one that is none gives no verdict, and is kept whole."""
    try:
        choice = json.loads(body)["choices"][0]
        content, finish_reason = choice["message"]["content"], choice["finish_reason"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return Judgement(None, NoVerdict.BAD_RESPONSE, body)
    if content is not None and not isinstance(content, str):
        return Judgement(None, NoVerdict.BAD_RESPONSE, body)
    reply = content or ""
    reading = read_verdict(reply, str(finish_reason))
    return Judgement(reading.verdict, reading.failure, reply)


def _status_failure(status: int) -> NoVerdict:
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return NoVerdict.RATE_LIMITED
    return NoVerdict.SERVER_ERROR if status >= HTTPStatus.INTERNAL_SERVER_ERROR else NoVerdict.REFUSED


def _api_key(settings: JudgeSettings) -> str:
    """Return the key to send; local servers need none, but the header must hold something."""
    key = os.environ.get(settings.api_key_variable, "").strip()
    if not key and settings.api_key_variable != API_KEY_VARIABLE:
        raise InputError(f"the judge's key is to come from ${settings.api_key_variable}, which is not set")
    if not key.isascii() or not key.isprintable():
        raise InputError(f"${settings.api_key_variable} holds characters that no key has")
    return key or _NO_KEY


def _without_key(judgement: Judgement, key: str) -> Judgement:
    """Servers quote a wrong key back in their errors; it must not reach the store."""
    return judgement if key == _NO_KEY else replace(judgement, raw=judgement.raw.replace(key, "[key]"))
