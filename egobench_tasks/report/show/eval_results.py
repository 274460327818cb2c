"""A finished run as the `.eval_results/*.yaml` files of a model's repository, from which the Hub makes leaderboards.

The form is the Hub's (huggingface_hub's ``EvalResultEntry``); task ids are those of the dataset's ``eval.yaml``.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml

from egobench_tasks import __version__
from egobench_tasks.benchmarks import EGOGEARS, EGOTEMPO, Benchmark
from egobench_tasks.documents import parse_json
from egobench_tasks.errors import InputError
from egobench_tasks.hosts.lighteval.details import count_rows, lost_rows
from egobench_tasks.hosts.lighteval.saved import only_run
from egobench_tasks.hosts.lighteval.saved_task import SavedTask

FOLDER = ".eval_results"
"""The folder of a model's repository that the Hub reads."""

_GEARS_TASK = re.compile(rf"{EGOGEARS.name}:\w+\|\d+")
_TEMPO_TASK = re.compile(rf"{EGOTEMPO.name}:\w+\|\d+")
_HUB_NAME = re.compile(r"[\w.-]+")
_WEB_ADDRESS = re.compile(r"https?://[^\s/]+\S*")
_HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")
_CHOICE_METRIC, _JUDGE_METRIC, _JUDGED, _ANSWERED = "exact_set", "judge_accuracy", "judged", "answered"
_RUN_AGAIN = "run the same command again: answers come from the journal, nothing is generated twice"


@dataclass(frozen=True, slots=True)
class _Task:
    """One task of a run: its scores, its saved config, and how many questions its details hold and lack."""

    name: str
    scores: Mapping[str, float]
    config: Mapping[str, Any]
    judge: str | None
    n_questions: int
    n_lost: int
    date: str
    where: Path


@dataclass(frozen=True, slots=True)
class Source:
    """Where results can be looked at, and which user of the Hub they are of.

    Raises ``InputError`` for a URL that is none.
    """

    url: str | None = None
    user: str | None = None

    def __post_init__(self) -> None:
        if self.url is not None and not _WEB_ADDRESS.fullmatch(self.url):
            raise InputError(f"--source {self.url}: not an address; give one that begins with https://")
        if self.user is not None and not _HUB_NAME.fullmatch(self.user):
            raise InputError(f"--user {self.user}: not a name of the Hub")


_DATASETS_PAGE = Source()


def eval_results(run: Path, *, dataset_id: str | None = None, source: Source = _DATASETS_PAGE) -> dict[str, str]:
    """Return ``{path in the model's repository: YAML}`` of the whole benchmarks that a run has scored.

    ``run`` is what lighteval's ``--output-dir`` named; a task's latest results count. ``dataset_id`` names the
    benchmark's repository for runs over a folder; such results carry no revision. ``source``: by default the
    dataset's page, and no user. EgoGears gives its configs that were
    asked, EgoTempo the mean over its ten categories at the default setting. Values are percents.

    Raises ``InputError`` for several models or settings, a part of a split, questions that were lost, missing verdicts,
    or where the dataset is unknown.
    """
    _check_there_are_details(run)
    files = {}
    gears = [_gears_entry(task, dataset_id, source) for task in _tasks(run, _GEARS_TASK)]
    if gears:
        files[f"{FOLDER}/{EGOGEARS.name}.yaml"] = _yaml(gears)
    tempo = _tasks(run, _TEMPO_TASK)
    if tempo:
        files[f"{FOLDER}/{EGOTEMPO.name}.yaml"] = _yaml([_tempo_entry(tempo, dataset_id, source)])
    if not files:
        raise InputError(f"{run}: holds no results of {EGOGEARS.name} or of {EGOTEMPO.name} at its default setting")
    return files


def _check_there_are_details(run: Path) -> None:
    """Scores without the answers behind them cannot be seen to be whole."""
    if not any((run / "results").glob("**/results_*.json")):
        raise InputError(f"{run}: holds no results; give the folder that --output-dir named")
    if not any((run / "details").glob("**/details_*.parquet")):
        raise InputError(f"{run}: holds results without details; with --save-details, {_RUN_AGAIN}")


