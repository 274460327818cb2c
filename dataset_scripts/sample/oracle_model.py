"""The oracle as a lighteval model: ``lighteval custom oracle PATH_OF_THIS_FILE "egogears|0" --custom-tasks …``.

lighteval loads this file by its path and takes the first model class that it finds in it: no other may be imported
by name.
"""

from lighteval.models.model_output import ModelResponse
from lighteval.tasks.requests import Doc

from dataset_scripts.sample.oracle import answer_message
from egobench_tasks.hosts.lighteval import run
from egobench_tasks.hosts.lighteval.messages import message_parts


class SampleOracle(run.AnsweringModel):
    """Answers the sample benchmark from the message that a vision-language model would get."""

    def greedy_until(self, docs: list[Doc]) -> list[ModelResponse]:
        """Answer every document from its text and frames."""
        return [ModelResponse(text=[answer_message(message_parts(doc))]) for doc in docs]
