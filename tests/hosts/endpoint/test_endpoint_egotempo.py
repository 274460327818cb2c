"""EgoTempo through the endpoint host: open questions in any setting, the closed form, clips that are not there."""

import asyncio
import dataclasses
import json
import re
from pathlib import Path

import pytest

from egobench_tasks.asking.open import NO_CLIP
from egobench_tasks.frames.lazy import FrameList, FrameRequest
from egobench_tasks.frames.spec import FrameSpec, Sampling
from egobench_tasks.hosts.lighteval.endpoint import EndpointModel
from egobench_tasks.hosts.lighteval.metrics import ChoiceScores, OpenScores
from egobench_tasks.runs.journal import CLIP_UNREADABLE
from egobench_tasks.servers.settings import Thinking


def answer(settings, docs):
    """The responses, and the questions that stayed unanswered."""
    model = EndpointModel(settings)
    return asyncio.run(model.greedy_until(docs)), model.unanswered


def test_an_open_question_is_asked_with_its_frames_and_its_tasks_budget(server, settings, open_docs):
    docs = open_docs("egotempo:counting_actions")
    server.script = lambda request, n: server.say(server.completion(docs[0].choices[0]))
    responses, unanswered = answer(settings(concurrency=1), docs)
    assert unanswered == []
    for doc, request in zip(docs, server.asked, strict=True):
        (clip,) = doc.images.clips()
        *jpegs, text = server.parts_of(request)  # the frames come first (PROTOCOL 2)
        assert doc.specific["question"] in text
        assert jpegs == list(clip.jpegs)
        assert len(jpegs) >= 6  # one a second
        assert request["max_tokens"] == 512
    assert OpenScores().compute(docs[0], responses[0]) == {"exact_match": 1, "token_f1": 1, "answered": 1, "lost": 0}


@pytest.mark.parametrize(
    ("values", "budget"), [({"max_tokens": 99}, 99), ({"thinking": Thinking.ON}, 16384), ({"max_tokens_cap": 64}, 64)]
)
def test_what_the_settings_say_of_the_budget_counts_over_the_tasks(server, settings, open_docs, values, budget):
    answer(settings(**values), open_docs("egotempo_text:counting_actions")[:1])
    assert [request["max_tokens"] for request in server.asked] == [budget]


def test_a_truncated_open_answer_gets_twice_its_tasks_budget(server, settings, open_docs):
    server.script = lambda request, n: server.say(server.completion("Answer", "length" if n == 1 else "stop"))
    answer(settings(), open_docs("egotempo_text:counting_actions")[:1])
    assert [request["max_tokens"] for request in server.asked] == [512, 1024]


def test_words_alone_are_asked_of_a_server_that_need_not_see(server, settings, open_docs):
    server.sight = lambda request, n: server.say({"error": "no images please"}, status=400)
    docs = open_docs("egotempo_text:counting_actions")
    _, unanswered = answer(settings(), docs)
    assert unanswered == []
    assert {server.parts_of(request)[0] for request in server.requests} == {doc.query for doc in docs}
    assert {len(server.parts_of(request)) for request in server.requests} == {1}


def test_a_clip_that_is_not_there_leaves_its_question_unanswered(server, settings, open_docs):
    docs = open_docs("egotempo_f4:action_specific_object")
    docs.sort(key=lambda doc: doc.images.requests[0].path == NO_CLIP.path)  # lighteval shuffles them
    responses, (missing,) = answer(settings(), docs)
    assert len(server.asked) == 1
    assert (missing.question_id, missing.finish_reason) == (docs[-1].specific["question_id"], CLIP_UNREADABLE)
    assert "no clip for this question" in missing.reason
    assert [response.finish_reason for response in responses] == ["stop", CLIP_UNREADABLE]
    scores = OpenScores().compute(docs[-1], responses[-1])
    assert (scores["answered"], scores["lost"]) == (0, 1)


