"""Asking by Inspect's own models until an answer counts: the rules of the other hosts (PROTOCOL 1.2, 1.3).

Inspect reads replies by rules of its own before we see them: it cuts a ``<think>`` out of the text wherever it stands,
gives up on a content that is a list of parts, and knows half of the finish reasons. So what the model's API sent is
kept as it is sent, and read as the endpoint host reads it.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from typing import Any

import anyio
from inspect_ai.event import ModelEvent
from inspect_ai.log import transcript
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    Content,
    ContentReasoning,
    ContentText,
    GenerateConfig,
    ModelCall,
    ModelOutput,
)
from inspect_ai.solver import Generate, TaskState
from inspect_ai.util import LimitExceededError

from egobench_tasks.benchmarks import EGOGEARS
from egobench_tasks.runs.attempts import growing_budgets
from egobench_tasks.runs.journal import CLIP_UNREADABLE, REQUEST_FAILED
from egobench_tasks.scoring.endings import Ending, ending
from egobench_tasks.servers.pace import backoff_s
from egobench_tasks.servers.reply import BadReply, NotACompletion, Reply, checked_reply, read_completion

ATTEMPTS = "attempts"
"""The name in a sample's metadata of its attempts, the one that counts last."""

MAX_REPEATS = 5
"""Of a request whose reply tells of the service's failure; what fails before a reply, Inspect repeats itself."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One reply, and the new tokens that it could have had; ``thinking``: the model was told to reason.

    ``finish_reason`` is the provider's, or one of `journal.UNANSWERED` where there is no reply.
    """

    text: str
    finish_reason: str
    reasoning: str = ""
    budget_tokens: int | None = None
    n_prompt_tokens: int | None = None
    n_new_tokens: int | None = None
    thinking: bool = False


class Refused(Exception):
    """The service refused a request for good."""


@dataclass(frozen=True, slots=True)
class _Call:
    response: Mapping[str, Any] | None
    refused: bool


_calls: ContextVar[list[_Call] | None] = ContextVar("egobench_calls", default=None)


async def ask(state: TaskState, generate: Generate) -> None:
    """Ask the state's question; a truncated answer is asked for again with twice the budget, and all are kept.

    Where a larger budget is refused or fails for good, the smaller attempt stands. Attempts are kept in
    ``state.metadata``; ``state.output`` is the last one's. Raises what Inspect raises where the first request fails.
    """
    question = list(state.messages)
    attempts: list[Attempt] = []
    standing = state.output, question
    budget_tokens: int | None = None
    while budget_tokens is not None or not attempts:
        try:
            attempt = await _attempt(state, question, generate, budget_tokens)
        except LimitExceededError:
            raise
        except Exception as error:
            if attempts:
                state.output, state.messages = standing
            elif isinstance(error, BadReply | Refused):
                state.output = ModelOutput(model=str(state.model), error=str(error))
                attempts.append(Attempt("", REQUEST_FAILED))
            else:
                raise
            break
        attempts.append(attempt)
        standing = state.output, list(state.messages)
        budget_tokens = _next_budget(attempt)
    state.metadata[ATTEMPTS] = [asdict(attempt) for attempt in attempts]


def unreadable_clip(state: TaskState, error: Exception) -> None:
    """Leave a question unanswered whose clip cannot be read."""
    state.output = ModelOutput(model=str(state.model), error=str(error))
    state.metadata[ATTEMPTS] = [asdict(Attempt("", CLIP_UNREADABLE))]


def counted_attempt(metadata: Mapping[str, Any], output: ModelOutput) -> Attempt:
    """Return the attempt that counts, from a sample's metadata; from its output in a log of an older version."""
    if kept := metadata.get(ATTEMPTS):
        return Attempt(**kept[-1])
    if not output.choices:
        return Attempt("", CLIP_UNREADABLE)
    return Attempt(output.message.text, str(output.stop_reason), _reasoning_of(output))


def _next_budget(attempt: Attempt) -> int | None:
    spent_tokens = attempt.budget_tokens
    if ending(attempt.finish_reason) is not Ending.LENGTH or spent_tokens is None:
        return None
    return next((n for n in growing_budgets(spent_tokens, EGOGEARS.max_new_tokens_cap) if n > spent_tokens), None)


