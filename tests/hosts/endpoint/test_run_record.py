"""``run.json`` of whole runs, and runs that meet what another model has left."""

import contextlib
import json
import os
import shutil
import signal
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from egobench_tasks.runs.journal import Journal
from egobench_tasks.runs.record import read_records

pytestmark = pytest.mark.slow

ONE = "egogears:single"


def record_of(out, number=1):
    return json.loads((out / "runs" / f"{number:04d}" / "run.json").read_text())


def n_journalled(folder):
    return sum(len(Journal(path).answers()) for path in folder.glob("*"))


def killed(runs, journal, **job):
    """Start a run, and kill it once an answer is kept."""
    process = runs.start(**job)
    deadline = time.monotonic() + 120
    while not n_journalled(journal) and time.monotonic() < deadline:
        time.sleep(0.02)
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)
    assert runs.wait() == -signal.SIGKILL
    (runs.folder / "output.txt").unlink(missing_ok=True)


def test_two_identical_runs_differ_in_times_alone(oracle_server, config, runs, tmp_path):
    command = ["run", "endpoint", config(), ONE, "--output-dir", "out", "--save-details"]
    oracle_server.models = [{"id": "m", "root": "/weights/m", "parent": None, "created": 1_700_000_000}]
    found = []
    for _ in range(2):
        code, _ = runs.egobench(*command)
        assert code == 0
        found.append(record_of(tmp_path / "out"))
        shutil.rmtree(tmp_path / "journal")
        (tmp_path / "out").rename(tmp_path / f"out{len(found)}")
    first, second = found
    assert first["times"].keys() == second["times"].keys() and None not in first["times"].values()
    assert {**first, "times": {}} == {**second, "times": {}}

    assert first["command"] == ["egobench", *map(str, command)]
    (task,) = first["tasks"]
    assert (task["name"], task["n_questions"], task["n_published"], task["whole"]) == (
        "egogears:single|0",
        4,
        567,
        False,
    )
    assert task["dataset"] == runs.environment["EGOGEARS_DATA"] and task["inputs"].startswith("prompt choice-1-")
    assert first["counts"] == {
        "total": 4, "asked": 4, "reused": 0, "failed": 0, "asked_again": 0,
        "prompt_tokens": 4 * 6407, "new_tokens": 12,
    }  # fmt: skip
    assert first["model"]["server"] == {
        "server_id": "m", "root": "/weights/m", "parent": None, "created_s": 1_700_000_000,
    }  # fmt: skip
    assert first["canary"].keys() == {"egogears"} and first["decoding"]["libavcodec"]
    (results,) = (tmp_path / "out1").rglob(f"results_{first['times']['results_date']}.json")
    saved = json.loads(results.read_text())["config_general"]["model_config"]
    assert saved["served"]["root"] == "/weights/m"
    answered_by = [
        row["answered_by"]
        for path in (tmp_path / "out1").rglob("details_*.parquet")
        for row in pq.read_table(path, columns=["model_response"]).column("model_response").to_pylist()
    ]
    assert answered_by == 4 * [first["model"]["key"]]

    code, output = runs.egobench("repeat", "out1")
    assert code == 0
    assert f"EGOGEARS_DATA={task['dataset']}" in output
    assert f"egobench run endpoint {tmp_path / 'endpoint.yaml'} {ONE} --output-dir out --save-details" in output
    assert "dataset" not in output.partition("different here")[2]
    path = tmp_path / "out1" / "runs" / "0001" / "run.json"
    elsewhere = {**first, "libraries": {**first["libraries"], "torch": "0.1"}, "tasks": [{**task, "fingerprint": "f"}]}
    path.write_text(json.dumps(elsewhere))
    _, output = runs.egobench("repeat", path)
    assert "torch: 0.1 there, " in output and "egogears:single|0: dataset f there, " in output


def test_a_run_that_was_killed_says_so_and_the_next_one_what_it_took_over(oracle_server, config, runs, tmp_path):
    right = oracle_server.script

    def slow(request, n):
        say = right(request, n)
        say.delay_s = 0.5
        return say

    oracle_server.script = slow
    settings = config(concurrency=1)
    killed(
        runs, tmp_path / "journal", run="endpoint", config=str(settings), tasks=ONE, arguments=["--output-dir", "out"]
    )
    oracle_server.script = right
    n_kept = n_journalled(tmp_path / "journal")

    code, output = runs.run(config(concurrency=1, thinking="off"), "--output-dir", "out", tasks=ONE)
    assert code == 2
    assert "did not finish" in output and "endpoint.chat_template_kwargs" in output and "--fresh" in output
    assert f"Its {n_kept} kept answers are not taken" in output

    code, output = runs.run(config(concurrency=1), "--output-dir", "out", tasks=ONE)
    assert code == 0
    before, after = (record_of(tmp_path / "out", number) for number in (1, 2))
    assert before["times"]["ended_utc"] is None and after["times"]["ended_utc"]
    assert (after["counts"]["reused"], after["counts"]["asked"]) == (n_kept, 4 - n_kept)
    assert [record.complete for record in read_records(tmp_path / "out")] == [False, True]


