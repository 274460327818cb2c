"""What lighteval 0.13 lacks for video, put in place for our tasks only.

Each hook names the defect it works round; `tests/hosts/lighteval/test_compat.py` fails once
lighteval no longer needs it. Importing `egobench_tasks.tasks` applies them.
"""

import functools
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from datasets import Dataset, DatasetDict
from lighteval.logging.evaluation_tracker import EvaluationTracker
from lighteval.logging.info_loggers import MetricsLogger
from lighteval.models import model_loader
from lighteval.models.custom.custom_model import CustomModelConfig
from lighteval.models.transformers import vlm_transformers_model
from lighteval.models.transformers.transformers_model import TransformersModelConfig
from lighteval.pipeline import Pipeline
from lighteval.tasks.lighteval_task import LightevalTask
from lighteval.tasks.prompt_manager import PromptManager
from lighteval.tasks.registry import Registry
from lighteval.tasks.requests import Doc
from lighteval.utils.utils import make_results_table

from egobench_tasks.asking.catalogue import unknown_task
from egobench_tasks.asking.probes import PROBES_NAME, SET_OF_PROBES, probe_task
from egobench_tasks.benchmarks import EGOGEARS
from egobench_tasks.data import SPLIT, fingerprint, missing_clips
from egobench_tasks.errors import EgobenchError, InputError
from egobench_tasks.files import inside
from egobench_tasks.hosts.lighteval import record, summary
from egobench_tasks.hosts.lighteval.averages import correct_averages
from egobench_tasks.hosts.lighteval.docs import RowPrompt
from egobench_tasks.hosts.lighteval.messages import is_ours
from egobench_tasks.hosts.lighteval.rows import load_asked
from egobench_tasks.hosts.lighteval.usage import usage_errors
from egobench_tasks.hosts.lighteval.vision.settings import FrameVLMConfig
from egobench_tasks.runs.shards import current_shard
from egobench_tasks.texts import first_line, some_of

logger = logging.getLogger(__name__)

_BLIND = (
    "{}: this lighteval back end would send the question without its frames. "
    "Use `lighteval accelerate … --vision-model` or `egobench run`."
)
_TEXT_ONLY_PROMPTS = ("prepare_prompt", "prepare_prompt_api", "prepare_prompt_multimodal")


def apply() -> None:
    """Install the hooks, once however often the tasks are imported."""
    if getattr(LightevalTask, "_egobench_hooks", False):
        return
    LightevalTask._egobench_hooks = True
    _hook_task_names()
    _hook_dataset_loading()
    _hook_text_only_prompts()
    _hook_model_class()
    _hook_loading_of_models()
    _hook_saved_names()
    _hook_order_of_tasks()
    _hook_averages()
    record.apply()
    _hook_end()  # after the record is complete, which it tells of


@contextmanager
def given_settings(settings: FrameVLMConfig) -> Iterator[None]:
    """Let lighteval's command line take these settings of the vision model, whatever it reads itself.

    Defect: lighteval 0.13 cuts a model's arguments at every comma and equals sign, those in braces too, knows few
    settings, and prints a traceback for any other.
    """
    stock = vlm_transformers_model.VLMTransformersModelConfig
    vlm_transformers_model.VLMTransformersModelConfig = lambda **_: settings
    try:
        yield
    finally:
        vlm_transformers_model.VLMTransformersModelConfig = stock


def _hook_task_names() -> None:
    """Defect: lighteval 0.13 knows no groups of tasks (``probes``), takes ``egogears_swapped`` for its one subtask,
    ``egogears_swapped:multi``, only where there are two, and ends with a traceback for a name that it does not know."""
    stock, stock_update = Registry._expand_task_definition, Registry._update_task_configs

    def expand(registry: Registry, name: str) -> list[str]:
        if name == PROBES_NAME:
            return [task for probe in SET_OF_PROBES for task in expand(registry, probe_task(probe))]
        known = registry._task_registry
        found = [task for task in known if task.startswith(f"{name}:")]
        if not found and name not in known:
            raise InputError(unknown_task(name, others={task.partition(":")[0] for task in known}))
        return found if len(found) == 1 and name.startswith(f"{EGOGEARS.name}_") else stock(registry, name)

    def update(registry: Registry) -> Any:
        with usage_errors():
            try:
                return stock_update(registry)
            except ValueError as error:
                raise InputError(f"{error}. Tasks are named as NAME or NAME|0; see `egobench tasks`") from error

    Registry._expand_task_definition, Registry._update_task_configs = expand, update


