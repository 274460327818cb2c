"""`egobench run FILE.yaml`: what it refuses before anything starts, and the command lines that it comes to."""

import json

import pytest

from egobench_tasks.commands import run_plan
from egobench_tasks.commands.run_file import read_plan
from egobench_tasks.errors import InputError
from egobench_tasks.hosts.lighteval.vision.names import SETTINGS

SERVED = {"base_url": "http://127.0.0.1:9/v1", "model": "served"}
MODELS = [{"transformers": "model_name=/models/a,batch_size=2"}, {"endpoint": SERVED, "name": "b"}]


@pytest.fixture
def write(tmp_path, sample_folder, monkeypatch):
    """``write(tasks=…)``: a run's file that is whole but for what is given."""
    monkeypatch.setenv("EGOGEARS_DATA", str(sample_folder / "egogears"))

    def make(**values):
        path = tmp_path / "night.yaml"
        path.write_text(json.dumps({"models": MODELS, "tasks": "egogears", "output": str(tmp_path / "out"), **values}))
        return path

    return make


def test_a_file_comes_to_one_command_line_a_model(write, tmp_path):
    path = write(probes=["swapped"], repeats=1, max_samples=3, save_details=False, price_in=2.5, dry_run=True)
    first, second = read_plan(path).models
    shared = ["--repeats", "1", "--max-samples", "3", "--no-save-details"]
    assert (first.name, first.kind, first.model) == ("a", "transformers", "model_name=/models/a,batch_size=2")
    assert first.arguments == (
        "egogears,egogears_swapped", "--output-dir", str(tmp_path / "out" / "a"), *shared,
        "--price-in", "2.5", "--dry-run",
    )  # fmt: skip
    assert second.arguments[:3] == ("egogears,egogears_swapped", "--output-dir", str(tmp_path / "out" / "b"))
    assert "--price-in" not in second.arguments  # an endpoint's prices are settings of its own


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"tsks": "egogears"}, "there is no 'tsks'; did you mean tasks?"),
        ({"max_sample": 3}, "did you mean max_samples?"),
        ({"tasks": "egogear"}, "did you mean egogears?"),
        ({"probes": ["swaped"]}, "did you mean swapped?"),
        ({"max_samples": "many"}, "'--max-samples'"),
        ({"fresh": "yes"}, "fresh must be true or false"),
        ({"shard": "5/4"}, "such as 2/4"),
        ({"models": []}, "models must be set"),
        ({"output": ["night"]}, "output must be a folder; got .*night"),
        ({"report": ["page"]}, "report must be true, false or a folder"),
        ({"tasks": {"egogears": 1}}, "tasks must be a name or a list of names"),
        ({"probes": True}, "probes must be a name or a list of names"),
        ({"judge": True}, "judge must be a YAML file or a mapping"),
        ({"models": {"transformers": "model_name=x"}}, "models must be a list"),
        ({"models": [{}]}, "model 1: must hold either"),
        ({"models": [{"transformers": {"model_name": "x", "batchsize": 2}}]}, "model 1.*did you mean batch_size?"),
        ({"models": [{"transformers": "model_name=x,batchsize=2"}]}, "did you mean batch_size?"),
        (
            {"models": [{"endpoint": {**SERVED, "concurency": 2}}]},
            "model 1: unknown setting.*did you mean concurrency?",
        ),
        ({"models": [{"endpoint": "absent.yaml"}]}, "absent.yaml"),
        ({"models": [MODELS[0], MODELS[0]]}, "two models are called a"),
        ({"models": [MODELS[1]], "repeats": 2}, "temperature"),
        ({"judge": {"base_url": "x"}}, "judge"),
        ({"tasks": "egotempo"}, "EGOTEMPO_DATA"),
    ],
)
def test_what_is_wrong_is_found_before_anything_starts(write, tmp_path, values, says):
    with pytest.raises(InputError, match=says.replace("?", r"\?")):
        read_plan(write(**values))
    assert not (tmp_path / "out").exists()


def test_every_option_of_the_command_line_can_stand_in_a_file(write):
    from egobench_tasks.commands.run_file import _options

    for kind in ("transformers", "endpoint"):
        options = _options(kind)
        assert {"shard", "fresh", "repeats", "dry_run", "max_samples", "save_details", "report"} <= set(options)
        samples = {"shard": "1/2", "repeats": 1, "max_samples": 1}
        given = {name: samples.get(name, option.is_flag or 1) for name, option in options.items()}
        (model,) = read_plan(write(models=[{kind: MODELS[kind == "endpoint"][kind], **given}])).models
        assert all(max(option.opts, key=len) in model.arguments for option in options.values())


def test_the_names_of_a_models_settings_are_those_of_its_class():
    from egobench_tasks.hosts.lighteval.vision.settings import FrameVLMConfig

    assert set(FrameVLMConfig.model_fields) - {"settled"} == SETTINGS


def test_one_model_that_fails_does_not_lose_the_others(write, tmp_path, monkeypatch, capfd):
    ran = []

    def command_of(model):
        ran.append(model.name)
        return ["false" if model.name == "a" else "true"]

    monkeypatch.setattr(run_plan, "command_of", command_of)
    assert run_plan.run_plan(read_plan(write())) == 1
    said = capfd.readouterr().out
    assert ran == ["a", "b"]
    assert "1 of 2 models ran to their end; not a (exit code 1)" in said and "the same command" in said


def test_settings_that_stand_in_the_file_are_kept_beside_the_results(write, tmp_path):
    _, second = read_plan(write()).models
    command = run_plan.command_of(second)
    written = tmp_path / "out" / "b" / "endpoint.yaml"
    assert command[3:6] == ["run", "endpoint", str(written)] and json.loads(written.read_text()) == SERVED
