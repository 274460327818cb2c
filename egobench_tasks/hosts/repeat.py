"""The command that makes a run again, and what is different here from where it was made."""

import shlex
from dataclasses import asdict
from pathlib import Path
from typing import Any

from egobench_tasks.asking.open import find_category, rows_of_category
from egobench_tasks.benchmarks import EGOTEMPO
from egobench_tasks.data import DatasetLocation, fingerprint, load_rows
from egobench_tasks.errors import InputError
from egobench_tasks.frames.decode import decoder_version
from egobench_tasks.runs.circumstances import library_versions, our_environment, this_machine, this_package
from egobench_tasks.runs.differences import differing
from egobench_tasks.runs.journal import FRESH_VARIABLE
from egobench_tasks.runs.record import RECORD_NAME, AskedTask, Machine, RunRecord, read_record, read_records
from egobench_tasks.runs.repeats import REPEATS_VARIABLE
from egobench_tasks.runs.shards import SHARD_VARIABLE

_SET_BY_OPTION = {SHARD_VARIABLE: "--shard", FRESH_VARIABLE: "--fresh", REPEATS_VARIABLE: "--repeats"}


def find_record(run: Path) -> RunRecord:
    """Return the record that a path names: a ``run.json``, or the newest run's of an ``--output-dir``.

    Raises ``InputError`` where there is none.
    """
    if run.is_file():
        return read_record(run)
    records = read_records(run)
    if not records:
        raise InputError(f"{run}: holds no {RECORD_NAME}; was it made by an earlier version, or is it another folder?")
    return records[-1]


def command_of(record: RunRecord) -> str:
    """Return one line for a shell: folder, variables, and the command as it was given."""
    variables = [
        f"{name}={shlex.quote(value)}"
        for name, value in record.environment.items()
        if _SET_BY_OPTION.get(name, "") not in record.command
    ]
    command = list(record.command)
    if record.machine.n_processes > 1 and command[0] == "egobench":
        launch = f"accelerate launch --num_processes {record.machine.n_processes} -m egobench_tasks.cli"
        command = [*launch.split(), *command[1:]]
    return f"cd {shlex.quote(record.folder)} && {' '.join([*variables, shlex.join(command)])}"


def differences_here(record: RunRecord) -> list[str]:
    """Return what is different here, a line each: versions, machine, variables, decoder, datasets."""
    lines = []
    for what, there, here in (
        ("egobench's ", asdict(record.package), asdict(this_package())),
        ("", record.libraries, library_versions()),
        ("", record.decoding, {"libavcodec": decoder_version()}),
        ("machine's ", _machine(record.machine), _machine(this_machine())),
        ("variable ", record.environment, our_environment()),
    ):
        lines += [
            f"{what}{name}: {there.get(name, 'none')} there, {here.get(name, 'none')} here"
            for name in differing(there, here)
            if name not in _SET_BY_OPTION
        ]
    return [*lines, *filter(None, map(_dataset_difference, record.tasks))]


def _machine(machine: Machine) -> dict[str, Any]:
    """What can be known of a machine without torch."""
    return {name: value for name, value in asdict(machine).items() if name not in ("gpus", "n_processes")}


def _dataset_difference(task: AskedTask) -> str | None:
    name, _, part = task.name.partition("|")[0].partition(":")
    opened = name.startswith(EGOTEMPO.name)
    try:
        rows = load_rows(DatasetLocation(task.dataset, task.revision), EGOTEMPO.config if opened else part)
        here = fingerprint(rows_of_category(rows, find_category(part)) if opened else rows)
    except InputError as error:
        return f"{task.name}: its dataset is not here: {error}"
    return None if here == task.fingerprint else f"{task.name}: dataset {task.fingerprint} there, {here} here"
