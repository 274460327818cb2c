"""Our hooks, and the defects that they work round: a test here that fails may mean that a hook can go."""

import copy
import dataclasses
import json

import pytest
from lighteval.logging.evaluation_tracker import EvaluationTracker
from lighteval.logging.info_loggers import MetricsLogger
from lighteval.models import model_loader
from lighteval.models.transformers.vlm_transformers_model import VLMTransformersModel, VLMTransformersModelConfig
from lighteval.tasks.lighteval_task import LightevalTask, LightevalTaskConfig
from lighteval.tasks.prompt_manager import PromptManager
from lighteval.tasks.registry import Registry
from lighteval.tasks.requests import Doc
from PIL import Image

from egobench_tasks import tasks
from egobench_tasks.benchmarks import EGOGEARS
from egobench_tasks.hosts.lighteval.usage import Told
from egobench_tasks.hosts.lighteval.vlm import FrameVLM


def task_of(config):
    return LightevalTask(copy.deepcopy(next(task for task in tasks.TASKS_TABLE if task.name == f"egogears:{config}")))


def test_defect_stock_vision_class_puts_images_last_and_returns_a_string(tiny_llava, tmp_path):
    settings = {"model_name": str(tiny_llava), "generation_size": 4, "cache_dir": str(tmp_path)}
    model = VLMTransformersModel(VLMTransformersModelConfig(**settings))
    doc = Doc(query="text", choices=[], gold_index=0, images=[Image.new("RGB", (28, 28))] * 2, generation_size=4)
    (response,) = model._greedy_until([doc])
    assert isinstance(response.text, str)
    assert "text<image><image>" in response.input


def test_defect_stock_loader_decodes_every_row(sample_folder):
    from datasets import Video, load_dataset

    rows = load_dataset(str(sample_folder / "egogears"), "single", split="test")
    assert rows.features["video"] == Video(decode=True)


def test_hooks_are_in_place_once(monkeypatch):
    assert model_loader.VLMTransformersModel is FrameVLM
    before = (LightevalTask.download_dataset_worker, PromptManager.prepare_prompt)
    tasks.compat.apply()
    assert (LightevalTask.download_dataset_worker, PromptManager.prepare_prompt) == before


def test_loading_leaves_videos_undecoded_and_names_the_rows_in_the_config(sample_folder, monkeypatch):
    monkeypatch.setenv("EGOGEARS_DATA", str(sample_folder / "egogears"))
    task = task_of("multi")
    before = str(task.config)
    LightevalTask.load_datasets({"t": task})
    row = task.dataset["test"][0]
    assert row["video"]["bytes"] is None
    assert row["videos"][0]["path"].endswith(".mp4")
    assert str(task.config) != before
    assert "dataset not loaded" not in str(task.config)


def test_a_changed_dataset_changes_the_task_config(sample_folder, monkeypatch):
    from egobench_tasks.data import fingerprint, load_rows, locate

    monkeypatch.setenv("EGOGEARS_DATA", str(sample_folder / "egogears"))
    rows = load_rows(locate(EGOGEARS), "multi")
    assert fingerprint(rows) == fingerprint(list(rows))
    assert fingerprint(rows) != fingerprint([{**rows[0], "answer": ["H"]}, *list(rows)[1:]])


@pytest.mark.parametrize("change", ["templates", "n_frames", "min_frames"])
def test_whatever_shapes_the_input_shows_in_the_task_config(change):
    config = task_of("multi").config
    other = copy.deepcopy(config)
    prompt = other.prompt_function
    values = {
        "templates": dataclasses.replace(prompt.templates, multi="$question $options"),
        "n_frames": 32,
        "min_frames": 2,
    }
    setattr(prompt, change, values[change])
    prompt.set_dataset("not loaded")
    assert str(config) != str(other)


def test_other_tasks_load_through_the_stock_loader(tmp_path):
    (tmp_path / "test.jsonl").write_text(json.dumps({"q": "1"}) + "\n")
    config = LightevalTaskConfig(
        name="other", prompt_function=lambda row, name: None, hf_repo=str(tmp_path), hf_subset="default", metrics=[]
    )
    task = LightevalTask(config)
    LightevalTask.load_datasets({"other": task})
    assert task.dataset["test"][0] == {"q": "1"}


@pytest.mark.parametrize("name", ["prepare_prompt", "prepare_prompt_api", "prepare_prompt_multimodal"])
def test_a_back_end_that_would_ask_blind_is_refused(docs_of, name):
    with pytest.raises(Told, match="without its frames"):
        getattr(PromptManager(), name)(docs_of("single")[0])


def test_other_documents_pass_the_guard():
    assert PromptManager().prepare_prompt(Doc(query="q", choices=[], gold_index=0)) == "q"


def test_no_dataset_is_one_message_that_says_what_to_run(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Told, match="egobench build egogears") as error:
        LightevalTask.load_datasets({"t": task_of("single")})
    assert error.value.exit_code == 2


def test_fewer_questions_than_published_are_said_aloud(docs_of, caplog):
    docs_of("multi")
    assert "the published split has 1487" in caplog.text


def test_defect_folders_are_made_of_a_models_name_as_it_is(tmp_path):
    tracker = EvaluationTracker(output_dir=str(tmp_path / "out"))
    tracker.general_config_logger.model_name = "../../x"
    tracker.save_results("now", {})
    assert (tmp_path / "x" / "results_now.json").is_file()


def test_a_models_name_cannot_climb_out_of_the_output_folder(tmp_path):
    tracker = EvaluationTracker(output_dir=str(tmp_path / "out"))
    tracker.general_config_logger.log_model_info(VLMTransformersModelConfig(model_name="../../x"))
    tracker.general_config_logger.log_end_time()
    tracker.save()
    assert [path.parent for path in tmp_path.rglob("results_*.json")] == [tmp_path / "out" / "results" / "x"]


NAMES = [
    f"egogears_{probe}" for probe in ("blind", "center", "f8", "f16", "f32", "perm1", "perm2", "renamed", "swapped")
]


def test_defect_tasks_are_in_another_order_in_every_process():
    stock = Registry._get_full_task_list_from_input_string.__wrapped__
    assert stock(None, ",".join(NAMES)) != NAMES  # of a set of nine: theirs once in 362,880 processes


def test_tasks_are_in_the_order_of_their_names():
    listed = Registry._get_full_task_list_from_input_string(None, ",".join(reversed(NAMES)))
    assert listed == sorted(NAMES)


def test_sums_over_tasks_do_not_depend_on_the_order_in_which_they_were_answered():
    def summed(names):
        logger = MetricsLogger()
        for name in names:
            for value in (0.1, 0.3, len(name) / 7):
                logger.log(name, {"chance": value})
        logger.aggregate({name: task_of("single") for name in names}, bootstrap_iters=0)
        return list(logger.metric_aggregated.items())

    names = [f"{name}:single|0" for name in NAMES]
    assert summed(names) == summed(names[::-1])