def _tasks(run: Path, pattern: re.Pattern[str]) -> list[_Task]:
    """Return the newest results of each task whose name matches, in the order of their config."""
    saved = only_run(run, pattern)
    return [] if saved is None else [_task(run, saved.model, task) for task in saved.tasks.values()]


def _task(run: Path, model: str, task: SavedTask) -> _Task:
    results = run / "results" / model / f"results_{task.date}.json"
    try:
        saved = parse_json(results.read_text(encoding="utf-8"))
        scores, config = saved["results"][task.name], saved["config_tasks"][task.name]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{results}: cannot be read as lighteval's results ({type(error).__name__}: {error})"
        ) from error
    return _Task(
        name=task.name.partition("|")[0],
        scores=scores,
        config=config,
        judge=None if task.judge is None else f"{task.judge.name}, wording {task.judge.wording}",
        n_questions=count_rows(task.details),
        n_lost=len(lost_rows(task.details)),
        date=task.date.partition("T")[0],
        where=results,
    )


def _gears_entry(task: _Task, dataset_id: str | None, source: Source) -> EvalResultEntry:
    config = task.name.partition(":")[2]
    _refuse_a_part(task, EGOGEARS.rows[config])
    value = _percent(_score(task, _CHOICE_METRIC))
    return _entry(
        EGOGEARS, config, value, task, dataset_id, source, notes=f"exact match; {task.config['prompt_function']}"
    )


def _tempo_entry(tasks: list[_Task], dataset_id: str | None, source: Source) -> EvalResultEntry:
    if len(tasks) != len(EGOTEMPO.category_codes):
        raise InputError(f"{tasks[0].where}: {len(tasks)} of {len(EGOTEMPO.category_codes)} categories were asked")
    for task in tasks:
        _refuse_a_part(task, EGOTEMPO.rows_per_category)
        if not _is_judged(task):
            raise InputError(f"{task.where}: {task.name} has answers without a verdict; with a judge, {_RUN_AGAIN}")
    judges = sorted({str(task.judge) for task in tasks})
    if len(judges) > 1:
        raise InputError(f"{tasks[0].where}: the categories were judged by several judges: {'; '.join(judges)}")
    commits = {str(task.config.get("hf_revision")) for task in tasks}
    if len(commits) > 1:
        raise InputError(f"{tasks[0].where}: the categories are of several revisions: {', '.join(sorted(commits))}")
    value = _percent(math.fsum(_score(task, _JUDGE_METRIC) for task in tasks) / len(tasks))
    first = tasks[0]
    notes = f"judged by a model: {first.judge}; {first.config['prompt_function'].rpartition(', dataset')[0]})"
    return _entry(EGOTEMPO, EGOTEMPO.name, value, first, dataset_id, source, notes=notes)


def _is_judged(task: _Task) -> bool:
    """Whether a judge has given a verdict on every answer; where the model gave none there is nothing to judge."""
    return math.isclose(_score(task, _JUDGED), task.scores.get(_ANSWERED, 1.0), abs_tol=1e-9)


def _refuse_a_part(task: _Task, n_published: int) -> None:
    if task.n_questions != n_published:
        raise InputError(
            f"{task.where}: {task.name} was asked {task.n_questions} of {n_published} questions; "
            "a leaderboard takes whole splits (merge shards with `egobench merge`)"
        )
    if task.n_lost:
        raise InputError(
            f"{task.where}: {task.name}: {task.n_lost} of {n_published} questions have no answer for reasons that are "
            "not the model's (a failed request, no clip); a leaderboard takes whole splits. Run the same command "
            "again: those alone are asked"
        )


def _score(task: _Task, metric: str) -> float:
    if metric not in task.scores:
        raise InputError(f"{task.where}: {task.name} has no {metric}; was it run by another version? {_RUN_AGAIN}")
    return float(task.scores[metric])


def _percent(share: float) -> float:
    return round(100 * share, 2)


def _entry(
    benchmark: Benchmark, task_id: str, value: float, task: _Task, dataset_id: str | None, source: Source, *, notes: str
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
        source_url=source.url or f"https://huggingface.co/datasets/{dataset}",
        source_name=f"egobench {__version__}",
        source_user=source.user,
        notes=notes,
    )


def _yaml(entries: list[EvalResultEntry]) -> str:
    return yaml.safe_dump(eval_result_entries_to_yaml(entries), sort_keys=False, allow_unicode=True, width=120)
