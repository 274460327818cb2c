import io
import re

import pytest
from PIL import Image

from egobench_tasks.errors import EgobenchError
from egobench_tasks.hosts.lighteval.messages import message_parts
from egobench_tasks.hosts.lighteval.rounds import _question
from egobench_tasks.hosts.lighteval.said import Said, read_tokens
from egobench_tasks.hosts.lighteval.vision.prepare import prepare
from egobench_tasks.runs.journal import Journal, journal_root
from egobench_tasks.scoring.answers import LENGTH_STOP, NORMAL_STOP


def journalled():
    return [answer for folder in journal_root().iterdir() for answer in Journal(folder).answers().values()]


def prepared(model, *docs):
    """What the model is given for some documents."""
    return prepare(model._vision.maker, list(map(_question, docs)))


def test_the_prompt_interleaves_labels_and_frames(vlm, docs_of):
    model = vlm()
    doc = next(doc for doc in docs_of("multi") if doc.specific["n_clips"] > 1)
    batch = prepared(model, doc)
    parts = message_parts(doc)
    runs = re.findall(r"\n(\w+)\n((?:<image>)+)", batch.texts[0])
    labels = [part.strip() for part in parts[1:] if isinstance(part, str)]
    frames = [request.spec.count for request in doc.images.requests]
    assert [label for label, _ in runs] == labels
    assert [images.count("<image>") for _, images in runs] == frames
    assert sum(frames) == 64
    assert parts[0] in batch.texts[0]
    n_images = sum(isinstance(part, Image.Image) for part in parts)
    assert batch.inputs["pixel_values"].shape[0] == n_images == 64


def test_the_chat_templates_first_token_is_not_doubled(vlm, docs_of):
    model = vlm()
    ids = prepared(model, docs_of("single")[0]).inputs["input_ids"][0].tolist()
    assert ids.count(model.tokenizer.bos_token_id) == 1


def test_images_are_the_stores_jpegs(docs_of):
    doc = docs_of("multi")[0]
    shown = [part for part in message_parts(doc) if isinstance(part, Image.Image)]
    jpegs = [jpeg for clip in doc.images.clips() for jpeg in clip.jpegs]
    assert [image.tobytes() for image in shown] == [
        Image.open(io.BytesIO(jpeg)).convert("RGB").tobytes() for jpeg in jpegs
    ]


@pytest.mark.parametrize("batch_size", [1, 3])
def test_responses_come_in_the_documents_order_with_text_lists(vlm, docs_of, batch_size):
    docs = docs_of("multi")
    responses = vlm(batch_size=batch_size).greedy_until(docs)
    assert [response.input for response in responses] == [doc.query for doc in docs]
    assert all(isinstance(response.text, list) and len(response.text) == 1 for response in responses)


def test_hitting_the_limit_is_length_and_ending_by_oneself_is_stop(vlm, docs_of, small_cap):
    doc = docs_of("single")[0]
    model = vlm(generation_size=1)
    model._stop_ids = [model.tokenizer.pad_token_id]
    (short,) = model.greedy_until([doc])
    assert short.finish_reason == LENGTH_STOP
    model = vlm(generation_size=2)
    model._stop_ids = list(range(len(model.tokenizer)))
    (stopped,) = model.greedy_until([doc])
    assert stopped.finish_reason == NORMAL_STOP


def never_stops(model):
    """The model, generating to its budget whatever it says."""
    model._stop_ids = [model.tokenizer.pad_token_id]
    return model


def attempts_of(doc):
    """(budget, new tokens) of the document's attempts in the journal, in the order they were made."""
    answers = [answer for answer in journalled() if answer.question_id == doc.specific["question_id"]]
    return [(answer.budget_tokens, answer.n_new_tokens) for answer in answers]


@pytest.fixture
def small_cap(monkeypatch):
    """Budgets grow to 20 tokens at most."""
    import dataclasses

    from egobench_tasks.hosts.lighteval import vlm

    monkeypatch.setattr(vlm, "EGOGEARS", dataclasses.replace(vlm.EGOGEARS, max_new_tokens_cap=20))


def test_a_truncated_answer_is_asked_for_again_with_twice_the_budget_up_to_the_cap(vlm, docs_of, small_cap):
    docs = docs_of("single")[:3]
    for doc, generation_size in zip(docs, (6, 6, 10), strict=True):
        doc.generation_size = generation_size
    responses = never_stops(vlm(generation_size=None, batch_size=2)).greedy_until(docs)
    assert attempts_of(docs[0]) == attempts_of(docs[1]) == [(6, 6), (12, 12), (20, 20)]
    assert attempts_of(docs[2]) == [(10, 10), (20, 20)]
    by_budget = {(answer.question_id, answer.budget_tokens): answer for answer in journalled()}
    for doc, response in zip(docs, responses, strict=True):
        last = by_budget[doc.specific["question_id"], 20]
        assert (response.text, response.finish_reason) == ([last.text], LENGTH_STOP)


