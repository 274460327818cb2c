"""SIGTERM to `egobench run FILE.yaml` reaches the model that is at work, and no further one begins."""

import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

from egobench_tasks.commands import run_plan as module
from egobench_tasks.commands.run_plan import ModelRun, RunPlan, run_plan
from egobench_tasks.stopping import Stopped, ending_on_sigterm

MODEL = """
import pathlib, signal, sys, time
def end(number, frame):
    pathlib.Path(sys.argv[1] + ".ended").touch()
    sys.exit(75)
signal.signal(signal.SIGTERM, end)
pathlib.Path(sys.argv[1] + ".begun").touch()
time.sleep(60)
"""


def test_sigterm_ends_the_model_at_work_and_begins_no_other(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "command_of", lambda model: [sys.executable, "-c", MODEL, str(model.folder)])
    models = tuple(
        ModelRun(name=name, kind="endpoint", model="m.yaml", arguments=(), folder=tmp_path / name) for name in "ab"
    )

    def end_once_begun():
        deadline_s = time.monotonic() + 30
        while not Path(tmp_path / "a.begun").exists() and time.monotonic() < deadline_s:
            time.sleep(0.02)
        os.kill(os.getpid(), signal.SIGTERM)

    with ending_on_sigterm():
        threading.Thread(target=end_once_begun, daemon=True).start()
        with pytest.raises(Stopped) as stopped:
            run_plan(RunPlan(models=models, output=tmp_path))
    assert stopped.value.exit_code == 75
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.begun", "a.ended"]