def _hook_dataset_loading() -> None:
    """Defect: the loader takes a Hub id only, decodes every video while it iterates the rows, and
    says nothing in the task config of which rows it read."""
    stock = LightevalTask.download_dataset_worker

    def load(task: LightevalTask) -> DatasetDict:
        prompt = task.config.prompt_function
        if not isinstance(prompt, RowPrompt):
            return stock(task)
        with usage_errors():
            if task.config.num_fewshots:
                raise InputError(f"{task.config.full_name}: is asked without solved examples: {task.name}|0")
            loaded = load_asked(prompt, task.config.hf_subset, task.name)
        rows, asked, location = loaded.rows, loaded.asked, loaded.location
        prompt.set_dataset(fingerprint(rows))
        prompt.n_rows = len(rows)
        task.config.hf_repo, task.config.hf_revision = location.path, location.revision
        _warn_unless_published(task, len(rows))
        _say_what_remains(task, len(asked), len(rows))
        _warn_of_missing_clips(task, asked)
        _say_shard(task, len(loaded.chosen), len(asked))
        return DatasetDict({SPLIT: loaded.chosen})

    LightevalTask.download_dataset_worker = staticmethod(load)


def _say_shard(task: LightevalTask, n_chosen: int, n_asked: int) -> None:
    if shard := current_shard():
        logger.warning(f"{task.name}: shard {shard}, {n_chosen} of {n_asked} questions; merge with `egobench merge`")


def _warn_unless_published(task: LightevalTask, n_rows: int) -> None:
    published = task.config.prompt_function.n_published
    if n_rows != published:
        logger.warning(
            f"{task.name}: {n_rows} questions, the published split has {published}: "
            "these scores do not compare with published ones"
        )


def _say_what_remains(task: LightevalTask, n_asked: int, n_rows: int) -> None:
    if n_asked != n_rows:
        logger.warning(f"{task.name}: asks {n_asked} of {n_rows} questions; the probe does not apply to the others")


def _warn_of_missing_clips(task: LightevalTask, rows: Dataset) -> None:
    """EgoTempo keeps questions without a clip: they cannot be asked, and the run is partial, which must be said."""
    n_missing = sum(video is None for video in rows["video"])
    if n_missing and task.config.prompt_function.needs_clips:
        logger.warning(f"{task.name}: {n_missing} of {len(rows)} questions have no clip here: the run is partial")
    if task.config.prompt_function.needs_clips and (gone := missing_clips(rows)):
        names = some_of([Path(path).name for path in gone])
        logger.warning(f"{task.name}: {len(gone)} clips are not there: {names}; put them back, or the run is partial")