def test_one_bar_goes_over_all_budgets(vlm, docs_of, small_cap, capsys):
    """There was one bar a budget, each of which began at nothing and knew no other."""
    docs = docs_of("single")[:3]
    for doc, generation_size in zip(docs, (6, 6, 10), strict=True):
        doc.generation_size = generation_size
    never_stops(vlm(generation_size=None, batch_size=2)).greedy_until(docs)
    bars = re.findall(r"Answering in (\d+) tokens:.*?(\d+)/(\d+) ", capsys.readouterr().err)
    assert bars[-1] == ("20", "8", "8")
    counts = [int(count) for _, count, _ in bars]
    assert counts == sorted(counts) and {budget for budget, _, _ in bars} == {"6", "10", "12", "20"}


def test_an_answer_that_ends_by_itself_is_not_asked_for_again(vlm, docs_of, small_cap, count_generations):
    doc = docs_of("single")[0]
    doc.generation_size = 6
    model = vlm(generation_size=None)
    model._stop_ids = list(range(len(model.tokenizer)))
    (response,) = model.greedy_until([doc])
    assert (response.finish_reason, len(count_generations)) == (NORMAL_STOP, 1)


@pytest.mark.parametrize(
    "fixed", [{"generation_size": 6}, {"generation_size": None, "generation_parameters": {"max_new_tokens": 6}}]
)
def test_a_first_budget_that_the_user_named_grows_too(vlm, docs_of, small_cap, fixed):
    doc = docs_of("single")[0]
    never_stops(vlm(**fixed)).greedy_until([doc])
    assert attempts_of(doc) == [(6, 6), (12, 12), (20, 20)]


