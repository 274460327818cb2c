"""Real command lines of lighteval and of ours, over the sample benchmark and a tiny model."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

ROOT = Path(__file__).parents[3]
ORACLE = ROOT / "dataset_scripts" / "sample" / "oracle_model.py"
OURS = ["--custom-tasks", "egobench_tasks.tasks"]

# Refuses every connection but loopback's, and writes down who tried: what a compute node without a network does.
NO_NETWORK = """
import os, socket
def refuse(name, stock):
    def call(*arguments, **options):
        address = str(arguments[-1] if name == "connect" else arguments[0]).lstrip("('")
        if not address.startswith(("127.", "localhost", "/")):
            with open(os.environ["NETWORK_LOG"], "a") as log:
                print(name, arguments, file=log)
            raise OSError("no network here")
        return stock(*arguments, **options)
    return call
socket.getaddrinfo = refuse("getaddrinfo", socket.getaddrinfo)
socket.socket.connect = refuse("connect", socket.socket.connect)
"""

pytestmark = pytest.mark.slow


def results_of(folder):
    (path,) = Path(folder).rglob("results_*.json")
    return json.loads(path.read_text())


def details_of(folder):
    return [row for path in sorted(Path(folder).rglob("details_*.parquet")) for row in pq.read_table(path).to_pylist()]


@pytest.mark.parametrize("where", ["root", "elsewhere"])
def test_lighteval_accelerate_runs_both_tasks_from_any_folder(run_program, sample_folder, tiny_llava, tmp_path, where):
    done = run_program(
        "lighteval", "accelerate", f"model_name={tiny_llava},generation_size=64", "egogears", "--vision-model", *OURS,
        "--output-dir", tmp_path / "out", "--save-details", "--max-samples", 2,
        cwd=ROOT if where == "root" else tmp_path, EGOGEARS_DATA=str(sample_folder / "egogears"),
    )  # fmt: skip
    results = results_of(tmp_path / "out")["results"]
    assert {"egogears:single|0", "egogears:multi|0", "egogears:_average|0"} <= set(results)
    metrics = {
        "exact_set",
        "jaccard",
        "overlap",
        "wellformed",
        "answered",
        "chance",
        "kappa",
        "no_trace",
        "exact_traced",
    }
    assert all(metrics <= set(results[task]) for task in results if task.startswith("egogears"))
    assert "exact_set" in done.stdout
    details = details_of(tmp_path / "out")
    assert len(details) == 4
    assert all(len(row["doc"]["images"]) == row["doc"]["specific"]["n_clips"] for row in details)


def test_settings_that_lighteval_does_not_know_reach_the_model_and_stand_in_the_results(
    run_program, sample_folder, tiny_llava, tmp_path
):
    settings = {
        "model_name": str(tiny_llava),
        "generation_size": 4,
        "dtype": "fp32",
        "images_kwargs": {"do_resize": True},
    }
    (tmp_path / "model.yaml").write_text(json.dumps({"model_parameters": settings}))
    run_program(
        "egobench", "run", "transformers", "model.yaml", "egogears:single", "--max-samples", 1,
        "--output-dir", tmp_path / "out", EGOGEARS_DATA=str(sample_folder / "egogears"),
    )  # fmt: skip
    saved = results_of(tmp_path / "out")["config_general"]["model_config"]
    assert (saved["dtype"], saved["images_kwargs"]) == ("float32", {"do_resize": True})
    assert saved["settled"]["model_type"] == "llava"


@pytest.mark.parametrize(
    ("setting", "says"),
    [("batchsize=3", "did you mean batch_size?"), ("images_kwargs={sise: 3}", "did you mean size?")],
)
def test_a_setting_that_does_not_exist_is_one_message(run_program, sample_folder, tiny_llava, setting, says):
    done = run_program(
        "egobench", "run", "transformers", f"model_name={tiny_llava},{setting}", "egogears:single",
        check=False, EGOGEARS_DATA=str(sample_folder / "egogears"),
    )  # fmt: skip
    assert done.returncode == 2
    assert says in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_plain_lighteval_and_egobench_run_give_the_same_answers(run_program, sample_folder, tiny_llava, tmp_path):
    options = ["--max-samples", 2, "--save-details", "--output-dir"]
    model, data = f"model_name={tiny_llava},generation_size=64", {"EGOGEARS_DATA": str(sample_folder / "egogears")}
    plain = ["lighteval", "accelerate", model, "egogears", "--vision-model", *OURS, *options, tmp_path / "plain"]
    ours = ["egobench", "run", "transformers", model, "egogears", *options, tmp_path / "ours"]
    run_program(*plain, EGOBENCH_JOURNAL=str(tmp_path / "plain-journal"), **data)
    run_program(*ours, EGOBENCH_JOURNAL=str(tmp_path / "our-journal"), **data)
    assert results_of(tmp_path / "plain")["results"] == results_of(tmp_path / "ours")["results"]
    answers = [
        [
            (row["doc"]["specific"]["question_id"], row["model_response"]["text"])
            for row in details_of(tmp_path / folder)
        ]
        for folder in ("plain", "ours")
    ]
    assert answers[0] == answers[1]
    assert len(answers[0]) == 4


def test_the_oracle_answers_everything_and_finds_the_dataset_in_the_working_directory(
    run_program, sample_folder, tmp_path
):
    run_program(
        "lighteval", "custom", "oracle", ORACLE, "egogears|0", *OURS,
        "--output-dir", tmp_path / "out", "--save-details", cwd=sample_folder,
    )  # fmt: skip
    results = results_of(tmp_path / "out")["results"]
    for task in ("egogears:single|0", "egogears:multi|0"):
        assert (results[task]["exact_set"], results[task]["answered"], results[task]["kappa"]) == (1, 1, 1)


def test_egobench_run_asks_no_network_for_anything(run_program, sample_folder, tiny_llava, tmp_path):
    (tmp_path / "path").mkdir()
    (tmp_path / "path" / "sitecustomize.py").write_text(NO_NETWORK)
    log = tmp_path / "network.log"
    run_program(
        "egobench", "run", "transformers", f"model_name={tiny_llava},generation_size=64", "egogears",
        "--output-dir", tmp_path / "out", "--max-samples", 1, cwd=sample_folder,  # where ./egogears is a folder
        PYTHONPATH=str(tmp_path / "path"), NETWORK_LOG=str(log),
    )  # fmt: skip
    assert results_of(tmp_path / "out")["results"]["egogears:single|0"]
    assert not log.exists(), log.read_text()


def test_no_dataset_is_one_message_without_a_traceback(run_program, tiny_llava, tmp_path):
    for command in (["lighteval", "accelerate"], ["egobench", "run", "transformers"]):
        options = ["--vision-model", *OURS] if command[0] == "lighteval" else []
        done = run_program(*command, f"model_name={tiny_llava}", "egogears", *options, check=False)
        assert done.returncode == 2
        assert "egobench build egogears" in done.stderr
        assert "Traceback" not in done.stderr


def test_a_users_templates_reach_the_model_and_the_task_config(run_program, sample_folder, tiny_llava, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('version = "mine"\nsingle = "MY WORDS $question $options"\nmulti = "$question $options"\n')
    run_program(
        "egobench", "run", "transformers", f"model_name={tiny_llava},generation_size=64", "egogears:single",
        "--output-dir", tmp_path / "out", "--max-samples", 1, "--save-details",
        EGOBENCH_PROMPTS=str(path), EGOGEARS_DATA=str(sample_folder / "egogears"),
    )  # fmt: skip
    (row,) = details_of(tmp_path / "out")
    assert row["model_response"]["input"].startswith("MY WORDS ")
    assert "mine-" in json.dumps(results_of(tmp_path / "out")["config_tasks"])