def test_any_number_of_clips_that_are_not_there_stops_nothing(server, settings, questions, ask):
    asked = questions(60)
    request = FrameRequest(NO_CLIP.path, NO_CLIP.sha256, FrameSpec(sampling=Sampling.UNIFORM, count=4))
    asked[:-1] = [dataclasses.replace(question, frames=FrameList((request,))) for question in asked[:-1]]
    answers, unanswered = ask(settings(concurrency=1), asked)
    assert answers["q59"] is not None
    assert {item.finish_reason for item in unanswered} == {CLIP_UNREADABLE}
    assert len(unanswered) == 59


def test_the_closed_form_is_asked_and_scored_as_multiple_choice(server, settings, open_docs, egotempo, tmp_path):
    from egobench_tasks.asking.open import load_open_choices
    from egobench_tasks.asking.open_settings import open_settings
    from egobench_tasks.asking.prompts import OPEN_CHOICE_TEMPLATES, load_choice_templates
    from egobench_tasks.hosts.lighteval.docs import open_choice_task

    path = tmp_path / "choices.json"
    path.write_text(json.dumps({row["question_id"]: ["no", "never", "none"] for row in egotempo.rows}))
    task = open_choice_task(
        "egotempo_choice", "counting actions", open_settings()["f4"],
        load_choice_templates(OPEN_CHOICE_TEMPLATES), load_open_choices(path),
    )  # fmt: skip
    docs = open_docs(task)

    def script(request, n):
        letter = re.search(r"^([A-D])\. Answer", server.parts_of(request)[-1], re.MULTILINE)[1]
        return server.say(server.completion(json.dumps({"answer": [letter]})))

    server.script = script
    responses, _ = answer(settings(), docs)
    assert [len(server.parts_of(request)) for request in server.asked] == [5, 5]
    assert {request["max_tokens"] for request in server.asked} == {2048}
    for doc, response in zip(docs, responses, strict=True):
        scores = ChoiceScores().compute(doc, response)
        assert (scores["exact_set"], scores["chance"]) == (1, 0.25)


@pytest.mark.slow
def test_whole_runs_are_judged_and_dry_ones_count_what_is_asked(server, config, runs, egotempo, judge, tmp_path):
    environment = {
        "EGOTEMPO_DATA": str(egotempo.folder),
        "EGOBENCH_CACHE": str(tmp_path / "cache"),
        "EGOBENCH_JUDGE_BASE_URL": judge.base_url,
        "EGOBENCH_JUDGE_MODEL": "scripted",
    }
    server.script = lambda request, n: server.say(server.completion("Somebody waves."))

    _, dry = runs.run(config(), dry_run=True, tasks="egotempo_text", **environment)
    assert re.search(r"^images +0$", dry, re.MULTILINE)
    assert re.search(r"^prompt tokens +about [\d,]+$", dry, re.MULTILINE)
    assert re.search(rf"^new tokens +{20 * 512:,} at most", dry, re.MULTILINE)
    assert server.requests == []
    _, dry = runs.run(config(), dry_run=True, tasks="egotempo:counting_actions", **environment)
    assert re.search(rf"^images +{6 + 7}$", dry, re.MULTILINE)
    assert server.asked == []

    code, output = runs.run(config(), "--output-dir", "text", tasks="egotempo_text", **environment)
    assert code == 0
    assert len(server.requests) - len(server.asked) == 2  # the sight check of the dry run alone
    assert {len(server.parts_of(request)) for request in server.asked} == {1}
    (path,) = (tmp_path / "text").rglob("results_*.json")
    average = json.loads(Path(path).read_text())["results"]["egotempo_text:_average|0"]
    assert (average["judge_accuracy"], average["judged"], average["exact_match"]) == (1, 1, 0)

    code, output = runs.run(config(), tasks="egotempo:action_specific_object", **environment)
    assert code == 1
    assert "1 questions without an answer; they count as wrong" in output
    assert "no clip for this question" in output
