"""What counts as the same model, and that no other one's answers are taken for its own."""

import dataclasses
import json
import os
import shutil
from pathlib import Path

import pytest
from huggingface_hub import constants
from lighteval.models.transformers.vlm_transformers_model import VLMTransformersModelConfig

from egobench_tasks.frames.lazy import FrameList
from egobench_tasks.hosts.lighteval import identity
from egobench_tasks.hosts.lighteval.identity import model_identity, with_identity
from egobench_tasks.runs.differences import comparable, differing


def identity_of(model_name, sha="", **settings):
    return model_identity(VLMTransformersModelConfig(model_name=str(model_name), **settings), sha)


@pytest.fixture
def model(tiny_llava, tmp_path):
    """A copy of the tiny model, to be changed."""
    return Path(shutil.copytree(tiny_llava, tmp_path / "model"))


@pytest.fixture
def hub(tiny_llava):
    """``hub("org/name", "sha")``: the cache's snapshot of a repository, named by ``refs/main``; gone afterwards."""
    made = []

    def cached(repo_id, commit, source=tiny_llava):
        repository = Path(constants.HF_HUB_CACHE) / f"models--{repo_id.replace('/', '--')}"
        made.append(repository)
        snapshot = repository / "snapshots" / commit
        shutil.copytree(source, snapshot)
        (repository / "refs").mkdir(exist_ok=True)
        (repository / "refs" / "main").write_text(commit)
        return snapshot

    yield cached
    for repository in made:
        shutil.rmtree(repository, ignore_errors=True)


def edit(path, **values):
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "model.safetensors").write_bytes(b"other weights"),
        lambda folder: edit(folder / "tokenizer_config.json", bos_token="<x>"),
        lambda folder: edit(folder / "processor_config.json", patch_size=7),
        lambda folder: (folder / "chat_template.jinja").write_text("{{ messages }}"),
        lambda folder: edit(folder / "generation_config.json", eos_token_id=[1]),
        lambda folder: (folder / "modeling_own.py").write_text("x = 1"),
        lambda folder: (folder / "model.safetensors").unlink(),
    ],
)
def test_every_file_of_a_models_folder_counts_by_its_content(model, change):
    before = identity_of(model)
    (model / "chat_template.jinja").touch()
    assert identity_of(model) == before
    change(model)
    assert identity_of(model) != before


def test_what_no_model_reads_does_not_count(model):
    before = identity_of(model)
    (model / "README.md").write_text("a card")
    (model / ".cache").mkdir()
    (model / "egogears:multi").mkdir()  # where lighteval's own cache of samples lies
    (model / "egogears:multi" / "x.parquet").write_text("x")
    assert identity_of(model, batch_size=7, cache_dir="elsewhere") == before


def test_a_processors_files_count_wherever_they_lie(model, tiny_llava, tmp_path):
    folder = Path(shutil.copytree(tiny_llava, tmp_path / "processor"))
    before = identity_of(model, processor=str(folder))
    edit(folder / "processor_config.json", patch_size=7)
    after = identity_of(model, processor=str(folder))
    assert differing(before, after) == ["sources.processor.files.processor_config.json"]


def test_a_subfolder_counts(model):
    (model / "part").mkdir()
    (model / "part" / "model.safetensors").write_bytes(b"1")
    before, beside = identity_of(model, subfolder="part"), identity_of(model)
    (model / "part" / "model.safetensors").write_bytes(b"2")
    assert identity_of(model, subfolder="part") != before
    assert identity_of(model) == beside


def test_an_adapters_base_counts(model, tmp_path):
    adapter = tmp_path / "adapter"
    adapter.mkdir()
    (adapter / "adapter_config.json").write_text(json.dumps({"base_model_name_or_path": str(model)}))
    before = identity_of(adapter)
    (model / "model.safetensors").write_bytes(b"another base")
    assert differing(before, identity_of(adapter)) == ["sources.model_name.base.files.model.safetensors"]


