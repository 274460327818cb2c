"""Inspect's own command line finds our tasks by name, and asks a server for the answers.

Not its mock model: that one downloads a tokenizer.
"""

import json

import pytest

pytestmark = pytest.mark.slow


@pytest.fixture
def inspect_eval(server, run_program, tmp_path):
    """``inspect_eval("egotempo", setting="text", EGOTEMPO_DATA=…)``: the log of `inspect eval`."""

    def run(task, *options, arguments, **environment):
        run_program(
            "inspect", "eval", f"egobench_tasks/{task}", *options,
            *[part for argument in arguments for part in ("-T", argument)],
            "--model", "openai-api/test/m", "--model-base-url", server.url,
            "--display", "plain", "--log-dir", tmp_path / "logs", "--log-format", "json",
            TEST_API_KEY="none", **environment,
        )  # fmt: skip
        (path,) = (tmp_path / "logs").glob("*.json")
        assert "base64," not in path.read_text()
        log = json.loads(path.read_text())
        assert (log["status"], log["eval"]["task"]) == ("success", f"egobench_tasks/{task}")
        return log

    return run


def test_egogears_with_fewer_frames(inspect_eval, server, sample_folder):
    log = inspect_eval(
        "egogears_multi", "--limit", "1", arguments=["frames=8"], EGOGEARS_DATA=str(sample_folder / "egogears")
    )
    assert "count=8" in log["eval"]["metadata"]["frames"]
    assert len(server.requests) == 1


def test_egotempo_in_one_setting_and_category(inspect_eval, server, egotempo):
    log = inspect_eval(
        "egotempo", arguments=["setting=f4", "category=locating_object"], EGOTEMPO_DATA=str(egotempo.folder)
    )
    assert [len(server.parts_of(request)) for request in server.requests] == [5, 5]
    assert len(log["samples"]) == 2
