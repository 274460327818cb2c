"""A finished run as the `.eval_results/*.yaml` files of a model's repository, from which the Hub makes leaderboards.

The form is the Hub's (huggingface_hub's ``EvalResultEntry``); task ids are those of the dataset's ``eval.yaml``.
"""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import yaml
from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml

from egobench_tasks import __version__
from egobench_tasks.benchmarks import EGOGEARS, EGOTEMPO, Benchmark
from egobench_tasks.errors import InputError

FOLDER = ".eval_results"
"""The folder of a model's repository that the Hub reads."""

_RESULTS_NAME = re.compile(r"results_(?P<date>\d{4}-\d\d-\d\d)T.+\.json")
_HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")
_CHOICE_METRIC, _JUDGE_METRIC, _JUDGED = "exact_set", "judge_accuracy", "judged"
_RUN_AGAIN = "run the same command again: answers come from the journal, nothing is generated twice"


@dataclass(frozen=True, slots=True)
class _Task:
    """One task of a results file: its scores, its saved config, and how many questions its details hold."""

    name: str
    scores: Mapping[str, float]
    config: Mapping[str, Any]
    n_questions: int
    date: str
    where: Path


def eval_results(run: Path, *, dataset_id: str | None = None) -> dict[str, str]:
    """Return ``{path in the model's repository: YAML}`` of the whole benchmarks that a run has scored.

    ``run`` is what lighteval's ``--output-dir`` named; a task's latest results count. ``dataset_id`` names the
    benchmark's repository for runs over a folder; such results carry no revision. EgoGears gives its configs that were
    asked, EgoTempo the mean over its ten categories at the default setting. Values are percents.

    Raises ``InputError`` for several models, a part of a split, missing verdicts, or where the dataset is unknown.
    """
    tasks = _read_tasks(run)
    files = {}
    gears = [_gears_entry(task, dataset_id) for name, task in tasks.items() if name.startswith(f"{EGOGEARS.name}:")]
    if gears:
        files[f"{FOLDER}/{EGOGEARS.name}.yaml"] = _yaml(gears)
    tempo = [task for name, task in tasks.items() if name.startswith(f"{EGOTEMPO.name}:")]
    if tempo:
        files[f"{FOLDER}/{EGOTEMPO.name}.yaml"] = _yaml([_tempo_entry(tempo, dataset_id)])
    if not files:
        raise InputError(f"{run}: holds no results of {EGOGEARS.name} or of {EGOTEMPO.name} at its default setting")
    return files


def _read_tasks(run: Path) -> dict[str, _Task]:
    """Return each task's latest results, by name without the number of shots."""
    paths = sorted((run / "results").glob("**/results_*.json"), key=lambda path: path.name)
    if not paths:
        raise InputError(f"{run}: holds no results; give the folder that --output-dir named")
    models = sorted({path.parent.relative_to(run / "results").as_posix() for path in paths})
    if len(models) > 1:
        raise InputError(f"{run}: holds results of several models ({', '.join(models)}); each has a repository")
    tasks = {}
    for path in paths:
        match = _RESULTS_NAME.fullmatch(path.name)
        if match is None:
            continue
        for task in _tasks_of(run, path, match["date"]):
            tasks[task.name] = task
    return tasks


def _tasks_of(run: Path, path: Path, date: str) -> list[_Task]:
    try:
        saved = json.loads(path.read_text(encoding="utf-8"))
        return [
            _Task(full.partition("|")[0], saved["results"][full], config, _n_questions(run, path, full), date, path)
            for full, config in saved["config_tasks"].items()
            if full.startswith((f"{EGOGEARS.name}:", f"{EGOTEMPO.name}:"))
        ]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path}: cannot be read as lighteval's results ({type(error).__name__}: {error})") from error


def _n_questions(run: Path, results: Path, task: str) -> int:
    """Count the questions in the details beside a results file."""
    model = results.parent.relative_to(run / "results")
    date = results.stem.removeprefix("results_")
    details = run / "details" / model / date / f"details_{task}_{date}.parquet"
    try:
        return int(pq.read_metadata(details).num_rows)
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"{details}: cannot be read; with --save-details, {_RUN_AGAIN}") from error


def _gears_entry(task: _Task, dataset_id: str | None) -> EvalResultEntry:
    config = task.name.partition(":")[2]
    _refuse_a_part(task, EGOGEARS.rows[config])
    value = _percent(_score(task, _CHOICE_METRIC))
    return _entry(EGOGEARS, config, value, task, dataset_id, notes=f"exact match; {task.config['prompt_function']}")


def _tempo_entry(tasks: list[_Task], dataset_id: str | None) -> EvalResultEntry:
    if len(tasks) != len(EGOTEMPO.category_codes):
        raise InputError(f"{tasks[0].where}: {len(tasks)} of {len(EGOTEMPO.category_codes)} categories were asked")
    for task in tasks:
        _refuse_a_part(task, EGOTEMPO.rows_per_category)
        if _score(task, _JUDGED) != 1:
            raise InputError(f"{task.where}: {task.name} has answers without a verdict; with a judge, {_RUN_AGAIN}")
    commits = {str(task.config.get("hf_revision")) for task in tasks}
    if len(commits) > 1:
        raise InputError(f"{tasks[0].where}: the categories are of several revisions: {', '.join(sorted(commits))}")
    value = _percent(math.fsum(_score(task, _JUDGE_METRIC) for task in tasks) / len(tasks))
    first = tasks[0]
    notes = f"judged by a model: {_judge(first)}; {first.config['prompt_function'].rpartition(', dataset')[0]})"
    return _entry(EGOTEMPO, EGOTEMPO.name, value, first, dataset_id, notes=notes)


def _judge(task: _Task) -> str:
    """What the metric printed of itself: the judge and its prompt."""
    for metric in task.config.get("metrics", ()):
        if metric.get("metric_name") == _JUDGE_METRIC:
            return str(metric.get("sample_level_fn"))
    return "unknown"


def _refuse_a_part(task: _Task, n_published: int) -> None:
    if task.n_questions != n_published:
        raise InputError(
            f"{task.where}: {task.name} was asked {task.n_questions} of {n_published} questions; "
            "a leaderboard takes whole splits (merge shards with `egobench merge`)"
        )


def _score(task: _Task, metric: str) -> float:
    if metric not in task.scores:
        raise InputError(f"{task.where}: {task.name} has no {metric}; was it run by another version? {_RUN_AGAIN}")
    return float(task.scores[metric])


def _percent(share: float) -> float:
    return round(100 * share, 2)


def _entry(
    benchmark: Benchmark, task_id: str, value: float, task: _Task, dataset_id: str | None, *, notes: str
) -> EvalResultEntry:
    from_hub = task.config.get("hf_revision") is not None and _HUB_ID.fullmatch(str(task.config.get("hf_repo")))
    dataset = task.config["hf_repo"] if from_hub else dataset_id or benchmark.hub_id
    if dataset is None:
        raise InputError(f"{task.where}: {task.name} was run over a folder; name the benchmark's dataset id, ORG/NAME")
    return EvalResultEntry(
        dataset_id=dataset,
        task_id=task_id,
        value=value,
        dataset_revision=task.config["hf_revision"] if from_hub else None,
        date=task.date,
        source_url=f"https://huggingface.co/datasets/{dataset}",
        source_name=f"egobench {__version__}",
        notes=notes,
    )


def _yaml(entries: list[EvalResultEntry]) -> str:
    return yaml.safe_dump(eval_result_entries_to_yaml(entries), sort_keys=False, allow_unicode=True, width=120)
