"""An endpoint is asked while lighteval is imported, the same questions, and nothing before all is found right."""

import os
import signal
import subprocess
import sys

import pytest

from tests.hosts.endpoint.conftest import wait_until

HEAVY = ("torch", "transformers", "sklearn", "inspect_ai", "lighteval.pipeline")

WAITING_FOR_LIGHTEVAL = """
import builtins, sys, time
from pathlib import Path

stock = builtins.__import__

def waiting(name, *arguments, **named):
    if name == "egobench_tasks.hosts.lighteval.endpoint":
        Path("waits").touch()
        while not Path("go").exists():
            time.sleep(0.01)
    return stock(name, *arguments, **named)

builtins.__import__ = waiting
from egobench_tasks import cli
sys.argv = ["egobench", *sys.argv[1:]]
cli.main()
"""
"""An `egobench` in which lighteval takes as long to import as a test wants."""


@pytest.fixture
def slow_import(sample_folder, tmp_path):
    """``slow_import(*arguments)``: such a process, which waits for lighteval in ``tmp_path`` until ``go`` is there."""
    started = []

    def start(*arguments):
        environment = {
            **os.environ,
            "EGOGEARS_DATA": str(sample_folder / "egogears"),
            "EGOBENCH_JOURNAL": str(tmp_path / "journal"),
        }
        command = [sys.executable, "-c", WAITING_FOR_LIGHTEVAL, *map(str, arguments)]
        started.append(
            subprocess.Popen(
                command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
            )
        )
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()


def test_what_asks_first_imports_nothing_that_takes_seconds():
    code = (
        "import sys, egobench_tasks.hosts.lighteval.endpoint_run\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.slow
def test_all_is_asked_before_lighteval_is_there_and_the_run_ends_as_ever(oracle_server, config, slow_import, tmp_path):
    process = slow_import("run", "endpoint", config(), "egogears", "--output-dir", "out")
    wait_until(lambda: len(oracle_server.asked) == 12 and (tmp_path / "waits").exists())
    (tmp_path / "go").touch()
    output, _ = process.communicate(timeout=120)
    assert process.returncode == 0, output
    assert output.count("12 to ask m at http") == 1 and len(oracle_server.asked) == 12
    assert list((tmp_path / "out").rglob("results_*.json"))


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 75), (signal.SIGINT, 130)])
def test_a_signal_during_the_import_ends_the_run_and_keeps_what_is_answered(
    oracle_server, config, slow_import, tmp_path, number, code
):
    right = oracle_server.script

    def slow(request, n):
        say = right(request, n)
        say.delay_s = 0.3
        return say

    oracle_server.script = slow
    process = slow_import("run", "endpoint", config(concurrency=1), "egogears", "--output-dir", "out")
    wait_until(lambda: len(oracle_server.asked) >= 2 and (tmp_path / "waits").exists())
    process.send_signal(number)
    if number == signal.SIGTERM:  # it is looked at once the import is over
        (tmp_path / "go").touch()
    output, _ = process.communicate(timeout=120)
    assert process.returncode == code, output
    assert "Traceback" not in output
    assert 2 <= len(oracle_server.asked) < 12
    assert not list((tmp_path / "out").rglob("results_*.json"))


@pytest.mark.parametrize(
    ("tasks", "options"),
    [
        ("egogears|3", []),
        ("leaderboard|egogears|0", []),
        ("egogears", ["--output-dir", "s3://bucket/out"]),
        ("egogears", ["--push-to-hub"]),
    ],
)
def test_what_lighteval_alone_can_check_is_left_to_it(tasks, options):
    from egobench_tasks.hosts.lighteval.early import can_start_early
    from egobench_tasks.hosts.lighteval.options import parse_lighteval_options

    parsed = parse_lighteval_options(options, "test")
    assert not can_start_early(tasks, parsed, {})
    assert can_start_early("egogears|0", parse_lighteval_options([], "test"), {})


def test_an_error_while_asking_is_raised_where_the_answers_are_waited_for(server, settings, questions):
    import asyncio

    from egobench_tasks.errors import EgobenchError
    from egobench_tasks.hosts.endpoint.ahead import AskingAhead
    from egobench_tasks.hosts.endpoint.questions import EndpointAnswers

    server.sight = lambda request, n: server.say(server.completion("blind"))  # as many tokens with and without
    with (
        AskingAhead(EndpointAnswers(settings()), questions(2)) as ahead,
        pytest.raises(EgobenchError, match="ignores images"),
    ):
        asyncio.run(ahead.unanswered())
    assert server.asked == []


def test_leaving_with_an_error_ends_the_asking(server, settings, questions):
    from egobench_tasks.hosts.endpoint.ahead import AskingAhead
    from egobench_tasks.hosts.endpoint.questions import EndpointAnswers

    right = server.script

    def slow(request, n):
        say = right(request, n)
        say.delay_s = 0.3
        return say

    server.script = slow
    with pytest.raises(KeyboardInterrupt), AskingAhead(EndpointAnswers(settings(concurrency=1)), questions(20)):
        wait_until(lambda: len(server.asked) >= 2)
        raise KeyboardInterrupt
    assert len(server.asked) < 20


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tasks", "options"),
    [("egogears", []), ("probes", ["--max-samples", "2"]), ("egogears:multi|0,egogears_blind", ["--max-samples", "3"])],
)
def test_they_are_lightevals_own_questions(sample_folder, settings, monkeypatch, tasks, options):
    from egobench_tasks.hosts.endpoint.questions import EndpointAnswers
    from egobench_tasks.hosts.lighteval.early import can_start_early, early_questions
    from egobench_tasks.hosts.lighteval.endpoint import EndpointModel, endpoint_question
    from egobench_tasks.hosts.lighteval.offline import as_task_names
    from egobench_tasks.hosts.lighteval.options import parse_lighteval_options
    from egobench_tasks.hosts.lighteval.repeats import with_repeats
    from egobench_tasks.hosts.lighteval.run import make_pipeline

    monkeypatch.setenv("EGOGEARS_DATA", str(sample_folder / "egogears"))
    monkeypatch.setenv("EGOBENCH_REPEATS", "2")
    names = as_task_names(tasks)
    parsed = parse_lighteval_options(options, "test")
    assert can_start_early(names, parsed)
    early = early_questions(names, parsed)
    pipeline = make_pipeline(names, EndpointModel(settings()), parsed)
    docs = [doc for docs in pipeline.documents_dict.values() for doc in docs]
    late = [endpoint_question(doc) for doc in with_repeats(docs, 2)]
    answers = EndpointAnswers(settings())
    assert answers.keys(early) == answers.keys(late)
    assert len(early) == len(late)
