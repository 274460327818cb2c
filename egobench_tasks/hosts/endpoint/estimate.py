"""What a run will take, before it is started: questions, images, tokens, and time where it can be known."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from egobench_tasks.asking.prompts import Text
from egobench_tasks.frames.errors import ClipError
from egobench_tasks.frames.lazy import FrameRequest
from egobench_tasks.frames.select import frames_asked
from egobench_tasks.frames.source import open_source
from egobench_tasks.hosts.endpoint.questions import EndpointQuestion
from egobench_tasks.hosts.endpoint.settings import EndpointSettings

CHARACTERS_PER_TOKEN = 4
"""A rule of thumb for English text."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """The size of what is still to be asked. Tokens are estimates, but for ``max_new_tokens``.

    ``tokens_per_image`` is measured at the server, for a picture of 480x270; None where it counts none.
    ``min_minutes`` follows from the limit of requests a minute; None without one.
    """

    n_questions: int
    n_answered: int
    n_images: int
    n_text_tokens: int
    tokens_per_image: int | None
    max_new_tokens: int
    min_minutes: float | None

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
            ]
        )


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
        n_images=sum(_n_images(request) for question in missing for request in question.frames.requests),
        n_text_tokens=math.ceil(n_characters / CHARACTERS_PER_TOKEN),
        tokens_per_image=tokens_per_image,
        max_new_tokens=sum(settings.first_budget(question.budget_tokens) for question in missing),
        min_minutes=len(missing) / limit if limit else None,
    )


def _n_images(request: FrameRequest) -> int:
    """Frames that a clip is asked for; a rate's number follows from the clip's length, which its header states."""
    spec = request.spec
    if spec.rate_fps is None:
        return frames_asked(spec, duration_s=0)
    try:
        with open_source(request.path, spec) as source:
            return frames_asked(spec, source.duration_s)
    except ClipError:  # not there: nothing will be asked
        return 0
