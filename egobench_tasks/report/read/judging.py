"""Judging a saved run of any kind again (`egobench judge RUN`): details of lighteval's, Inspect logs, a journal."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from egobench_tasks.asking.open_settings import DEFAULT_SETTING, category_slug
from egobench_tasks.benchmarks import EGOTEMPO, Benchmark
from egobench_tasks.data import DatasetLocation, locate
from egobench_tasks.errors import InputError
from egobench_tasks.hosts.lighteval.judge_run import JudgedRun, SavedAnswer, judge_answers, read_open_answers
from egobench_tasks.judge.settings import JudgeSettings
from egobench_tasks.judge.store import VerdictStore
from egobench_tasks.report.read.inspect_logs import LOG_SUFFIX
from egobench_tasks.report.read.lighteval_open_reader import find_lighteval_open_runs
from egobench_tasks.report.read.open_reader import OpenRow, answered_runs, judged_items, load_open_rows
from egobench_tasks.report.read.open_responses import OpenTask


def judge_saved(
    path: Path,
    settings: JudgeSettings,
    store: VerdictStore,
    *,
    fresh: bool = False,
    find_dataset: Callable[[Benchmark], DatasetLocation] = locate,
) -> JudgedRun:
    """Judge a run's open answers, asking only for verdicts the store lacks, and write them beside it.

    See `judge_run.judge_run`; a report, a comparison and the browser read them from there. Raises ``InputError`` for a
    path without open answers or with several runs, and for logs and journals as `open_reader.read_open_run` does: what
    they answer is checked against the dataset, which says what they lack.
    """
    return judge_answers(path, _answers(path, find_dataset), settings, store, fresh=fresh)


def _answers(path: Path, find_dataset: Callable[[Benchmark], DatasetLocation]) -> list[SavedAnswer]:
    if not path.exists():
        raise InputError(f"{path}: no such folder or file; give a run's --output-dir, a journal, or Inspect logs")
    if path.is_dir() and find_lighteval_open_runs(path):
        if any(path.glob(f"*{LOG_SUFFIX}")):
            raise InputError(
                f"{path}: holds details of lighteval's and Inspect logs; move either to a folder of its own"
            )
        return read_open_answers(path)
    found = answered_runs(path)
    if not found:
        raise InputError(
            f"{path}: no open answers of {EGOTEMPO.title} here: no details of its tasks (lighteval --save-details "
            "--output-dir DIR), no Inspect log of it, no journal"
        )
    if len(found) > 1:
        names = ", ".join(run.name for run in found)
        raise InputError(f"{path}: holds {len(found)} runs ({names}); give one log, or a folder of each")
    rows = load_open_rows(find_dataset(EGOTEMPO))
    return [answer for task in found[0].tasks for answer in _task_answers(task, rows)]


def _task_answers(task: OpenTask, rows: Mapping[str, OpenRow]) -> Iterator[SavedAnswer]:
    setting = "" if task.setting == DEFAULT_SETTING else f"_{task.setting}"
    for asked, response, item in judged_items(task, rows):
        name = f"{EGOTEMPO.name}{setting}:{category_slug(asked.category)}"
        yield SavedAnswer(name, item, None if response is None else response.verdict, task.judge)