def test_a_large_file_counts_by_its_parts_size_and_time_and_on_another_machine_by_all_but_time(model, monkeypatch):
    monkeypatch.setattr(identity, "_WHOLE_BYTES", 2**20)
    large = model / "model.safetensors"
    large.write_bytes(bytes(3 * 2**20))
    before = identity_of(model)
    content = large.read_bytes()
    large.write_bytes(content)
    os.utime(large, (1, 1))
    assert identity_of(model) != before and comparable(identity_of(model)) == comparable(before)
    large.write_bytes(content[:-1] + b"x")
    assert comparable(identity_of(model)) != comparable(before)


def test_a_repository_in_the_cache_is_its_commit_offline_too(hub, tiny_llava):
    hub("org/offline", "a" * 40)
    before = identity_of("org/offline")
    assert before["sources"]["model_name"]["commit"] == "a" * 40
    hub("org/offline", "b" * 40)
    after = identity_of("org/offline")
    assert differing(before, after) == ["sources.model_name.commit"]
    assert identity_of("org/offline", revision="a" * 40)["sources"] == before["sources"]
    assert identity_of("org/absent", sha="c" * 40)["sources"]["model_name"] == {"commit": "c" * 40, "files": {}}


def test_the_same_commit_with_other_cached_files_can_be_merged(hub):
    snapshot = hub("org/more", "a" * 40)
    before = identity_of("org/more")
    (snapshot / "vocab.txt").write_text("a")
    assert comparable(identity_of("org/more")) == comparable(before)


def test_versions_of_the_libraries_count(model):
    assert {"torch", "transformers", "tokenizers", "pillow", "av", "egobench"} <= set(identity_of(model)["versions"])


def test_lighteval_saves_the_identity_with_the_settings(model):
    config = VLMTransformersModelConfig(model_name=str(model), generation_parameters={"seed": 3})
    known = model_identity(config, "")
    saved = with_identity(config, known).model_dump()
    assert saved.pop("identity") == {"sources": known["sources"], "versions": known["versions"]}
    assert saved == config.model_dump()


def asked_otherwise(doc, other):
    """The same question under another wording, of another clip, with other frames."""
    (segment, *rest), request = doc.specific["segments"], doc.images.requests[0]
    yield "prompt", [{**segment, "text": "Other words. " + segment["text"]}, *rest], doc.images.requests
    yield "dataset", doc.specific["segments"], other.images.requests
    spec = dataclasses.replace(request.spec, max_width_px=240)
    yield "frames", doc.specific["segments"], (dataclasses.replace(request, spec=spec), *doc.images.requests[1:])


def test_prompts_frames_and_dataset_of_one_name_take_no_answer_of_each_other(vlm, docs_of, count_generations):
    model, (doc, another) = vlm(), docs_of("single")[:2]
    model.greedy_until([doc])
    for what, segments, requests in asked_otherwise(doc, another):
        n_before = len(count_generations)
        other = dataclasses.replace(doc, images=FrameList(requests), specific={**doc.specific, "segments": segments})
        model.greedy_until([other])
        assert len(count_generations) == n_before + 1, what
    model.greedy_until([doc])
    assert len(count_generations) == 4


def test_weights_and_processor_of_one_name_take_no_answer_of_each_other(
    vlm, docs_of, count_generations, hub, tiny_llava, tmp_path
):
    """A Hub id offline whose snapshot is replaced, and a processor's folder in which a size is edited."""
    from dataset_scripts.sample.tiny_vlm import write_tiny_llava

    docs = docs_of("single")[:1]
    processor = Path(shutil.copytree(tiny_llava, tmp_path / "processor"))
    named = {"model_name": "org/tiny", "processor": str(processor)}
    hub("org/tiny", "a" * 40)
    vlm(**named).greedy_until(docs)
    hub("org/tiny", "b" * 40, write_tiny_llava(tmp_path / "other", seed=2))
    vlm(**named).greedy_until(docs)
    settings = json.loads((processor / "processor_config.json").read_text())
    settings["image_processor"]["size"] = {"shortest_edge": 30}
    (processor / "processor_config.json").write_text(json.dumps(settings))
    vlm(**named).greedy_until(docs)
    assert len(count_generations) == 3
    vlm(**named).greedy_until(docs)
    assert len(count_generations) == 3
