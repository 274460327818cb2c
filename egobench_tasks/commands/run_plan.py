"""Several models' runs, one after another, each in a process of its own: one that fails does not lose the others."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from egobench_tasks import stopping
from egobench_tasks.files import make_folder, write_atomically
from egobench_tasks.judge.settings import CONFIG_VARIABLE

_LOOK_S = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRun:
    """One model's part. ``arguments``: of `egobench run`, but for the model itself, ``model``.

    ``settings``: the model's settings where they stand in the file itself; they are written beside its results.
    """

    name: str
    kind: str
    model: str
    arguments: tuple[str, ...]
    folder: Path
    settings: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan:
    """All that a file says: the models in their order, the judge's settings, where the report goes (None: none)."""

    models: tuple[ModelRun, ...]
    output: Path
    judge: Mapping[str, Any] | str | None = None
    report: Path | None = None
    dry_run: bool = False


def run_plan(plan: RunPlan) -> int:
    """Run the models one after another, then write the report; return 1 where one of them failed, else 0.

    Raises `Stopped` where SIGTERM ended the model that was at work; no further one begins.
    """
    failures: dict[str, int] = {}
    environment = {**os.environ, **_judge_variable(plan)}
    for number, model in enumerate(plan.models, 1):
        print(f"model {number} of {len(plan.models)}: {model.name}", file=sys.stderr, flush=True)
        stopping.check()
        code = _exit_code(command_of(model), environment)
        stopping.check()
        if code:
            failures[model.name] = code
    n_done = len(plan.models) - len(failures)
    if plan.report is not None and not plan.dry_run:
        code = _write_report(plan)
        if code:
            failures["report"] = code
    said = ", ".join(f"{name} (exit code {code})" for name, code in failures.items())
    print(f"{n_done} of {len(plan.models)} models ran to their end" + (f"; not {said}" if said else ""))
    if failures:
        print("next: the same command, which asks for what is missing and nothing else")
    elif plan.report is None and not plan.dry_run:
        print(f"next: egobench report {' '.join(str(model.folder) for model in plan.models)}")
    return 1 if failures else 0


def _exit_code(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run a command to its end. SIGTERM is handed on to it once, and it ends at its next question."""
    with subprocess.Popen(command, env=environment) as process:
        while not stopping.is_asked():
            with suppress(subprocess.TimeoutExpired):
                return process.wait(_LOOK_S)
        process.terminate()
        return process.wait()


def command_of(model: ModelRun) -> list[str]:
    """Return the command line of one model's run; its settings are written where they stand in the run's file."""
    given = model.model
    if model.settings is not None:
        written = model.folder / f"{model.kind}.yaml"
        make_folder(model.folder)
        _write_json(written, model.settings)
        given = str(written)
    return [sys.executable, "-m", "egobench_tasks.cli", "run", model.kind, given, *model.arguments]


def _write_report(plan: RunPlan) -> int:
    """One report of all models that have results, those of an earlier run included; return its exit code."""
    folders = [str(model.folder) for model in plan.models if any(model.folder.rglob("details_*.parquet"))]
    command = [sys.executable, "-m", "egobench_tasks.cli", "report", *folders, "--out", str(plan.report)]
    if not folders:
        return 0
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    print(done.stdout.partition("\n")[0])  # the page; the other files lie beside it
    return done.returncode


def _judge_variable(plan: RunPlan) -> dict[str, str]:
    if plan.judge is None:
        return {}
    if isinstance(plan.judge, str):
        return {CONFIG_VARIABLE: plan.judge}
    make_folder(plan.output)
    _write_json(plan.output / "judge.yaml", plan.judge)
    return {CONFIG_VARIABLE: str(plan.output / "judge.yaml")}


def _write_json(path: Path, values: Mapping[str, Any]) -> None:
    with write_atomically(path) as file:
        file.write((json.dumps(values, indent=1, ensure_ascii=False) + "\n").encode())
