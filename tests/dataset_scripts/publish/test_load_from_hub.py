"""The tasks on a dataset of the Hub: pinned to a commit, the same as on a folder, without a network afterwards."""

import json
from pathlib import Path

import pytest

from egobench_tasks.errors import InputError
from egobench_tasks.report.show.eval_results import eval_results

PIN_AND_LOAD = """
import json, sys
from egobench_tasks.data import fingerprint, load_rows, parse_location, pin
from egobench_tasks.errors import InputError
try:
    location = pin(parse_location(sys.argv[1], where="DATA"))
    rows = load_rows(location, sys.argv[2])
except InputError as error:
    sys.exit(f"input error: {error}")
print(json.dumps([location.revision, fingerprint(rows)]))
"""


def pinned(hub_python, name, config="single", **environment):
    done = hub_python(PIN_AND_LOAD, name, config, **environment)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def refused(hub_python, name, **environment):
    done = hub_python(PIN_AND_LOAD, name, "single", **environment)
    assert "input error: " in done.stderr
    return done.stderr


def test_a_tag_becomes_its_commit_and_the_data_are_the_folders(publish, hub, hub_python, gears):
    assert publish(gears, tag="v1.0").returncode == 0
    commit = hub.repositories["org/gears"].tags["v1.0"]
    on_the_hub = pinned(hub_python, "org/gears@v1.0")
    assert on_the_hub[0] == commit
    assert on_the_hub[1] == pinned(hub_python, str(gears))[1]
    assert pinned(hub_python, "org/gears") == on_the_hub == pinned(hub_python, f"org/gears@{commit}")
    assert pinned(hub_python, "org/gears@v1.0", HF_HUB_OFFLINE="1") == on_the_hub


def test_without_a_network_another_commit_never_stands_in(publish, hub, hub_python, gears, release):
    from dataset_scripts.egogears.build import build_egogears

    assert publish(gears, tag="v1.0").returncode == 0
    release.change(release.single_file, 0, answer=["C"])
    build_egogears(release.root, gears)
    assert publish(gears, tag="v1.1").returncode == 0
    first = pinned(hub_python, "org/gears@v1.0")
    second = pinned(hub_python, "org/gears@v1.1")
    assert first != second
    assert pinned(hub_python, "org/gears@v1.1", HF_HUB_OFFLINE="1") == second
    message = refused(hub_python, "org/gears@v1.0", HF_HUB_OFFLINE="1")  # datasets offers v1.1 in its place
    assert "only the commit it loaded last" in message


@pytest.mark.parametrize("name", ["org/gears@v9", "org/absent@v1.0"])
def test_what_is_not_there(publish, hub, hub_python, gears, name):
    assert publish(gears, tag="v1.0").returncode == 0
    assert f"{name}: not found on the Hub" in refused(hub_python, name)


def test_a_private_dataset_needs_the_token(publish, hub_python, gears):
    assert publish(gears, private=True, tag="v1.0").returncode == 0
    assert "hf auth login" in refused(hub_python, "org/gears@v1.0", HF_TOKEN="")
    pinned(hub_python, "org/gears@v1.0")


@pytest.mark.slow
def test_lighteval_from_the_hub_equals_the_local_run(
    publish, hub, hub_environment, hub_program, sample_folder, tiny_llava, tmp_path
):
    folder = sample_folder / "egogears"
    assert publish(folder, tag="v1.0").returncode == 0
    commit = hub.repositories["org/gears"].tags["v1.0"]
    runs = {}
    for name, data in {"hub": "org/gears@v1.0", "local": str(folder)}.items():
        hub_program(
            "egobench", "run", "transformers", f"model_name={tiny_llava},generation_size=64", "egogears",
            "--output-dir", tmp_path / name, "--save-details", "--max-samples", 2,
            EGOGEARS_DATA=data, EGOBENCH_JOURNAL=str(tmp_path / f"journal-{name}"),
            EGOBENCH_CACHE=str(tmp_path / f"cache-{name}"),
        )  # fmt: skip
        (path,) = Path(tmp_path / name).rglob("results_*.json")
        runs[name] = json.loads(path.read_text())
    assert runs["hub"]["results"] == runs["local"]["results"]
    tasks = runs["hub"]["config_tasks"]
    assert {(tasks[task]["hf_repo"], tasks[task]["hf_revision"]) for task in tasks} == {("org/gears", commit)}
    printed = [{task: run["config_tasks"][task]["prompt_function"] for task in tasks} for run in runs.values()]
    assert printed[0] == printed[1]  # the same fingerprint of the data
    with pytest.raises(InputError, match="asked 2 of "):
        eval_results(tmp_path / "hub")  # a sample is no result for a leaderboard