def _hook_text_only_prompts() -> None:
    """Defect: back ends other than the vision one build a message without the images, and the model
    answers blind. A score that looks right must not come of it."""

    def refuse_blind(stock: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(stock)
        def prepare(self: PromptManager, doc: Doc, *args: Any, **kwargs: Any) -> Any:
            if is_ours(doc) and doc.images.requests:
                with usage_errors():
                    raise EgobenchError(_BLIND.format(doc.task_name))
            return stock(self, doc, *args, **kwargs)

        return prepare

    for name in _TEXT_ONLY_PROMPTS:
        setattr(PromptManager, name, refuse_blind(getattr(PromptManager, name)))


def _hook_loading_of_models() -> None:
    """Defect: what is wrong with a model's name, file or kind is a traceback, of 163 lines where --vision-model is
    forgotten. Ours says what to give; a run without our tasks keeps lighteval's."""
    stock = Pipeline._init_model

    def init_model(pipeline: Pipeline, model_config: Any, model: Any) -> Any:
        docs = [doc for docs in pipeline.documents_dict.values() for doc in docs if is_ours(doc)]
        if not docs:
            return stock(pipeline, model_config, model)
        with usage_errors():
            seen = next((doc for doc in docs if doc.images.requests), None)
            if seen is not None and type(model_config) is TransformersModelConfig:
                raise InputError(_BLIND.format(seen.task_name))
            if isinstance(model_config, CustomModelConfig):
                _check_model_file(Path(model_config.model_definition_file_path))
            try:
                return stock(pipeline, model_config, model)
            except (OSError, ValueError, ImportError) as error:
                raise InputError(f"{model_config.model_name}: cannot be loaded: {first_line(error)}") from error

    Pipeline._init_model = init_model


def _check_model_file(path: Path) -> None:
    if not path.is_file():
        raise InputError(
            f"{path}: no such file; `lighteval custom NAME FILE.py TASKS` takes a model's class from FILE.py"
        )


def _hook_saved_names() -> None:
    """Defect: lighteval 0.13 makes folders of a model's name as it is: ``../../x`` climbs out of the output folder."""
    stock = EvaluationTracker.save

    def save(tracker: EvaluationTracker) -> None:
        logged = tracker.general_config_logger
        logged.model_name = inside(logged.model_name)
        stock(tracker)

    EvaluationTracker.save = save


def _hook_order_of_tasks() -> None:
    """Defect: lighteval 0.13 makes a set of the tasks' names, so that their order is another in every process."""
    stock = Registry._get_full_task_list_from_input_string

    @functools.wraps(stock)
    def sorted_names(registry: Registry, tasks: str | Path) -> list[str]:
        return sorted(stock(registry, tasks))

    Registry._get_full_task_list_from_input_string = sorted_names


def _hook_averages() -> None:
    """Defect: lighteval 0.13 gives a mean over whatever parts ran, lost questions and all, the name of the whole's."""
    stock = MetricsLogger.aggregate

    def aggregate(logged: MetricsLogger, *arguments: Any, **options: Any) -> None:
        by_name = sorted(logged.metrics_values.items())  # sums over tasks depend on their order, in the last digit
        logged.metrics_values.clear()
        logged.metrics_values.update(by_name)
        stock(logged, *arguments, **options)
        correct_averages(logged.metric_aggregated, logged.metrics_values)

    MetricsLogger.aggregate = aggregate


def _hook_end() -> None:
    """Defect: lighteval 0.13 prints every figure up to three times: of a task, as the average of the one task that a
    name has, and in a mean over whatever tasks ran together. And it says nothing of what to do next."""
    stock_show, stock_save = Pipeline.show_results, Pipeline.save_and_push_results

    def show_results(pipeline: Pipeline) -> None:
        if not any(isinstance(task.config.prompt_function, RowPrompt) for task in pipeline.tasks_dict.values()):
            stock_show(pipeline)
            return
        pipeline._init_final_dict()
        if pipeline.is_main_process():
            results = summary.each_once(pipeline.final_dict["results"])
            print(make_results_table({**pipeline.final_dict, "results": results}))
            done(pipeline, "shown")

    def save_and_push_results(pipeline: Pipeline) -> None:
        stock_save(pipeline)
        if pipeline.is_main_process():
            done(pipeline, "saved")

    def done(pipeline: Pipeline, what: str) -> None:
        """lighteval's commands show and save, ours save and show; the summary follows the later of the two."""
        pipeline._egobench_done = {*getattr(pipeline, "_egobench_done", ()), what}
        if pipeline._egobench_done == {"shown", "saved"}:
            print("\n".join(summary.summary_lines(pipeline)))

    Pipeline.show_results, Pipeline.save_and_push_results = show_results, save_and_push_results


def _hook_model_class() -> None:
    """Defect: the vision class puts all images after all text, needs decoded images in every Doc,
    and returns its text as a string where a list is expected. Ours serves our Docs, stock the rest."""
    from egobench_tasks.hosts.lighteval.vlm import FrameVLM

    model_loader.VLMTransformersModel = FrameVLM
