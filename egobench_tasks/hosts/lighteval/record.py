"""Writing a run's ``run.json``, whichever command of lighteval's or ours the run is.

lighteval has no place for it: its results are written once, after the last question, and name neither the model's files
nor the dataset's commit nor the command. So its pipeline is extended, for our tasks only.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from fsspec.implementations.local import LocalFileSystem
from lighteval.models.abstract_model import ModelConfig
from lighteval.pipeline import Pipeline

from egobench_tasks.benchmarks import Benchmark
from egobench_tasks.errors import InputError
from egobench_tasks.frames.decode import decoder_version
from egobench_tasks.hosts.lighteval.devices import gpu_names
from egobench_tasks.hosts.lighteval.docs import OpenPrompt, RowPrompt
from egobench_tasks.hosts.lighteval.usage import usage_errors
from egobench_tasks.judge.prompt import prompt_fingerprint
from egobench_tasks.judge.settings import load_settings
from egobench_tasks.runs.another_model import refuse_another_model
from egobench_tasks.runs.circumstances import (
    library_versions,
    our_environment,
    this_command,
    this_machine,
    this_package,
)
from egobench_tasks.runs.journal import answer_key
from egobench_tasks.runs.record import (
    Answerer,
    AskedTask,
    Counts,
    RunRecord,
    Times,
    begin,
    utc_now,
    write,
)
from egobench_tasks.runs.shards import current_shard

_SEED = 1234  # what lighteval's Pipeline gives to random and numpy


def apply() -> None:
    """Extend lighteval's pipeline."""
    stock_evaluate, stock_save = Pipeline.evaluate, Pipeline.save_and_push_results

    def evaluate(self: Pipeline) -> None:
        folder = _output_folder(self)
        if folder is not None and _our_tasks(self):
            with usage_errors(), _writing(folder):
                refuse_another_model(folder, answerer_of(self.model))
                if self.is_main_process():
                    self._egobench_record = begin(folder, describe(self))
        stock_evaluate(self)

    def save_and_push_results(self: Pipeline) -> None:
        dates = _noting_dates(self)
        stock_save(self)
        if self._egobench_record is not None and self.is_main_process():
            folder = _output_folder(self)
            assert folder is not None
            self._egobench_record = completed(self._egobench_record, self.model, dates)
            write(folder, self._egobench_record)

    Pipeline._egobench_record = None
    Pipeline.evaluate, Pipeline.save_and_push_results = evaluate, save_and_push_results


def describe(pipeline: Pipeline) -> RunRecord:
    """Return the record of a run that is about to ask its first question."""
    tasks = _our_tasks(pipeline)
    return RunRecord(
        number=0,
        times=Times(started_utc=getattr(pipeline.model, "started_utc", None) or utc_now()),
        command=this_command(),
        folder=str(Path.cwd()),
        environment=our_environment(),
        package=this_package(),
        libraries=library_versions(),
        machine=this_machine(gpu_names(), getattr(pipeline.accelerator, "num_processes", 1)),
        model=answerer_of(pipeline.model),
        tasks=tuple(_asked_task(pipeline, name) for name in tasks),
        decoding={"libavcodec": decoder_version()},
        seeds={"random": _SEED, "numpy": _SEED},
        judge=_judge() if any(isinstance(prompt, OpenPrompt) for prompt in tasks.values()) else None,
        shard=str(shard) if (shard := current_shard()) else None,
        merged=tuple(getattr(pipeline.model, "merged", ())),
        elsewhere=getattr(pipeline.model, "elsewhere", None),
        canary={benchmark.name: benchmark.canary for benchmark in _benchmarks(tasks)},
        counts=Counts(total=sum(len(pipeline.documents_dict[name]) for name in tasks)),
    )


def completed(record: RunRecord, model: Any, dates: list[str]) -> RunRecord:
    """Return a record with what is known once all is saved; ``dates`` are lighteval's, of the files it wrote."""
    asked = getattr(model, "asked", None)  # lighteval's own classes, and users', count nothing
    times = replace(
        record.times,
        ended_utc=utc_now(),
        results_date=dates[-1] if dates else None,
        seconds_a_question=asked.seconds_a_question if asked else None,
    )
    counts = asked.counts if asked else replace(record.counts, asked=record.counts.total)
    return replace(record, times=times, counts=counts, model=answerer_of(model))


def answerer_of(model: Any) -> Answerer:
    """Return what answers, as far as its class says more than its settings."""
    return model.answerer if hasattr(model, "answerer") else answerer_of_config(model.config)


def answerer_of_config(config: ModelConfig) -> Answerer:
    """Return what answers, where nothing but its settings is known."""
    identity = {"model": config.model_dump(exclude={"cache_dir", "batch_size"})}
    return Answerer(name=config.model_name, key=answer_key(**identity), identity=identity)


def _asked_task(pipeline: Pipeline, name: str) -> AskedTask:
    task = pipeline.tasks_dict[name]
    prompt, docs = task.config.prompt_function, pipeline.documents_dict[task.full_name]
    return AskedTask(
        name=task.full_name,
        inputs=prompt.inputs,
        dataset=task.config.hf_repo,
        revision=task.config.hf_revision,
        fingerprint=prompt.fingerprint,
        n_questions=len(docs),
        n_rows=prompt.n_rows,
        n_published=prompt.n_published,
        whole=len(docs) == prompt.n_rows == prompt.n_published,
        max_new_tokens=task.config.generation_size,
    )


def _our_tasks(pipeline: Pipeline) -> dict[str, RowPrompt]:
    prompts = {name: task.config.prompt_function for name, task in pipeline.tasks_dict.items()}
    return {name: prompt for name, prompt in prompts.items() if isinstance(prompt, RowPrompt)}


def _output_folder(pipeline: Pipeline) -> Path | None:
    """Where lighteval writes, None where that is no folder of this machine."""
    tracker = pipeline.evaluation_tracker
    return Path(tracker.output_dir) if isinstance(tracker.fs, LocalFileSystem) else None


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """A folder that cannot be written to must not show after every question was asked."""
    try:
        yield
    except OSError as error:
        raise InputError(f"{folder}: cannot be written to ({error}); name another --output-dir") from error


def _noting_dates(pipeline: Pipeline) -> list[str]:
    """Return a list that will hold the date under which lighteval saves its results; it tells nobody."""
    tracker, dates = pipeline.evaluation_tracker, list[str]()
    stock: Callable[[str, dict[str, Any]], None] = tracker.save_results

    def save_results(date_id: str, results_dict: dict[str, Any]) -> None:
        dates.append(date_id)
        stock(date_id, results_dict)

    tracker.save_results = save_results
    return dates


def _benchmarks(tasks: Mapping[str, RowPrompt]) -> list[Benchmark]:
    return sorted({prompt.benchmark.name: prompt.benchmark for prompt in tasks.values()}.values(), key=lambda b: b.name)


def _judge() -> dict[str, str] | None:
    settings = load_settings()
    if settings is None:
        return None
    return {"model": settings.model, "base_url": settings.base_url, "prompt": prompt_fingerprint()}
