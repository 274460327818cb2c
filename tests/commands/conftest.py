"""Real command lines, ours and lighteval's own, each in a process forked from one that has imported lighteval."""

import json
import subprocess
import sys

import pytest

FORKING = """
import importlib, json, os, sys
import lighteval.__main__, lighteval.pipeline
import egobench_tasks.cli

def call(job):
    for name, value in job["environment"].items():
        os.environ.pop(name, None)
        if value is not None:
            os.environ[name] = value
    os.chdir(job["folder"])
    output = os.open(job["output"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(output, 1)
    os.dup2(output, 2)
    sys.argv = job["command"]
    for name in job["hidden"]:
        sys.modules[name] = None  # importing it fails as if it were not installed
    try:
        app = egobench_tasks.cli.main if job["command"][0] == "egobench" else lighteval.__main__.app
        app()
    except SystemExit as ended:
        return ended.code or 0
    except BaseException:
        sys.excepthook(*sys.exc_info())  # as the interpreter does at the end of a program
        return 1
    return 0

for line in sys.stdin:
    process = os.fork()
    if process == 0:
        code = call(json.loads(line))
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), flush=True)
"""


class Commands:
    """``commands(*words, hidden=…, **environment)``: the exit code and all that a command printed."""

    def __init__(self, folder):
        self._parent = subprocess.Popen(
            [sys.executable, "-c", FORKING], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.folder = folder
        self.environment = {}

    def __call__(self, *words, folder=None, hidden=(), **environment):
        output = self.folder / "output.txt"
        job = {
            "command": [str(word) for word in words],
            "folder": str(folder or self.folder),
            "output": str(output),
            "hidden": list(hidden),
            "environment": {**self.environment, **environment},
        }
        self._parent.stdin.write(json.dumps(job) + "\n")
        self._parent.stdin.flush()
        code = int(self._parent.stdout.readline())
        text = output.read_text()
        output.unlink()
        return code, text

    def close(self):
        self._parent.stdin.close()
        self._parent.wait(timeout=30)


@pytest.fixture(scope="session")
def _commands(tmp_path_factory):
    started = Commands(tmp_path_factory.mktemp("commands"))
    yield started
    started.close()


@pytest.fixture
def commands(_commands, sample_folder, tmp_path):
    """`Commands` in a folder and with a journal of the test's own, over the sample benchmark."""
    _commands.folder = tmp_path
    _commands.environment = {
        "EGOGEARS_DATA": str(sample_folder / "egogears"),
        "EGOTEMPO_DATA": None,
        "EGOBENCH_CHOICES": None,
        "EGOBENCH_JOURNAL": str(tmp_path / "journal"),
        "COLUMNS": "100",
    }
    return _commands
