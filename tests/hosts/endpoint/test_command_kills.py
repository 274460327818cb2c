"""Commands that are killed at random moments, as real processes: the same table, and nothing is asked twice.

Moments are drawn with a seed over the time that an undisturbed command takes, its start included. Publishing has a test
of its own (`tests/dataset_scripts/publish/test_publish_kills.py`).
"""

import contextlib
import json
import os
import random
import signal
import time
from collections import Counter

import pytest

from egobench_tasks.runs.journal import Journal
from tests.hosts.egotempo.test_judge_run import write_run
from tests.hosts.endpoint.conftest import wait_until

pytestmark = pytest.mark.slow

STOPPED = 75


def scores_of(folder):
    newest = max(folder.rglob("results_*.json"), key=lambda path: path.stat().st_mtime_ns)
    return json.loads(newest.read_text())["results"]


def given_answers(journal):
    """How often each answer was written down, by its key."""
    folders = [path for path in journal.glob("*") if path.is_dir()]
    return Counter(
        answer.key for path in folders for answers in Journal(path).by_session().values() for answer in answers
    )


def end_at(runs, moment_s, number, /, **job):
    """Start a job, send it a signal after some seconds, and return its exit code."""
    process = runs.start(**job)
    time.sleep(moment_s)
    with contextlib.suppress(ProcessLookupError):  # it may be over on a fast machine
        os.kill(process, number)
    return runs.wait()


def end_after(runs, n_answers, journal, number, /, **job):
    """Start a job, send it a signal once so many answers are written down, and return its exit code."""
    process = runs.start(**job)
    with contextlib.suppress(ProcessLookupError):  # it may end by itself
        while given_answers(journal).total() < n_answers:
            os.kill(process, 0)
            time.sleep(0.01)
        os.kill(process, number)
    return runs.wait()


def timed(run):
    started_s = time.monotonic()
    code, _ = run()
    assert code == 0
    return time.monotonic() - started_s


def test_seven_ends_of_a_transformers_run(runs, tiny_llava, tmp_path):
    def command(out):
        model = f"model_name={tiny_llava},generation_size=64,batch_size=1"
        return ["run", "transformers", model, "egogears,egogears_swapped", "--output-dir", out]

    other = str(tmp_path / "other")
    assert runs.egobench(*command("whole"), EGOBENCH_JOURNAL=other)[0] == 0
    n_all = given_answers(tmp_path / "other").total()
    moments, journal = random.Random(7), tmp_path / "journal"
    numbers = [signal.SIGKILL] * 3 + [signal.SIGTERM] * 2 + [signal.SIGKILL] * 2
    codes = []
    for place, number in enumerate(numbers):
        n_answers = round((place + moments.random()) * n_all / (len(numbers) + 1))
        codes.append(end_after(runs, n_answers, journal, number, run="egobench", arguments=command("disturbed")))
    assert codes.count(-signal.SIGKILL) + codes.count(STOPPED) + codes.count(-signal.SIGTERM) >= 6, codes
    assert runs.egobench(*command("after"))[0] == 0
    given = given_answers(journal)
    assert given == given_answers(tmp_path / "other") and set(given.values()) == {1}
    assert scores_of(tmp_path / "after") == scores_of(tmp_path / "whole")


def test_five_ends_of_a_merge(oracle_server, config, runs, tmp_path):
    shards = [f"s{index}" for index in (1, 2)]
    for place, shard in enumerate(shards, 1):
        assert runs.run(config(), "--output-dir", shard, EGOBENCH_SHARD=f"{place}/2")[0] == 0
    merging = {"run": "merge", "runs": shards}
    whole_s = timed(lambda: runs.merge(*shards, out="whole"))
    moments = random.Random(11)
    for number in [signal.SIGKILL] * 4 + [signal.SIGTERM]:
        end_at(runs, moments.uniform(0, 1) * whole_s, number, **merging, out="merged")
    n_asked = len(oracle_server.requests)
    assert runs.merge(*shards, out="merged")[0] == 0
    assert scores_of(tmp_path / "merged") == scores_of(tmp_path / "whole")
    assert not list((tmp_path / "merged").rglob("*.tmp"))
    assert len(oracle_server.requests) == n_asked


def test_four_ends_of_a_judge(runs, judge, tmp_path):
    n_answers, concurrency, ends = 80, 2, [signal.SIGKILL] * 3 + [signal.SIGTERM]
    run = write_run(tmp_path / "run", n_answers)
    judge.delay_s = 0.1
    settings = {
        "EGOBENCH_JUDGE_BASE_URL": judge.base_url,
        "EGOBENCH_JUDGE_MODEL": "scripted",
        "EGOBENCH_JUDGE_CONCURRENCY": str(concurrency),
        "EGOBENCH_CACHE": str(tmp_path / "cache"),
    }
    moments = random.Random(13)
    job = {"run": "egobench", "arguments": ["judge", str(run)], "environment": {**runs.environment, **settings}}
    for number in ends:
        n_asked, process = len(judge.asked), runs.start(**job)
        wait_until(lambda n_asked=n_asked: len(judge.asked) > n_asked)
        time.sleep(moments.uniform(0, 0.5))
        os.kill(process, number)
        assert runs.wait() == (STOPPED if number == signal.SIGTERM else -number)
    assert runs.egobench("judge", run, **settings)[0] == 0
    (path,) = (run / "verdicts").iterdir()
    assert len(json.loads(path.read_text())["verdicts"]) == n_answers
    asked = Counter(judge.asked)
    assert len(asked) == n_answers
    # A kill costs what was under way, SIGTERM nothing.
    assert asked.total() - n_answers <= concurrency * ends.count(signal.SIGKILL)
