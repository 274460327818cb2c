"""What our hosts tell lighteval of a generation beyond what lighteval asks for."""

from collections.abc import Sequence
from dataclasses import dataclass

from lighteval.models.model_output import ModelResponse

from egobench_tasks.runs.journal import Answer
from egobench_tasks.runs.repeats import total
from egobench_tasks.scoring.answers import NORMAL_STOP


@dataclass
class Generation(ModelResponse):
    """A response that also says why it ended, in the provider's words ("stop", "length", …) or ours.

    ``answered_by`` is the key of what answered (`record.Answerer.key`), empty where nothing did, or none is known.
    ``thinking``: whether the model was told to reason. ``finish_reasons``: of each text, where the question was asked
    several times; None where it was asked once. Tokens and seconds are as `journal.Answer` has them, summed
    over several answers.
    """

    finish_reason: str = NORMAL_STOP
    answered_by: str = ""
    thinking: bool = False
    finish_reasons: list[str] | None = None
    n_prompt_tokens: int | None = None
    n_new_tokens: int | None = None
    latency_s: float | None = None


def generation(answer: Answer, answered_by: str = "", *, thinking: bool) -> Generation:
    """The response of one journalled answer."""
    # Token lists stay out: 64 frames are ten thousand placeholder tokens a question in the details.
    return Generation(
        input=answer.prompt,
        text=[answer.text],
        reasonings=[answer.reasoning],
        finish_reason=answer.finish_reason,
        answered_by=answered_by,
        thinking=thinking,
        n_prompt_tokens=answer.n_prompt_tokens,
        n_new_tokens=answer.n_new_tokens,
        latency_s=answer.latency_s,
    )


def no_generation(prompt: str, finish_reason: str) -> Generation:
    """The response of a question that has no answer, for one of the reasons in `journal.UNANSWERED`."""
    return Generation(input=prompt, text=[""], reasonings=[""], finish_reason=finish_reason)


def repeated(generations: Sequence[Generation]) -> Generation:
    """One response of all generations for a question, the first one first: it is what scores, the others are kept."""
    first = generations[0]
    if len(generations) == 1:
        return first
    every = {
        "text": [one.text[0] for one in generations],
        "reasonings": [one.reasonings[0] for one in generations],
        "finish_reasons": [one.finish_reason for one in generations],
        "n_prompt_tokens": total([one.n_prompt_tokens for one in generations]),
        "n_new_tokens": total([one.n_new_tokens for one in generations]),
        "latency_s": total([one.latency_s for one in generations]),
    }
    return Generation(**{**vars(first), **every})
