"""SIGTERM ends runs and judges at the next question: what is kept is said, and the same command goes on."""

import os
import re
import signal
import time

import pytest

from egobench_tasks.runs.journal import Journal
from tests.hosts.egotempo.test_judge_run import write_run
from tests.hosts.endpoint.conftest import wait_until

pytestmark = pytest.mark.slow


def kept_in(journal):
    return [answer.key for folder in journal.glob("*") for answer in Journal(folder).answers().values()]


def lines_of(journal):
    """Every answer ever written down, also one that was given twice."""
    paths = journal.glob("*/*.jsonl")
    return [answer.key for path in paths for answer in Journal(path.parent).by_session()[path.stem]]


def ended(runs, process):
    """Send SIGTERM; returns the exit code, the seconds that the end took, and what was printed."""
    started_s = time.monotonic()
    os.kill(process, signal.SIGTERM)
    code = runs.wait()
    return code, time.monotonic() - started_s, runs.printed()


def told(output):
    """(how many are kept, of how many) by the last line."""
    said = re.search(r"egobench: ended on SIGTERM: (\d+) of (\d+) \w+ are kept in \S+; the same command goes", output)
    assert said and "Traceback" not in output, output[-2000:]
    return int(said[1]), int(said[2])


def test_a_run_of_an_endpoint_finishes_what_is_under_way_and_goes_on_later(oracle_server, config, runs, tmp_path):
    right = oracle_server.script

    def slow(request, n):
        say = right(request, n)
        say.delay_s = 0.5
        return say

    oracle_server.script = slow
    command = ["run", "endpoint", str(config(concurrency=2)), "egogears", "--output-dir", "out"]
    process = runs.start(run="egobench", arguments=command)
    wait_until(lambda: len(oracle_server.asked) >= 3)
    code, _, output = ended(runs, process)
    assert code == 75
    n_kept = len(kept_in(tmp_path / "journal"))
    assert told(output) == (n_kept, 12) and 3 <= n_kept == len(oracle_server.asked) < 12
    assert not list((tmp_path / "out").rglob("results_*.json"))
    oracle_server.script = right
    assert runs.egobench(*command)[0] == 0
    assert len(lines_of(tmp_path / "journal")) == len(kept_in(tmp_path / "journal")) == 12


def test_a_pause_that_a_server_wishes_for_is_not_waited_out(oracle_server, config, runs):
    oracle_server.script = lambda request, n: oracle_server.say({}, status=429, headers={"Retry-After": "600"})
    process = runs.start(run="egobench", arguments=["run", "endpoint", str(config()), "egogears"])
    wait_until(lambda: oracle_server.asked)
    code, seconds, output = ended(runs, process)
    assert (code, told(output)) == (75, (0, 12)) and seconds < 10


@pytest.mark.parametrize("command", ["audit", "draft"])
def test_audits_and_drafts_end_at_the_next_question_and_write_nothing_half(
    server, config, runs, sample_folder, tmp_path, command
):
    def slow(request, n):
        return server.say(server.completion("A street, and <b>no</b> more."), delay_s=0.4)

    server.script = slow
    path = str(config(concurrency=1))
    footage = sample_folder / "raw" / "single_video_567" / "videos"
    arguments = {
        "audit": ["audit", str(sample_folder / "egogears"), "--models", path, "--repeats", "1", "--out", "out"],
        "draft": ["draft", "--clips", str(footage), "--model", path, "--kinds", "AS,OS", "--out", "out"],
    }[command]
    process = runs.start(run="egobench", arguments=arguments)
    wait_until(lambda: len(server.asked) >= 3, 60)
    code, seconds, output = ended(runs, process)
    n_kept, n_all = told(output)
    assert (code, n_kept) == (75, len(kept_in(tmp_path / "journal"))) and 3 <= n_kept < n_all
    assert seconds < 5 and len(server.asked) == n_kept
    written = [path.name for path in (tmp_path / "out").rglob("*") if path.suffix in (".html", ".jsonl", ".csv")]
    assert not written


def test_a_transformers_run_ends_after_its_batch_and_goes_on_later(runs, tiny_llava, tmp_path):
    model = f"model_name={tiny_llava},generation_size=64,batch_size=1"
    command = ["run", "transformers", model, "egogears,egogears_swapped", "--output-dir", "out"]
    process = runs.start(run="egobench", arguments=command)
    wait_until(lambda: kept_in(tmp_path / "journal"))
    code, _, output = ended(runs, process)
    n_kept = len(kept_in(tmp_path / "journal"))
    n_told, n_all = told(output)
    assert (code, n_told) == (75, n_kept) and 0 < n_kept < n_all
    assert not list((tmp_path / "journal").rglob("*.claim"))
    assert runs.egobench(*command)[0] == 0
    assert len(kept_in(tmp_path / "journal")) == n_all == len(lines_of(tmp_path / "journal"))


def test_two_transformers_runs_on_one_journal_ask_each_question_once(runs, tiny_llava, tmp_path):
    model = f"model_name={tiny_llava},generation_size=64,batch_size=2"
    arguments = ["run", "transformers", model, "egogears", "--output-dir", "out"]
    runs.start(run="egobench", arguments=arguments, copies=2)
    assert runs.wait() == 0
    output = runs.printed()
    lines = lines_of(tmp_path / "journal")
    assert len(lines) == len(set(lines)) == len(kept_in(tmp_path / "journal")) == 12
    assert "Traceback" not in output


def test_a_judge_ends_after_the_verdicts_under_way(runs, judge, tmp_path):
    run = write_run(tmp_path / "run", 40)
    stock = judge.delay_s
    judge.delay_s = 0.2
    settings = {
        "EGOBENCH_JUDGE_BASE_URL": judge.base_url,
        "EGOBENCH_JUDGE_MODEL": "scripted",
        "EGOBENCH_JUDGE_CONCURRENCY": "2",
        "EGOBENCH_CACHE": str(tmp_path / "cache"),
    }
    process = runs.start(run="egobench", arguments=["judge", str(run)], environment={**runs.environment, **settings})
    wait_until(lambda: len(judge.asked) >= 3)
    code, _, output = ended(runs, process)
    assert code == 75
    assert told(output) == (len(judge.asked), 40) and len(judge.asked) < 40
    assert not (run / "verdicts").exists()
    judge.delay_s = stock
    assert runs.egobench("judge", run, **settings)[0] == 0
    assert len(judge.asked) == len(set(judge.asked)) == 40
