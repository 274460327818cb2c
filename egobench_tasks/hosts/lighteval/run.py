"""One evaluation by lighteval's own pipeline with a model class of ours: its table, results and details."""

from typing import Any, NoReturn

from lighteval.logging.evaluation_tracker import EvaluationTracker
from lighteval.models.abstract_model import LightevalModel, ModelConfig
from lighteval.pipeline import ParallelismManager, Pipeline, PipelineParameters

from egobench_tasks.errors import InputError
from egobench_tasks.hosts.lighteval.offline import load_only_our_tasks
from egobench_tasks.hosts.lighteval.options import LightevalOptions
from egobench_tasks.hosts.lighteval.usage import our_errors

TASKS_MODULE = "egobench_tasks.tasks"


class _NoCache:
    """In place of lighteval's sample cache, which is written once, after the last sample; see `journal`."""

    def _init_registry(self, registry: object) -> None:
        pass


class AnsweringModel(LightevalModel):
    """A lighteval model that answers in words and has no tokenizer of its own."""

    def __init__(self, config: ModelConfig) -> None:
        self.config = config
        self._cache = _NoCache()

    @property
    def tokenizer(self) -> None:
        """None: text goes out as text."""
        return None

    @property
    def add_special_tokens(self) -> bool:
        """False: there are no tokens here."""
        return False

    @property
    def max_length(self) -> int:
        """No limit that is known here."""
        return 2**31 - 1

    def loglikelihood(self, docs: list[Any]) -> NoReturn:
        """Not asked of a model that answers in words."""
        raise InputError(f"{docs[0].task_name}: needs log-likelihoods, which an endpoint does not give")

    def loglikelihood_rolling(self, docs: list[Any]) -> NoReturn:
        """Not asked of a model that answers in words."""
        self.loglikelihood(docs)


def make_pipeline(tasks: str, model: AnsweringModel, options: LightevalOptions) -> Pipeline:
    """Load the tasks and their questions; nothing is asked yet.

    Raises ``InputError`` for a task that is not ours, or a dataset that is not there.
    """
    load_only_our_tasks()
    with our_errors():
        return Pipeline(
            tasks=tasks,
            pipeline_parameters=PipelineParameters(
                launcher_type=ParallelismManager.CUSTOM, custom_tasks_directory=TASKS_MODULE, **options.pipeline
            ),
            evaluation_tracker=EvaluationTracker(**options.tracker),
            model=model,
        )


def finish(pipeline: Pipeline) -> None:
    """Ask everything, then score, save results and details, and print the table: what fails to print is saved."""
    with our_errors():
        pipeline.evaluate()
    pipeline.save_and_push_results()
    pipeline.show_results()
