"""`.eval_results` files: whole runs only, in the Hub's form, with the commit of the data."""

import json
from dataclasses import asdict

import pytest
import yaml
from huggingface_hub.hf_api import parse_eval_result_entries
from records import record_for
from saved_runs import CATEGORIES, COMMIT, gears_run, tempo_run, write_run

from egobench_tasks.benchmarks import EGOGEARS
from egobench_tasks.errors import InputError
from egobench_tasks.report.show.eval_results import eval_results


def write_record(folder, number, date):
    path = folder / "runs" / f"{number:04d}" / "run.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(asdict(record_for(number, date))))


def entries_of(text):
    return parse_eval_result_entries(yaml.safe_load(text))


def test_egogears_has_an_entry_a_config(tmp_path):
    files = eval_results(gears_run(tmp_path))
    assert list(files) == [".eval_results/egogears.yaml"]
    entries = entries_of(files[".eval_results/egogears.yaml"])
    assert sorted((one.dataset_id, one.task_id, one.value) for one in entries) == [
        ("org/data", "multi", 25.0),
        ("org/data", "single", 25.0),
    ]
    assert {(one.dataset_revision, one.date) for one in entries} == {(COMMIT, "2026-11-30")}
    assert all("prompt p, frames f, dataset d" in one.notes and one.source_name for one in entries)


def test_egotempo_is_the_mean_over_the_categories(tmp_path):
    (entry,) = entries_of(eval_results(tempo_run(tmp_path))[".eval_results/egotempo.yaml"])
    assert (entry.task_id, entry.value) == ("egotempo", 45.0)
    assert "a-judge" in entry.notes


def test_task_ids_are_those_of_the_registration(tmp_path, sample_folder):
    registered = yaml.safe_load((sample_folder / "egogears" / "eval.yaml").read_text())
    entries = entries_of(eval_results(gears_run(tmp_path))[".eval_results/egogears.yaml"])
    assert {one.task_id for one in entries} == {task["id"] for task in registered["tasks"]}


def test_the_newest_results_count_by_the_runs_numbers_whatever_their_local_times_say(tmp_path):
    gears_run(tmp_path, exact=0.5, date="2026-11-30T05-15-00.123456")
    gears_run(tmp_path, exact=0.25, date="2026-11-29T05-15-00.123456")
    for number, date in enumerate(("2026-11-30T05-15-00.123456", "2026-11-29T05-15-00.123456"), start=1):
        write_record(tmp_path, number, date)
    assert "25.0" in eval_results(tmp_path)[".eval_results/egogears.yaml"]


def test_of_results_that_nothing_puts_in_order_none_is_chosen(tmp_path):
    gears_run(tmp_path, exact=0.5, date="2026-11-29T05-15-00.123456")
    gears_run(tmp_path, exact=0.25)
    with pytest.raises(InputError, match="local times, which do not tell"):
        eval_results(tmp_path)


def test_292_failed_requests_of_567_are_refused(tmp_path):
    run = write_run(tmp_path, {"egogears:single": {"exact_set": 0.5}}, {"egogears:single": 567}, lost=292)
    with pytest.raises(InputError, match="292 of 567 questions have no answer for reasons that are not the model's"):
        eval_results(run)


def test_single_in_one_way_and_multi_in_another_are_refused(tmp_path):
    for config, temperature in (("single", 0.9), ("multi", 0.0)):
        scores = {f"egogears:{config}": {"exact_set": 0.5}}
        counts = {f"egogears:{config}": EGOGEARS.rows[config]}
        date = f"2026-11-2{len(config)}T05-15-00.1"
        write_run(tmp_path, scores, counts, date=date, settings={"temperature": temperature})
    with pytest.raises(InputError, match=r"under different settings .*temperature=0\.0.*temperature=0\.9"):
        eval_results(tmp_path)


def test_a_run_over_a_folder_needs_the_datasets_id_and_has_no_revision(tmp_path):
    run = gears_run(tmp_path, repo="/data/egogears", revision=None)
    with pytest.raises(InputError, match="name the benchmark's dataset id"):
        eval_results(run)
    (entry, _) = entries_of(eval_results(run, dataset_id="org/gears")[".eval_results/egogears.yaml"])
    assert (entry.dataset_id, entry.dataset_revision) == ("org/gears", None)


def test_a_part_of_a_split_is_refused(tmp_path):
    run = write_run(tmp_path, {"egogears:single": {"exact_set": 1.0}}, {"egogears:single": 142})
    with pytest.raises(InputError, match="asked 142 of 567 questions"):
        eval_results(run)


def test_a_run_without_details_is_refused(tmp_path):
    run = write_run(tmp_path, {"egogears:single": {"exact_set": 1.0}}, {})
    with pytest.raises(InputError, match="--save-details"):
        eval_results(run)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"judged": 0.98}, "without a verdict"), ({"categories": CATEGORIES[:9]}, "9 of 10 categories")],
)
def test_an_incomplete_egotempo_is_refused(tmp_path, options, message):
    with pytest.raises(InputError, match=message):
        eval_results(tempo_run(tmp_path, **options))


def test_an_answer_that_the_model_did_not_give_needs_no_verdict(tmp_path):
    scores = {name: {"judge_accuracy": 0.1, "judged": 0.98, "answered": 0.98} for name in CATEGORIES}
    assert (
        "10.0"
        in eval_results(write_run(tmp_path, scores, dict.fromkeys(CATEGORIES, 50)))[".eval_results/egotempo.yaml"]
    )


def test_several_models_are_refused(tmp_path):
    gears_run(tmp_path)
    gears_run(tmp_path, model="org/other")
    with pytest.raises(InputError, match="several models"):
        eval_results(tmp_path)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"results": {}}', '{"results": {}, "config_tasks": []}'])
def test_results_that_cannot_be_read(tmp_path, text):
    (path,) = gears_run(tmp_path).rglob("results_*.json")
    path.write_text(text)
    with pytest.raises(InputError, match="cannot be read as lighteval's results"):
        eval_results(tmp_path)


def test_no_results_and_no_results_of_ours(tmp_path):
    with pytest.raises(InputError, match="holds no results; give the folder"):
        eval_results(tmp_path)
    name = "egotempo_f8:counting_actions"
    with pytest.raises(InputError, match="default setting"):
        eval_results(write_run(tmp_path, {name: {}}, {name: 2}))