def test_special_tokens_that_mark_reasoning_are_seen_before_they_are_removed(vlm, docs_of):
    """Removed, they would leave an unclosed thought that reads as an answer."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(vlm().config.model_name)
    tokenizer.add_special_tokens({"extra_special_tokens": ["<think>", "</think>", "<|im_end|>"]})

    def said(text, prompt=""):
        tokens = [*tokenizer(text, add_special_tokens=False).input_ids, tokenizer.eos_token_id, tokenizer.pad_token_id]
        return read_tokens(tokenizer, tokens, {tokenizer.eos_token_id}, prompt)

    draft, answer = 'maybe {"answer": ["A"]}', '{"answer": ["B"]}'
    assert said(f"<think>{draft}<|im_end|>") == Said(f"<think>{draft}")
    assert said(f"<think>{draft}</think>{answer}<|im_end|>") == Said(f"<think>{draft}</think>{answer}")
    assert said(draft, prompt="<|im_start|>assistant\n<think>\n") == Said(f"<think>\n{draft}")  # the template opened it
    assert said(f"{answer}<|im_end|>") == Said(answer)
    tokenizer.response_template = {
        "defaults": {"role": "assistant"},
        "start_anchor": "<|im_start|>assistant\n",
        "fields": {
            "reasoning_content": {"open": "<think>", "close": "</think>", "content": "text"},
            "content": {"close": "<|im_end|>", "content": "text"},
        },
    }
    prompt = "<|im_start|>assistant\n"
    assert said(f"<think>{draft}</think>{answer}<|im_end|>", prompt) == Said(answer, draft)
    assert said(f"{draft}</think>{answer}", f"{prompt}<think>\n") == Said(answer, draft)
    assert said(f"<think>{draft}", prompt) == Said("", draft)
    assert said(answer, prompt) == Said(answer)


def test_a_run_killed_between_two_attempts_makes_the_next_one_only(vlm, docs_of, small_cap, count_generations):
    doc = docs_of("single")[0]
    doc.generation_size = 6
    never_stops(vlm(generation_size=None)).greedy_until([doc])
    (folder,) = journal_root().iterdir()
    (file,) = folder.glob("*.jsonl")
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines[:-1]))
    count_generations.clear()
    never_stops(vlm(generation_size=None)).greedy_until([doc])
    assert (len(lines), len(count_generations)) == (3, 1)
    assert sorted(attempts_of(doc)) == [(6, 6), (12, 12), (20, 20)]


def test_attempts_end_where_the_context_does(vlm, docs_of, small_cap):
    doc = docs_of("single")[0]
    doc.generation_size = 6
    n_prompt = prepared(vlm(), doc).inputs["input_ids"].shape[1]
    never_stops(vlm(generation_size=None, max_length=n_prompt + 9)).greedy_until([doc])
    assert attempts_of(doc) == [(6, 6), (12, 9)]


def test_every_token_that_the_model_ends_turns_with_is_a_stop(vlm):
    model = vlm()
    assert set(model._stop_ids) == {model.eos_token_id, model.tokenizer.convert_tokens_to_ids("Ġ")}


def test_what_was_answered_is_not_generated_again(vlm, docs_of, count_generations):
    docs = docs_of("single")
    first = vlm().greedy_until(docs[:2])
    assert len(count_generations) == 2
    again = vlm().greedy_until(docs)
    assert len(count_generations) == len(docs)
    assert [response.text for response in again[:2]] == [response.text for response in first]


def test_a_run_whose_answers_are_all_kept_reads_no_weights(vlm, docs_of, monkeypatch):
    from egobench_tasks.hosts.lighteval.vision import model as module

    docs = docs_of("single")[:2]
    first = vlm().greedy_until(docs)
    monkeypatch.setattr(module, "load_model", lambda *_: pytest.fail("weights were read"))
    assert [response.text for response in vlm().greedy_until(docs)] == [response.text for response in first]


def test_a_prompt_that_is_too_long_is_found_out_before_the_weights_are_read(vlm, docs_of, monkeypatch):
    from egobench_tasks.hosts.lighteval.vision import model as module

    monkeypatch.setattr(module, "load_model", lambda *_: pytest.fail("weights were read"))
    with pytest.raises(EgobenchError, match=r"of text, [\d,]+ of 64 frames, about \d a frame"):
        vlm(max_length=300).greedy_until(docs_of("single")[:1])


def test_what_was_settled_about_a_model_stands_in_its_saved_config(vlm):
    config = vlm().config
    assert config.settled["model_type"] == "llava"
    assert set(config.settled) >= {"template_sha256", "images_kwargs", "context_tokens"}


def test_video_input_is_another_condition_under_another_name():
    from egobench_tasks.hosts.lighteval.vision.settings import read_settings

    frames, video = read_settings("model_name=a/b"), read_settings("model_name=a/b,input=video")
    assert (frames.named().model_name, video.named().model_name) == ("a/b", "a/b+video")
    assert frames.model_dump() != video.model_dump()


@pytest.mark.parametrize("change", [{"generation_size": 65}, {"system_prompt": "Answer."}, {"dtype": "bfloat16"}])
def test_answers_under_other_settings_are_not_reused(vlm, docs_of, count_generations, change):
    docs = docs_of("single")[:1]
    vlm().greedy_until(docs)
    vlm(**change).greedy_until(docs)
    assert len(count_generations) == 2


def test_answers_of_overwritten_weights_are_not_reused(vlm, docs_of, count_generations, tmp_path):
    from dataset_scripts.sample.tiny_vlm import write_tiny_llava

    docs = docs_of("single")[:1]
    folder = write_tiny_llava(tmp_path / "model", seed=1)
    vlm(model_name=str(folder)).greedy_until(docs)
    write_tiny_llava(folder, seed=2)
    vlm(model_name=str(folder)).greedy_until(docs)
    assert len(count_generations) == 2


def test_batch_size_is_no_part_of_the_answers_key(vlm, docs_of, count_generations):
    docs = docs_of("single")[:2]
    vlm(batch_size=2).greedy_until(docs)
    vlm(batch_size=1).greedy_until(docs)
    assert len(count_generations) == 2


def test_a_prompt_longer_than_the_context_is_refused_with_both_numbers(vlm, docs_of):
    with pytest.raises(EgobenchError, match=r"the prompt has \d{3,} tokens, the model's context 300\b"):
        vlm(max_length=300).greedy_until(docs_of("single")[:1])
    assert not list(journal_root().rglob("*.jsonl"))


def test_generation_never_runs_past_the_context(vlm, docs_of):
    doc = docs_of("single")[0]
    n_prompt = prepared(vlm(), doc).inputs["input_ids"].shape[1]
    model = vlm(generation_size=500, max_length=n_prompt + 3)
    (response,) = never_stops(model).greedy_until([doc])
    assert response.finish_reason == LENGTH_STOP
    assert journalled()[0].n_new_tokens == 3


def test_a_clip_that_does_not_decode_leaves_its_question_unanswered_and_the_run_alive(
    vlm, docs_of, tmp_path, monkeypatch, caplog
):
    import dataclasses

    from egobench_tasks.frames.lazy import FrameList

    broken = tmp_path / "broken.mp4"
    broken.write_bytes(b"not a video")
    docs = docs_of("single")[:3]
    request = dataclasses.replace(docs[1].images.requests[0], path=str(broken), sha256="0" * 64)
    docs[1].images = FrameList((request,))
    responses = vlm(batch_size=3).greedy_until(docs)
    assert [response.finish_reason == "clip_unreadable" for response in responses] == [False, True, False]
    assert docs[1].specific["question_id"] in caplog.text
    assert len(journalled()) == 2  # it is asked again once the clip is mended


def test_documents_of_other_tasks_go_to_the_stock_class(vlm, docs_of, monkeypatch):
    from lighteval.models.transformers.vlm_transformers_model import VLMTransformersModel
    from lighteval.tasks.requests import Doc

    other = Doc(query="q", choices=[], gold_index=0, images=[Image.new("RGB", (8, 8))], task_name="other|0")
    ours = docs_of("single")[0]
    monkeypatch.setattr(VLMTransformersModel, "greedy_until", lambda self, docs: [("stock", doc) for doc in docs])
    responses = vlm().greedy_until([other, ours, other])
    assert responses[0] == responses[2] == ("stock", other)
    assert responses[1].input == ours.query
