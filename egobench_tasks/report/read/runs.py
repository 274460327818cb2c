"""From the paths a user gives to runs with distinct names."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from egobench_tasks.errors import InputError
from egobench_tasks.report.read.inspect_reader import find_inspect_runs
from egobench_tasks.report.read.journal_reader import find_journal_run
from egobench_tasks.report.read.lighteval_reader import find_lighteval_runs, has_results_only
from egobench_tasks.report.read.open_reader import find_open_runs
from egobench_tasks.report.read.open_responses import OpenRun
from egobench_tasks.report.read.responses import Run


@dataclass(frozen=True, slots=True)
class Found:
    """The runs under a user's paths: of EgoGears, and of EgoTempo. A model may have one of each."""

    choice: tuple[Run, ...]
    open: tuple[OpenRun, ...]


def find_runs(paths: Sequence[Path]) -> Found:
    """Find the runs under each path, in the order given.

    A path is a folder given to lighteval's ``--output-dir``, a journal's folder, or an Inspect log
    or a folder of them. Raises ``InputError`` for a path that is missing, given twice, or without a
    run of ours.
    """
    repeated = [str(path) for path, count in Counter(path.resolve() for path in paths).items() if count > 1]
    if repeated:
        raise InputError(f"{repeated[0]} is given twice; every run counts once")
    parts = [_runs_at(path) for path in paths]
    choice = [run for part in parts for run in part.choice]
    opened = [run for part in parts for run in part.open]
    return Found(
        tuple(replace(run, name=name) for run, name in zip(choice, _distinct(choice), strict=True)),
        tuple(replace(run, name=name) for run, name in zip(opened, _distinct(opened), strict=True)),
    )


def _runs_at(path: Path) -> Found:
    if not path.exists():
        raise InputError(f"{path}: no such folder or file; give the folder that lighteval's --output-dir named")
    choice = find_inspect_runs(path)
    opened = find_open_runs(path)
    if path.is_dir():
        choice += find_lighteval_runs(path)
        if not choice and not opened and (journalled := find_journal_run(path)):
            choice.append(journalled)
    if not choice and not opened:
        raise InputError(_nothing_at(path))
    return Found(tuple(choice), tuple(opened))


def _nothing_at(path: Path) -> str:
    if has_results_only(path):
        return (
            f"{path}: holds lighteval's results without details; run again with --save-details "
            "(answers come from the journal, nothing is generated twice)"
        )
    return (
        f"{path}: holds no answers of egobench's tasks: no details/<model>/<date>/details_ego*.parquet "
        "(lighteval --output-dir DIR --save-details), no journal (*.jsonl), no Inspect log (*.eval)"
    )


def _distinct(runs: Sequence[Run | OpenRun]) -> list[str]:
    """Name runs of one name by their folders too, by as many parts of the path as it takes."""
    names = [run.name for run in runs]
    folders = [run.folder.resolve().parts for run in runs]
    for n_parts in range(1, max(map(len, folders), default=0) + 1):
        counts = Counter(names)
        if len(counts) == len(names):
            break
        names = [
            f"{run.name} ({'/'.join(folder[-n_parts:])})" if counts[name] > 1 else name
            for run, folder, name in zip(runs, folders, names, strict=True)
        ]
    return names
