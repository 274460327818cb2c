"""What a run will take, before it is started: questions, images, tokens, and time where it can be known."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from egobench_tasks.asking.prompts import Text
from egobench_tasks.frames.errors import ClipError
from egobench_tasks.frames.lazy import FrameRequest
from egobench_tasks.frames.select import frames_asked
from egobench_tasks.frames.source import open_source
from egobench_tasks.hosts.endpoint.questions import EndpointQuestion
from egobench_tasks.hosts.endpoint.settings import EndpointSettings

_MILLION = 1_000_000
CHARACTERS_PER_TOKEN = 4
"""A rule of thumb for English text."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """The size of what is still to be asked. Tokens are estimates, but for ``max_new_tokens``.

    ``tokens_per_image`` is measured at the server, for a picture of 480x270; None where it counts none.
    ``min_minutes`` follows from the limit of requests a minute; None without one. ``price_in``, ``price_out``: of a
    million tokens, see `EndpointSettings`.
    """

    n_questions: int
    n_answered: int
    n_images: int
    n_text_tokens: int
    tokens_per_image: int | None
    max_new_tokens: int
    min_minutes: float | None
    price_in: float | None = None
    price_out: float | None = None

    @property
    def n_to_ask(self) -> int:
        """Questions without an answer in the journal."""
        return self.n_questions - self.n_answered

    @property
    def n_prompt_tokens(self) -> int | None:
        """Of all questions to ask, text and images; None where an image's share is unknown."""
        if not self.n_images:
            return self.n_text_tokens
        if self.tokens_per_image is None:
            return None
        return self.n_text_tokens + self.n_images * self.tokens_per_image

    @property
    def max_cost(self) -> float | None:
        """What the questions to ask cost at most, in the prices' money; None where a price or a count is not known."""
        if self.price_in is None or self.price_out is None or self.n_prompt_tokens is None:
            return None
        return (self.n_prompt_tokens * self.price_in + self.max_new_tokens * self.price_out) / _MILLION

    def __str__(self) -> str:
        if self.n_prompt_tokens is None:
            prompt = f"text about {self.n_text_tokens:,}; this server does not say what an image takes"
        elif not self.n_images:
            prompt = f"about {self.n_prompt_tokens:,}"
        else:
            prompt = f"about {self.n_prompt_tokens:,}, {self.tokens_per_image:,} an image"
        time = "depends on the server" if self.min_minutes is None else f"{self.min_minutes:,.0f} minutes at least"
        return "\n".join(
            [
                f"questions      {self.n_questions:,}: {self.n_answered:,} in the journal, {self.n_to_ask:,} to ask",
                f"images         {self.n_images:,}",
                f"prompt tokens  {prompt}",
                f"new tokens     {self.max_new_tokens:,} at most, before truncated answers are asked for again",
                f"time           {time}",
                *self._cost_lines(),
            ]
        )

    def _cost_lines(self) -> list[str]:
        if self.price_in is None or self.price_out is None:
            return []
        cost = "not known" if self.max_cost is None else f"{self.max_cost:,.2f} at most"
        return [f"cost           {cost}, at {self.price_in:g} in and {self.price_out:g} out a million tokens"]


def by_task(estimates: Mapping[str, Estimate]) -> str:
    """Return a line a task: what each of them, a probe for example, adds to the whole. Empty where there is one."""
    if len(estimates) < 2:
        return ""
    width = max(map(len, estimates))
    head = _task_line("task", ("to ask", "images", "prompt tokens", "new at most", "cost at most"), width)
    return "\n".join([head, *(_task_line(name, _cells(one), width) for name, one in estimates.items()), ""])


def _cells(estimate: Estimate) -> tuple[str, ...]:
    prompt = "?" if estimate.n_prompt_tokens is None else f"{estimate.n_prompt_tokens:,}"
    cost = "" if estimate.max_cost is None else f"{estimate.max_cost:,.2f}"
    return f"{estimate.n_to_ask:,}", f"{estimate.n_images:,}", prompt, f"{estimate.max_new_tokens:,}", cost


def _task_line(name: str, cells: Sequence[str], width: int) -> str:
    return f"{name:{width}}{''.join(f'  {cell:>13}' for cell in cells)}".rstrip()


def estimate(
    questions: Sequence[EndpointQuestion],
    missing: Sequence[EndpointQuestion],
    settings: EndpointSettings,
    tokens_per_image: int | None,
) -> Estimate:
    """Estimate what asking ``missing`` takes. Frames are counted as asked for; none is decoded.

    ``tokens_per_image`` is None where the server counts none, or no question has images.
    """
    n_characters = sum(
        len(segment.text) for question in missing for segment in question.segments if isinstance(segment, Text)
    )
    limit = settings.requests_per_minute
    return Estimate(
        n_questions=len(questions),
        n_answered=len(questions) - len(missing),
        n_images=sum(n_images(request) for question in missing for request in question.frames.requests),
        n_text_tokens=math.ceil(n_characters / CHARACTERS_PER_TOKEN),
        tokens_per_image=tokens_per_image,
        max_new_tokens=sum(settings.first_budget(question.budget_tokens) for question in missing),
        min_minutes=len(missing) / limit if limit else None,
        price_in=settings.price_in,
        price_out=settings.price_out,
    )


def estimate_tasks(
    questions: Sequence[EndpointQuestion],
    missing: Sequence[EndpointQuestion],
    settings: EndpointSettings,
    tokens_per_image: int | None,
) -> dict[str, Estimate]:
    """Return `estimate` of every task by name, in the order of the questions."""
    asked: dict[str, tuple[list[EndpointQuestion], list[EndpointQuestion]]] = {}
    for question in questions:
        asked.setdefault(question.task, ([], []))[0].append(question)
    for question in missing:
        asked[question.task][1].append(question)
    return {task: estimate(of, lacking, settings, tokens_per_image) for task, (of, lacking) in asked.items()}


def n_images(request: FrameRequest) -> int:
    """Return how many frames a clip is asked for; at a rate that follows from its length, which its header states."""
    spec = request.spec
    if spec.rate_fps is None:
        return frames_asked(spec, duration_s=0)
    try:
        with open_source(request.path, spec) as source:
            return frames_asked(spec, source.duration_s)
    except ClipError:  # not there: nothing will be asked
        return 0
