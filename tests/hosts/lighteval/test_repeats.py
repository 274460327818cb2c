"""Several answers to a question from a model of transformers: each under its own key, the first one scores."""

import dataclasses
import os

import pytest

from egobench_tasks.benchmarks import EGOGEARS
from egobench_tasks.errors import InputError
from egobench_tasks.hosts.lighteval import vlm as vlm_module
from egobench_tasks.hosts.lighteval.metrics import ChoiceScores
from egobench_tasks.hosts.lighteval.usage import Told
from egobench_tasks.report.read.journal_reader import find_journal_run
from egobench_tasks.runs.journal import journal_root
from egobench_tasks.runs.repeats import REPEATS_VARIABLE, check_repeats, current_repeats, keyed_rows

SAMPLED = {"generation_parameters": {"temperature": 1.0}, "generation_size": 8}


@pytest.fixture
def words(docs_of, monkeypatch):
    """``words()``: two questions without frames, answered in 8 tokens at most."""
    monkeypatch.setattr(vlm_module, "EGOGEARS", dataclasses.replace(EGOGEARS, max_new_tokens_cap=8))

    def make():
        docs = docs_of("multi")[:2]
        for doc in docs:
            doc.generation_size, doc.images = 8, type(doc.images)(())
            doc.specific["segments"] = doc.specific["segments"][:1]
        return docs

    return make


def test_repeats_are_kept_apart_and_go_on_after_a_kill(words, vlm, monkeypatch):
    once = vlm(**SAMPLED).greedy_until(words())
    assert [response.finish_reasons for response in once] == [None, None]
    monkeypatch.setenv(REPEATS_VARIABLE, "3")
    responses = vlm(**SAMPLED).greedy_until(words())
    assert [len(response.text) for response in responses] == [3, 3]
    assert [response.text[0] for response in responses] == [response.text[0] for response in once]
    assert len({text for response in responses for text in response.text}) > 2  # drawn anew each time
    assert all(len(response.finish_reasons) == 3 for response in responses)
    again = vlm(**SAMPLED)
    assert [response.text for response in again.greedy_until(words())] == [response.text for response in responses]
    assert again.asked.counts.asked == 0 and again.missing(words()) == []
    (folder,) = journal_root().iterdir()
    (task,) = find_journal_run(folder).tasks
    read = {response.question_id: response for response in task.responses()}
    for doc, response in zip(words(), responses, strict=True):
        found = read[doc.specific["question_id"]]
        assert [found.text, *[repeat.text for repeat in found.repeats[1:]]] == response.text
        first = ChoiceScores().compute(doc, response)
        assert first == ChoiceScores().compute(doc, dataclasses.replace(response, text=response.text[:1]))


def test_a_sampled_answer_depends_neither_on_batch_size_nor_on_order(words, vlm, monkeypatch, tmp_path):
    monkeypatch.setenv(REPEATS_VARIABLE, "2")
    said = []
    for number, (batch_size, docs) in enumerate(((1, words()), (3, words()), (3, words()[::-1]))):
        monkeypatch.setenv("EGOBENCH_JOURNAL", str(tmp_path / f"journal {number}"))  # nothing is known yet
        model = vlm(**SAMPLED, batch_size=batch_size)
        answers = {
            doc.specific["question_id"]: one.text for doc, one in zip(docs, model.greedy_until(docs), strict=True)
        }
        assert model.asked.counts.asked == 4
        said.append(answers)
    assert said[0] == said[1] == said[2]
    assert len({text for texts in said[0].values() for text in texts}) > 2  # they are drawn


def test_repeats_at_temperature_0_are_refused_before_a_model_is_loaded(vlm, monkeypatch):
    monkeypatch.setenv(REPEATS_VARIABLE, "2")
    with pytest.raises(Told, match=r"2 repeats at temperature 0 .*generation_parameters="):
        vlm()


def test_a_seed_or_a_servers_own_temperature_will_do():
    for temperature, seed in ((0.7, None), (0.0, 1), (None, None)):
        check_repeats(3, temperature, seed, "x")
    check_repeats(1, 0.0, None, "x")
    with pytest.raises(InputError, match="once at least"):
        check_repeats(0, 1.0, None, "x")


@pytest.mark.parametrize("text", ["0", "-1", "two", "1.5"])
def test_a_number_of_repeats_is_a_whole_one(text):
    with pytest.raises(InputError, match=f"{REPEATS_VARIABLE}: .* a whole number from 1 up"):
        current_repeats({REPEATS_VARIABLE: text})
    assert current_repeats({}) == current_repeats({REPEATS_VARIABLE: " "}) == 1


def test_the_first_answers_key_is_that_of_a_question_asked_once():
    rows = [{"text": "a", "clip_index": None}]
    assert keyed_rows(rows, 0) == rows
    assert len({str(keyed_rows(rows, repeat)) for repeat in range(4)}) == 4
    assert REPEATS_VARIABLE not in os.environ
