"""The oracle as a lighteval model: ``lighteval custom oracle PATH_OF_THIS_FILE egogears --custom-tasks …``.

lighteval loads this file by its path and takes the first model class that it finds in it.
"""

from typing import Any, NoReturn

from lighteval.models.abstract_model import LightevalModel
from lighteval.models.model_output import ModelResponse
from lighteval.tasks.requests import Doc

from dataset_scripts.sample.oracle import answer_message
from egobench_tasks.hosts.messages import message_parts


class SampleOracle(LightevalModel):  # type: ignore[misc]  # lighteval has no types
    """Answers the sample benchmark from the message that a vision-language model would get."""

    def __init__(self, config: Any) -> None:
        self.config = config

    @property
    def tokenizer(self) -> None:
        """None: it reads text as it is."""
        return None

    @property
    def add_special_tokens(self) -> bool:
        """False: it reads no tokens."""
        return False

    @property
    def max_length(self) -> int:
        """No message is too long."""
        return 2**31 - 1

    def greedy_until(self, docs: list[Doc]) -> list[ModelResponse]:
        """Answer every document from its text and frames."""
        return [ModelResponse(text=[answer_message(message_parts(doc))]) for doc in docs]

    def loglikelihood(self, docs: list[Doc]) -> NoReturn:
        """Not asked of a model that answers in words."""
        raise NotImplementedError("the oracle only generates answers")

    def loglikelihood_rolling(self, docs: list[Doc]) -> NoReturn:
        """Not asked of a model that answers in words."""
        raise NotImplementedError("the oracle only generates answers")
