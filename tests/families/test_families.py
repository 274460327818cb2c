"""Families that need no torchvision; `table.py` runs all of them in an environment that has it."""

import dataclasses

import pytest
import torch
from questions import answer, question, vision
from recipes import IMAGES_FIRST, RECIPES, STRING_ONLY

from egobench_tasks.errors import EgobenchError, InputError
from egobench_tasks.hosts.lighteval.usage import Told
from egobench_tasks.hosts.lighteval.vision.model import added_tokens
from egobench_tasks.hosts.lighteval.vision.prepare import prepare
from egobench_tasks.hosts.lighteval.vision.settings import read_settings

LEAN = ("llava in order", "gemma3", "t5gemma2", "idefics3")
OTHERS = ("llava_next", "vipllava", "idefics2", "ovis2", "mllama", "deepseek_vl", "aria")


@pytest.mark.parametrize("name", [*LEAN, *(pytest.param(name, marks=pytest.mark.slow) for name in OTHERS)])
def test_a_family_answers_alone_as_in_a_batch_with_every_frame_in_its_place(family, name):
    recipe = RECIPES[name]
    model = vision(family(name), recipe.arguments)
    questions = [question(), question((1, 1), n_words=30)]
    together = answer(model, questions)
    assert [answer(model, [one])[0] for one in questions] == together
    assert all(len(tokens) == 4 for tokens in together)
    first = prepare(model.maker, questions[:1]).inputs
    text = model.processor.tokenizer.decode(first["input_ids"][0], skip_special_tokens=False)
    head, _, rest = text.partition("CLIP_0")
    between, _, tail = rest.partition("CLIP_1")
    token = model.processor.tokenizer.convert_ids_to_tokens(mark_id(model, first))
    assert head.count(token) == 0
    assert between.count(token) == 3 * tail.count(token) > 0


def mark_id(model, inputs):
    """The commonest special token: what stands for a piece of an image."""
    special = set(model.processor.tokenizer.added_tokens_decoder)
    ids = [token for token in inputs["input_ids"][0].tolist() if token in special]
    return max(set(ids), key=ids.count)


def test_llavas_public_template_is_refused_before_the_weights_are_read(family, monkeypatch):
    from egobench_tasks.hosts.lighteval.vision import model as module

    monkeypatch.setattr(module, "load_model", lambda *_: pytest.fail("weights were read"))
    with pytest.raises(InputError, match="chat_template=in-order"):
        vision(family("llava in order"))


@pytest.mark.parametrize(
    ("name", "says"),
    [("blind (llama)", "reads images and answers in words"), ("paligemma", "has no chat template")],
)
def test_a_model_that_cannot_be_asked_is_refused_in_one_message(family, name, says):
    with pytest.raises(InputError, match=says):
        vision(family(name))


def test_a_bf16_checkpoint_runs_without_a_dtype(tmp_path):
    from build import write_model

    model = vision(write_model(RECIPES["gemma3"], tmp_path / "bf16", dtype=torch.bfloat16))
    assert len(answer(model, [question()])[0]) == 4
    assert prepare(model.maker, [question()]).inputs["pixel_values"].dtype == torch.bfloat16


def test_a_missing_padding_token_is_made_good(tmp_path):
    import json

    from build import write_model

    folder = write_model(RECIPES["idefics3"], tmp_path / "model")
    path = folder / "tokenizer_config.json"
    config = json.loads(path.read_text())
    config.pop("pad_token")
    path.write_text(json.dumps(config))
    model = vision(folder)
    assert model.processor.tokenizer.pad_token is not None
    assert len(answer(model, [question(), question((1, 1))])) == 2


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("images_kwargs={do_image_spliting: false}", "did you mean do_image_splitting"),
        ("processor_kwargs={images_kwargs: {sizes: 3}}", "did you mean size"),
        ("processor_kwargs={truncation: true}", "no option 'truncation'"),
        ("images_kwargs={do_resize: true},processor_kwargs={do_resize: true}", "give it once"),
        ("chat_template_kwargs={enable_thinking: false}", "has no variable 'enable_thinking'"),
        ("input=video", "no part for videos"),
        ("adapter=nowhere", "needs the package peft"),
        ("quantization=4bit", "needs the package bitsandbytes"),
        ("processor=/no/such/folder", "processor=/no/such/folder: there is no such folder here"),
    ],
)
def test_what_the_model_does_not_have_is_refused_before_its_weights_are_read(family, arguments, says):
    with pytest.raises(InputError, match=says):
        vision(family("idefics3"), arguments)


