"""One evaluation by lighteval's own pipeline with a model class of ours: its table, results and details."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import typer
from lighteval import cli_args
from lighteval.logging.evaluation_tracker import EvaluationTracker
from lighteval.models.abstract_model import LightevalModel, ModelConfig
from lighteval.pipeline import ParallelismManager, Pipeline, PipelineParameters

from egobench_tasks.errors import InputError
from egobench_tasks.hosts.lighteval.offline import load_only_our_tasks
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


@dataclass(frozen=True, slots=True)
class LightevalOptions:
    """lighteval's options, as given on a command line, sorted by who takes them."""

    tracker: dict[str, Any]
    pipeline: dict[str, Any]


def parse_lighteval_options(arguments: Sequence[str], command: str) -> LightevalOptions | None:
    """Read lighteval's saving and debugging options with lighteval's own definitions.

    None where the arguments ask for help, which is printed. Raises ``InputError`` for what is no
    such option; ``command`` is what it says was called.
    """
    app = typer.Typer(add_completion=False)
    app.command()(_options)
    try:
        parsed = typer.main.get_command(app).main(list(arguments), prog_name=command, standalone_mode=False)
    except Exception as error:  # click's, which typer may bring along under a name of its own
        if hasattr(error, "format_message"):
            raise InputError(f"{command}: {error.format_message()}") from None
        raise
    return parsed if isinstance(parsed, LightevalOptions) else None


def _options(
    dataset_loading_processes: cli_args.dataset_loading_processes.type = cli_args.dataset_loading_processes.default,
    output_dir: cli_args.output_dir.type = cli_args.output_dir.default,
    results_path_template: cli_args.results_path_template.type = cli_args.results_path_template.default,
    push_to_hub: cli_args.push_to_hub.type = cli_args.push_to_hub.default,
    push_to_tensorboard: cli_args.push_to_tensorboard.type = cli_args.push_to_tensorboard.default,
    public_run: cli_args.public_run.type = cli_args.public_run.default,
    results_org: cli_args.results_org.type = cli_args.results_org.default,
    save_details: cli_args.save_details.type = cli_args.save_details.default,
    max_samples: cli_args.max_samples.type = cli_args.max_samples.default,
    job_id: cli_args.job_id.type = cli_args.job_id.default,
) -> LightevalOptions:
    """Further options, lighteval's own."""
    tracker = {
        "output_dir": output_dir,
        "results_path_template": results_path_template,
        "save_details": save_details,
        "push_to_hub": push_to_hub,
        "push_to_tensorboard": push_to_tensorboard,
        "public": public_run,
        "hub_results_org": results_org,
    }
    pipeline = {
        "dataset_loading_processes": dataset_loading_processes,
        "max_samples": max_samples,
        "job_id": job_id,
    }
    return LightevalOptions(tracker, pipeline)


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
