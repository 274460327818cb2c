"""Runs that are killed, and runs over several processes: the same table, and no question asked twice."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

# Our command line, with every question that the model is made to answer written down first.
LOGGED_RUN = """
import os, sys
from egobench_tasks import cli
from egobench_tasks.hosts.lighteval import vlm
stock = vlm.FrameVLM._generate
def generate(self, docs, prepared, budget_tokens):
    with open(os.environ["GENERATED_LOG"], "a") as log:
        log.writelines(f"{doc.task_name} {doc.specific['question_id']}\\n" for doc in docs)
    return stock(self, docs, prepared, budget_tokens)
vlm.FrameVLM._generate = generate
cli.main()
"""


def scores_of(folder):
    (path,) = Path(folder).rglob("results_*.json")
    return json.loads(path.read_text())["results"]


def arguments(tiny_llava, out, generation_size=64):
    model = f"model_name={tiny_llava}" + (f",generation_size={generation_size}" if generation_size else "")
    return ["run", "transformers", model, "egogears", "--output-dir", str(out), "--save-details"]


def launched(n_processes):
    """The launcher of several GPUs, kept on the CPU: `--cpu` alone starts one process without MPI."""
    several = ["--multi_gpu"] if n_processes > 1 else []
    return [
        "accelerate", "launch", *several, "--num_processes", n_processes, "--num_machines", 1,
        "--mixed_precision", "no", "--dynamo_backend", "no", "--main_process_port", 0,
    ]  # fmt: skip


def journalled(folder):
    """The (task, question) pairs that are on disk, in whole lines."""
    lines = [line for path in Path(folder).rglob("*.jsonl") for line in path.read_text().split("\n")[:-1]]
    return Counter(f"{answer['task']} {answer['question_id']}" for answer in map(json.loads, lines))


def test_ten_kills_cost_no_answer_and_change_no_score(sample_folder, tiny_llava, tmp_path):
    environment = {**os.environ, "EGOGEARS_DATA": str(sample_folder / "egogears")}
    undisturbed = {**environment, "EGOBENCH_JOURNAL": str(tmp_path / "undisturbed")}
    command = [sys.executable, "-c", LOGGED_RUN]
    subprocess.run(
        [*command, *arguments(tiny_llava, tmp_path / "a")], check=True, capture_output=True,
        env={**undisturbed, "GENERATED_LOG": os.devnull},
    )  # fmt: skip
    journal, log, rng = tmp_path / "journal", tmp_path / "generated.log", random.Random(0)
    disturbed = {**environment, "EGOBENCH_JOURNAL": str(journal), "GENERATED_LOG": str(log)}
    log.touch()
    kept_at_kills = []
    for _ in range(10):
        process = subprocess.Popen(
            [*command, *arguments(tiny_llava, tmp_path / "b")],
            env=disturbed, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        n_before = len(log.read_text().splitlines())
        while process.poll() is None and len(log.read_text().splitlines()) == n_before:
            time.sleep(0.02)
        time.sleep(rng.uniform(0, 0.3))
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=30)
        kept_at_kills.append((len(log.read_text().splitlines()), set(journalled(journal))))
    subprocess.run([*command, *arguments(tiny_llava, tmp_path / "c")], check=True, capture_output=True, env=disturbed)

    assert scores_of(tmp_path / "c") == scores_of(tmp_path / "a")
    generated = log.read_text().splitlines()
    for n_generated, kept in kept_at_kills:
        assert not kept & set(generated[n_generated:])  # what was journalled is never generated again
    assert set(journalled(journal).values()) == {1}
    assert len(journalled(journal)) == 12


# A model that is given few tokens, and twice as many where it needs them.
GROWING_RUN = """
import dataclasses
from egobench_tasks import benchmarks
benchmarks.EGOGEARS = dataclasses.replace(benchmarks.EGOGEARS, max_new_tokens=6, max_new_tokens_cap=20)
from egobench_tasks import cli
cli.main()
"""


def test_two_processes_ask_again_for_what_was_truncated_as_one_does(run_program, sample_folder, tiny_llava, tmp_path):
    script = tmp_path / "growing.py"
    script.write_text(GROWING_RUN)
    environment = {"EGOGEARS_DATA": str(sample_folder / "egogears")}
    attempts = []
    for n_processes in (1, 2):
        out = tmp_path / f"out{n_processes}"
        run_program(
            *launched(n_processes), script, *arguments(tiny_llava, out, generation_size=None),
            EGOBENCH_JOURNAL=str(tmp_path / f"j{n_processes}"), ACCELERATE_USE_CPU="true", **environment,
        )  # fmt: skip
        lines = [line for path in (tmp_path / f"j{n_processes}").rglob("*.jsonl") for line in path.open()]
        answers = [json.loads(line) for line in lines]
        attempts.append(Counter((a["question_id"], a["budget_tokens"], a["finish_reason"]) for a in answers))
    assert attempts[0] == attempts[1]
    assert {budget for _, budget, _ in attempts[0]} == {6, 12, 20}
    assert scores_of(tmp_path / "out1") == scores_of(tmp_path / "out2")


def test_two_processes_score_what_one_does(run_program, sample_folder, tiny_llava, tmp_path):
    environment = {"EGOGEARS_DATA": str(sample_folder / "egogears")}
    one, two = tmp_path / "one", tmp_path / "two"
    run_program("egobench", *arguments(tiny_llava, one), EGOBENCH_JOURNAL=str(tmp_path / "j1"), **environment)
    run_program(
        *launched(2), "-m", "egobench_tasks.cli", *arguments(tiny_llava, two),
        EGOBENCH_JOURNAL=str(tmp_path / "j2"), ACCELERATE_USE_CPU="true", **environment,
    )  # fmt: skip
    assert scores_of(one) == scores_of(two)
    assert journalled(tmp_path / "j1") == journalled(tmp_path / "j2")
    assert len(list((tmp_path / "j2").rglob("*.jsonl"))) == 2  # both processes answered