def test_a_folder_that_is_no_model_is_one_message(tmp_path):
    with pytest.raises(InputError, match="its config cannot be loaded") as error:
        vision(tmp_path)
    assert "\n" not in str(error.value)


def test_a_family_that_tiles_shows_one_tile_a_frame_and_says_so(family):
    model = vision(family("idefics3"))
    assert model._settings.settled["images_kwargs"] == {"do_image_splitting": False}
    whole = prepare(model.maker, [question()]).inputs["input_ids"].shape[1]
    tiled = vision(family("idefics3"), "images_kwargs={do_image_splitting: true,size: {longest_edge: 224}}")
    assert tiled._settings.settled["images_kwargs"] == {}
    assert prepare(tiled.maker, [question()]).inputs["input_ids"].shape[1] > 2 * whole


def test_a_prompt_that_does_not_fit_is_counted_and_an_option_named_that_makes_it_fit(family):
    arguments = "max_length=600,images_kwargs={do_image_splitting: true,size: {longest_edge: 224}}"
    model = vision(family("idefics3"), arguments)
    with pytest.raises(EgobenchError) as error:
        prepare(model.maker, [question()])
    assert "of 4 frames, about" in str(error.value)
    option, _, rest = str(error.value).partition("images_kwargs=")[2].partition(" makes it about ")
    fitting = vision(family("idefics3"), f"max_length=600,images_kwargs={option[:-1]},size: {{longest_edge: 224}}}}")
    n_tokens = prepare(fitting.maker, [question()]).inputs["input_ids"].shape[1]
    assert abs(n_tokens - int(rest.split()[0].replace(",", ""))) <= 8


def test_a_model_whose_image_part_leads_nowhere_is_refused(family, tmp_path):
    from transformers import AutoModelForImageTextToText

    model = AutoModelForImageTextToText.from_pretrained(family("gemma3"))
    model.model.multi_modal_projector.mm_input_projection_weight.data.zero_()
    model.save_pretrained(tmp_path / "blind")
    for path in family("gemma3").iterdir():
        if not (tmp_path / "blind" / path.name).exists():
            (tmp_path / "blind" / path.name).write_bytes(path.read_bytes())
    with pytest.raises(InputError, match="answers blind"):
        answer(vision(tmp_path / "blind"), [question()])


def test_a_string_only_template_is_refused_or_fed_a_string(tmp_path):
    from build import write_model

    folder = write_model(dataclasses.replace(RECIPES["idefics3"], template=STRING_ONLY), tmp_path / "model")
    with pytest.raises(InputError, match="chat_template=in-order"):
        vision(folder)
    model = vision(folder, "chat_template=in-order")
    assert model.prompt(["Look: "]) == "<|user|>Look: <|end|><|assistant|>"
    assert prepare(model.maker, [question()]).texts[0].count("<image>") == 4


def test_a_users_template_replaces_the_models_and_counts_as_another_input(family, tmp_path):
    path = tmp_path / "template.jinja"
    path.write_text(RECIPES["idefics3"].template.replace("IMAGE", "<image>"))
    own = vision(family("llava in order"), "chat_template=in-order")
    users = vision(family("llava in order"), f"chat_template={path}")
    assert own._settings.settled != users._settings.settled
    assert "<|im_start|>" in users.prompt(["a"])
    assert IMAGES_FIRST.startswith("{%") and "USER" in own.prompt(["a"])


@pytest.mark.parametrize(
    ("generated", "is_encoder_decoder", "new"),
    [([[7, 8, 1, 2]], False, [[1, 2]]), ([[1, 2]], False, [[1, 2]]), ([[0, 1, 2]], True, [[1, 2]])],
)
def test_new_tokens_are_told_from_the_prompt_however_generate_gives_them(generated, is_encoder_decoder, new):
    prompt = torch.tensor([[7, 8]])
    found = added_tokens(torch.tensor(generated), prompt, is_encoder_decoder=is_encoder_decoder)
    assert found.tolist() == new


def test_what_stops_a_run_reaches_lightevals_command_line_as_one_message(family):
    from egobench_tasks.hosts.lighteval.vlm import FrameVLM

    with pytest.raises(Told, match="chat_template=in-order"):
        FrameVLM(read_settings(f"model_name={family('llava in order')}"))