def test_other_weights_behind_a_served_name_stop_the_run_and_fresh_goes_on(oracle_server, config, runs, tmp_path):
    from tests.hosts.endpoint.conftest import ScriptedServer

    runs.run(config(), "--output-dir", "out", "--save-details", tasks=ONE)
    other = ScriptedServer()
    try:
        code, output = runs.run(config(base_url=other.url), "--output-dir", "again", tasks=ONE)
        assert code == 2 and "Traceback" not in output
        assert f"m at {other.url} is another model" in output and f"4 answers of {oracle_server.url}" in output
        assert not list(tmp_path.glob("again/results/**/*.json"))
        assert not read_records(tmp_path / "again")[-1].complete
        code, _ = runs.egobench("run", "endpoint", config(base_url=other.url), ONE, "--output-dir", "again", "--fresh")
        assert code == 0
        record = record_of(tmp_path / "again", 2)
        assert (record["counts"]["asked"], record["counts"]["reused"], record["model"]["generation"]) == (4, 0, 1)
        code, output = runs.egobench("journal", "list")
        assert code == 0 and oracle_server.url in output and other.url in output
    finally:
        other.close()


def test_what_failed_is_counted(oracle_server, config, runs, tmp_path):
    right, failed = oracle_server.script, []

    def script(request, n):
        first = oracle_server.parts_of(request)[0]
        if not failed:
            failed.append(first)
        return oracle_server.say({"error": "no"}, status=400) if first in failed else right(request, n)

    oracle_server.script = script
    code, _ = runs.run(config(), "--output-dir", "out", tasks=ONE)
    counts = record_of(tmp_path / "out")["counts"]
    assert (code, counts["asked"], counts["failed"]) == (1, 4, 1)


def test_a_merged_runs_record_names_its_parts_and_two_servers_roots_are_not_merged(
    oracle_server, config, runs, tmp_path
):
    oracle_server.models = [{"id": "m", "root": "/weights/m"}]
    runs.run(config(), "--output-dir", "s1", tasks=ONE, EGOBENCH_SHARD="1/2")
    runs.run(config(), "--output-dir", "s2", tasks=ONE, EGOBENCH_SHARD="2/2")
    code, _ = runs.merge("s1", "s2", out="merged")
    assert code == 0
    record = record_of(tmp_path / "merged")
    assert [part["shard"] for part in record["merged"]] == ["1/2", "2/2"]
    assert record["model"]["key"] == record["merged"][0]["answered_by"]
    assert (record["counts"]["total"], record["counts"]["reused"], record["shard"]) == (4, 4, None)
    oracle_server.models = [{"id": "m", "root": "/weights/other"}]
    runs.run(
        config(), "--output-dir", "s3", tasks=ONE, EGOBENCH_SHARD="2/2", EGOBENCH_JOURNAL=str(tmp_path / "elsewhere")
    )
    code, output = runs.merge("s1", "s3", out="x")
    assert (code, "differ in the model's root (by its server)" in output) == (2, True), output


def terse(folder):
    """The model in a folder, ending every answer with its first token: cut ones would be asked for again."""
    path = folder / "generation_config.json"
    n_tokens = json.loads((folder / "config.json").read_text())["text_config"]["vocab_size"]
    path.write_text(json.dumps({**json.loads(path.read_text()), "eos_token_id": list(range(n_tokens))}))
    return folder


def transformers_run(model, out, *options):
    return [
        "run", "transformers", f"model_name={model},generation_size=4", ONE, "--output-dir", str(out), *options,
    ]  # fmt: skip


def test_run_kill_other_weights_under_the_same_name_and_again_stops_with_a_message(runs, tiny_llava, tmp_path):
    from dataset_scripts.sample.tiny_vlm import write_tiny_llava

    model = terse(Path(shutil.copytree(tiny_llava, tmp_path / "model")))
    killed(
        runs,
        tmp_path / "journal",
        run="egobench",
        environment=runs.environment,
        arguments=transformers_run(model, "out"),
    )
    n_kept = n_journalled(tmp_path / "journal")
    terse(write_tiny_llava(model, seed=2))
    code, output = runs.egobench(*transformers_run(model, "out"))
    assert code == 2 and "Traceback" not in output
    says = " ".join(output.replace("│", " ").split())  # lighteval's command line prints it in a box
    assert "did not finish" in says and "sources.model_name.files.model.safetensors" in says
    assert n_journalled(tmp_path / "journal") == n_kept
    code, output = runs.egobench(*transformers_run(model, "out", "--fresh"))
    assert code == 0
    record = record_of(tmp_path / "out", 2)
    assert (record["counts"]["asked"], record["counts"]["reused"]) == (4, 0)
    assert record["model"]["identity"]["sources"]["model_name"]["files"]["model.safetensors"]


def test_shards_of_one_name_and_two_weights_are_not_merged(runs, tiny_llava, tmp_path):
    from dataset_scripts.sample.tiny_vlm import write_tiny_llava

    model = terse(Path(shutil.copytree(tiny_llava, tmp_path / "model")))
    assert runs.egobench(*transformers_run(model, "s1", "--shard", "1/2"))[0] == 0
    terse(write_tiny_llava(model, seed=2))
    assert runs.egobench(*transformers_run(model, "s2", "--shard", "2/2"))[0] == 0
    code, output = runs.merge("s1", "s2", out="x")
    assert code == 2
    assert "differ in the model's identity.sources.model_name.files.model.safetensors" in output
    assert not (tmp_path / "x").exists()