async def _attempt(
    state: TaskState, question: Sequence[ChatMessage], generate: Generate, budget_tokens: int | None
) -> Attempt:
    """Ask once with a budget, None for the user's or the task's; what tells of the service's failure is asked again."""
    override: Any = {} if budget_tokens is None else {"max_tokens": budget_tokens}
    for n_failures in range(1, MAX_REPEATS + 2):
        state.messages = list(question)
        try:
            reply = await _reply(state, generate, override)
        except BadReply:
            if n_failures > MAX_REPEATS:
                raise
            await anyio.sleep(backoff_s(n_failures))
        else:
            config = _used_config()
            return Attempt(
                text=reply.text,
                finish_reason=reply.finish_reason,
                reasoning=reply.reasoning,
                budget_tokens=config.max_tokens,
                n_prompt_tokens=reply.n_prompt_tokens,
                n_new_tokens=reply.n_new_tokens,
                thinking=bool(config.reasoning_tokens) or config.reasoning_effort not in (None, "none"),
            )
    raise AssertionError("the last failure was raised")


async def _reply(state: TaskState, generate: Generate, override: Any) -> Reply:
    """Let Inspect ask, and read what the API sent; where Inspect keeps none of it, what Inspect made of it."""
    with _kept_calls() as calls:
        try:
            answered = await generate(state, **override)
            state.output, state.messages = answered.output, answered.messages
        except Exception:
            if not calls or calls[-1].refused:
                raise
            state.output = ModelOutput(model=str(state.model))  # a reply came that Inspect cannot read
    if calls and calls[-1].refused:
        raise Refused(state.output.error or state.output.completion)
    try:
        reply = read_completion(calls[-1].response if calls else None)
    except NotACompletion:
        if not state.output.choices:
            raise
        reply = _from_output(state.output)
    if not state.output.choices:
        _show(state, reply)
    return reply


def _from_output(output: ModelOutput) -> Reply:
    usage = output.usage
    return checked_reply(
        output.message.text,
        _reasoning_of(output),
        str(output.stop_reason),
        usage.input_tokens if usage else None,
        usage.output_tokens if usage else None,
    )


def _reasoning_of(output: ModelOutput) -> str:
    content = output.message.content
    parts = [part for part in content if isinstance(part, ContentReasoning)] if isinstance(content, list) else []
    return "\n".join(part.reasoning or part.summary or "" for part in parts)


def _show(state: TaskState, reply: Reply) -> None:
    """Put a reply that Inspect could not read where Inspect shows replies."""
    content: list[Content] = [ContentText(text=reply.text)]
    if reply.reasoning:
        content.insert(0, ContentReasoning(reasoning=reply.reasoning))
    message = ChatMessageAssistant(content=content, model=str(state.model), source="generate")
    stop_reason: Any = "max_tokens" if ending(reply.finish_reason) is Ending.LENGTH else "stop"
    state.output = ModelOutput(
        model=str(state.model), choices=[ChatCompletionChoice(message=message, stop_reason=stop_reason)]
    )
    state.messages.append(message)


def _used_config() -> GenerateConfig:
    """How the model was just asked, the user's own options included."""
    events = [event for event in transcript().events if isinstance(event, ModelEvent)]
    return events[-1].config if events else GenerateConfig()


@contextmanager
def _kept_calls() -> Iterator[list[_Call]]:
    """Collect what APIs send while this context is open, in the order in which it comes."""
    calls: list[_Call] = []
    token = _calls.set(calls)
    try:
        yield calls
    finally:
        _calls.reset(token)


def _keep_what_apis_send() -> None:
    """Inspect drops a model's raw response from its records unless asked to log all; take it as it is recorded."""
    stock = ModelCall.set_response

    def set_response(self: ModelCall, response: Any, time: float | None = None) -> None:
        stock(self, response, time)
        calls = _calls.get()
        if calls is not None:
            calls.append(_Call(self.response, bool(self.error)))

    ModelCall.set_response = set_response  # type: ignore[method-assign]


_keep_what_apis_send()
