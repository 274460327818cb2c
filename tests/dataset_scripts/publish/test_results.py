"""`egobench results --push`: a pull request with the scores, on a Hub over HTTP; nothing of the repository changes."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "report"))
from saved_runs import gears_run

_PUSH = """
import sys
from dataset_scripts.publish.results import open_pull_request
from egobench_tasks.errors import EgobenchError
try:
    print(open_pull_request({".eval_results/egogears.yaml": "- value: 25.0\\n"}, sys.argv[1], description="measured"))
except EgobenchError as error:
    print(error, file=sys.stderr)
    sys.exit(error.exit_code)
"""


def test_results_come_as_a_pull_request_and_change_nothing_before_it_is_merged(hub, hub_python, model_repository):
    done = hub_python(_PUSH, "org/model")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == f"{hub.url}/org/model/discussions/1"
    assert list(hub.files("org/model")) == ["README.md"]
    assert hub.files("org/model", "refs/pr/1")[".eval_results/egogears.yaml"] == b"- value: 25.0\n"
    assert all(not path.startswith("/api/datasets") for _, path in hub.requests)


@pytest.mark.parametrize(
    ("repo_id", "environment", "says", "code"),
    [
        ("org/nothing", {}, "org/nothing", 1),
        ("org/model", {"HF_TOKEN": ""}, "hf auth login", 2),
        ("org/model", {"HF_HUB_OFFLINE": "1"}, "HF_HUB_OFFLINE", 1),
        ("not an id", {}, "--push", 2),
    ],
)
def test_what_the_hub_refuses_is_one_message(
    hub_python, hub_environment, model_repository, repo_id, environment, says, code
):
    done = hub_python(_PUSH, repo_id, **environment)
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert hub_environment["HF_TOKEN"] not in done.stderr
    assert done.returncode == code


@pytest.mark.slow
def test_the_command_pushes_a_whole_run(hub, hub_program, model_repository, tmp_path):
    run = gears_run(tmp_path / "run")
    done = hub_program(
        "egobench", "results", "--run", run, "--push", "org/model", "--source", "https://x.org/logs", "--user", "ann"
    )
    assert f"{hub.url}/org/model/discussions/1" in done.stdout
    assert "Hub has the benchmark on its list" in done.stdout
    text = hub.files("org/model", "refs/pr/1")[".eval_results/egogears.yaml"].decode()
    assert "https://x.org/logs" in text
    assert "ann" in text
