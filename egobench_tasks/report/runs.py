"""From the paths a user gives to runs with distinct names."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from egobench_tasks.errors import InputError
from egobench_tasks.report.inspect_reader import find_inspect_runs
from egobench_tasks.report.journal_reader import find_journal_run
from egobench_tasks.report.lighteval_reader import find_lighteval_runs
from egobench_tasks.report.responses import Run


def find_runs(paths: Sequence[Path]) -> list[Run]:
    """Find the runs under each path, in the order given.

    A path is a folder given to lighteval's ``--output-dir``, a journal's folder, or an Inspect log
    or a folder of them. Raises ``InputError`` for a path that is missing, given twice, or without a
    run of ours.
    """
    repeated = [str(path) for path, count in Counter(path.resolve() for path in paths).items() if count > 1]
    if repeated:
        raise InputError(f"{repeated[0]} is given twice; every run counts once")
    return _distinct([run for path in paths for run in _runs_at(path)])


def _runs_at(path: Path) -> list[Run]:
    if not path.exists():
        raise InputError(f"{path}: no such folder or file; give the folder that lighteval's --output-dir named")
    runs = find_inspect_runs(path)
    if path.is_dir():
        runs += find_lighteval_runs(path)
        if not runs and (journalled := find_journal_run(path)):
            runs.append(journalled)
    if not runs:
        raise InputError(
            f"{path}: holds no answers of egobench's tasks: no details/<model>/<date>/details_egogears*.parquet "
            "(lighteval --output-dir DIR --save-details), no journal (*.jsonl), no Inspect log (*.eval)"
        )
    return runs


def _distinct(runs: Sequence[Run]) -> list[Run]:
    """Two runs of one model are told apart by their folders, by as many parts of the path as it takes."""
    names = [run.name for run in runs]
    for n_parts in range(1, max((len(run.folder.resolve().parts) for run in runs), default=0) + 1):
        counts = Counter(names)
        if max(counts.values(), default=0) <= 1:
            break
        names = [
            f"{run.name} ({'/'.join(run.folder.resolve().parts[-n_parts:])})" if counts[name] > 1 else name
            for run, name in zip(runs, names, strict=True)
        ]
    return [replace(run, name=name) for run, name in zip(runs, names, strict=True)]
