"""Checkpoints as they lie on people's disks: in shards, with an adapter beside them, to be quantized."""

import json
import shutil

import pytest
import torch
from questions import answer, question, vision

from egobench_tasks.errors import InputError
from egobench_tasks.hosts.lighteval.vision.model import VisionModel
from egobench_tasks.hosts.lighteval.vision.settings import read_settings


@pytest.fixture(scope="module")
def plain(family):
    return answer(vision(family("idefics3")), [question()])


@pytest.mark.slow
def test_a_checkpoint_in_shards_over_a_device_map_answers_as_in_one_piece(family, plain, tmp_path, monkeypatch):
    from transformers import AutoModelForImageTextToText

    whole, shards = family("idefics3"), tmp_path / "shards"
    shutil.copytree(whole, shards, ignore=shutil.ignore_patterns("*.safetensors"))
    AutoModelForImageTextToText.from_pretrained(whole).save_pretrained(shards, max_shard_size="50KB")
    assert len(list(shards.glob("model-*-of-*.safetensors"))) > 1
    # The host turns device_map=auto into this placement. One processor holds the whole map, so that the loader was
    # asked for it is seen from its call.
    model = VisionModel(read_settings(f"model_name={shards}"), {"device_map": "auto"}, torch.device("cpu"))
    model_class, asked = model.checkpoint.model_class, {}
    load = model_class.from_pretrained
    monkeypatch.setattr(
        model_class, "from_pretrained", lambda name, **given: asked.update(given) or load(name, **given)
    )
    assert answer(model, [question()]) == plain
    assert asked["device_map"] == "auto"


VISION_ASIDE = {"model.vision_tower": "disk", "model.multi_modal_projector": "disk", "model.language_model": "cpu"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "placement",
    [
        {"device_map": {**VISION_ASIDE, "lm_head": "cpu"}},
        {"device_map": {"": "disk"}},
        {"device_map": "auto", "max_memory": {"cpu": 60_000}},
    ],
)
def test_a_model_part_of_which_is_kept_on_a_disk_answers_as_a_whole_one(family, placement):
    # A disk is to a machine without accelerators what memory is beside one: weights are empty until they are used.
    folder, arguments = family("llava in order"), "chat_template=in-order"
    questions = [question(), question((1, 1), n_words=30)]
    model = VisionModel(read_settings(f"model_name={folder},{arguments}"), placement, torch.device("cpu"))
    assert answer(model, questions) == answer(vision(folder, arguments), questions)
    assert "disk" in model.weights.hf_device_map.values()


def test_a_placement_that_a_family_does_not_take_is_named_not_its_processor(family):
    settings = read_settings(f"model_name={family('idefics3')}")
    with pytest.raises(InputError, match=r"kept aside \(all on disk\).* free memory") as error:
        answer(VisionModel(settings, {"device_map": {"": "disk"}}, torch.device("cpu")), [question()])
    assert "processor" not in str(error.value)


def test_weights_that_cannot_lie_on_a_disk_are_refused_without_advice_that_nobody_can_follow(family):
    model_parts = ("model.vision_tower", "model.multi_modal_projector", "lm_head")
    device_map = {**dict.fromkeys(model_parts, "cpu"), "model.language_model": "disk"}  # lm_head is tied to it
    model = VisionModel(
        read_settings(f"model_name={family('gemma3')}"), {"device_map": device_map}, torch.device("cpu")
    )
    with pytest.raises(InputError, match=r"placed by device_map=.*: free memory on the devices") as error:
        answer(model, [question()])
    assert "from_pretrained" not in str(error.value)


@pytest.fixture
def adapter(family, tmp_path):
    """A PEFT adapter of the small Idefics 3, with weights that change its answers."""
    peft = pytest.importorskip("peft", reason="peft is not installed here; make families has it")
    from transformers import AutoModelForImageTextToText

    base = AutoModelForImageTextToText.from_pretrained(family("idefics3"))
    torch.manual_seed(1)
    config = peft.LoraConfig(r=4, lora_alpha=64, target_modules=["q_proj", "v_proj"], init_lora_weights=False)
    peft.get_peft_model(base, config).save_pretrained(tmp_path / "adapter")
    return tmp_path / "adapter"


@pytest.mark.slow
def test_an_adapter_acts_the_same_by_its_setting_and_as_a_folder_of_its_own(family, adapter, plain):
    named = json.loads((adapter / "adapter_config.json").read_text(encoding="utf-8"))["base_model_name_or_path"]
    assert named == str(family("idefics3"))  # as PEFT wrote it
    by_setting = answer(vision(family("idefics3"), f"adapter={adapter}"), [question()])
    assert by_setting != plain
    assert answer(vision(adapter), [question()]) == by_setting


def test_quantization_that_this_machine_cannot_do_is_refused_before_the_weights(family, monkeypatch):
    from egobench_tasks.hosts.lighteval.vision import model as module

    monkeypatch.setattr(module, "load_model", lambda *_: pytest.fail("weights were read"))
    for quantization in ("4bit", "8bit", "{quant_method: gptq}", "{quant_method: nonsense}"):
        with pytest.raises(InputError, match="quantization") as error:
            vision(family("idefics3"), f"quantization={quantization}")
        assert "\n" not in str(error.value)
