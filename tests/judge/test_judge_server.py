"""The judge is an endpoint like the model's: what its server refuses, how much it reasons, who else is asking."""

import json
import threading
from dataclasses import replace

import pytest

from egobench_tasks.judge.client import judge
from egobench_tasks.judge.prompt import JudgeItem
from egobench_tasks.judge.settings import load_settings
from egobench_tasks.judge.store import VerdictStore
from egobench_tasks.judge.verdict import NoVerdict, Verdict
from egobench_tasks.servers.settings import TokensField

VERDICT = '{"pred": "correct", "score": 5, "reason": "scripted"}'


def item(prediction):
    return JudgeItem(f"id of {prediction}", "What is on the shelf?", "A jar.", prediction)


def last_request(judge_server):
    return judge_server.requests[-1]


@pytest.fixture
def store(tmp_path):
    return VerdictStore(tmp_path / "judge" / "verdicts.jsonl")


def test_a_judge_that_refuses_max_tokens_temperature_and_a_system_role_judges_all(scripted, settings, store, capfd):
    def step(handler):
        request = last_request(scripted)
        for words, refused in {
            "'max_tokens' is not supported, use 'max_completion_tokens'": "max_tokens" in request,
            "temperature: only the default value 1 is supported": "temperature" in request,
            "System role not supported": request["messages"][0]["role"] == "system",
        }.items():
            if refused:
                return scripted.status(400, json.dumps({"error": {"message": words}}))(handler)
        return scripted.reply(VERDICT)(handler)

    names = [f"p{number}" for number in range(20)]
    for name in names:
        scripted.scripts[name] = [step]
    judgements = judge([item(name) for name in names], replace(settings, concurrency=1), store)
    assert all(judgement.verdict for judgement in judgements)
    assert len(scripted.requests) == 23
    said = capfd.readouterr().err
    for words in ("use 'max_completion_tokens'", "only the default value 1", "System role not supported"):
        assert said.count(words) == 1
    assert scripted.requests[-1]["messages"][0]["content"].startswith("You grade answers")


def test_the_words_of_a_refusal_are_printed(scripted, settings, store, capfd):
    for name in "ab":
        scripted.scripts[name] = [scripted.status(400, '{"error": "this judge is on holiday"}')]
    judge([item("a"), item("b"), item("c")], settings, store)
    assert 'no verdict on 2 of 3 answers (refused), such as: HTTP 400: {"error": "this judge is on holiday"}' in (
        capfd.readouterr().err
    )


def test_a_judge_that_reasons_gets_twice_the_tokens_until_it_ends(scripted, settings, store):
    scripted.scripts["a"] = [scripted.reply("<think>hm", "length"), scripted.reply(f"<think>hm</think>{VERDICT}")]
    (judgement,) = judge([item("a")], replace(settings, max_tokens_cap=2000), store)
    assert judgement.verdict == Verdict(True, 5.0, "scripted")
    assert [request["max_tokens"] for request in scripted.requests] == [512, 1024]


def test_a_refused_larger_budget_leaves_the_smaller_reply(scripted, settings, store):
    scripted.scripts["a"] = [scripted.reply("hm", "length"), scripted.status(400, '{"error": "context too long"}')]
    (judgement,) = judge([item("a")], replace(settings, max_tokens_cap=2000), store)
    assert (judgement.failure, judgement.raw) == (NoVerdict.TRUNCATED, "hm")


def test_half_a_character_in_a_reason_does_not_kill_judging_for_good(scripted, settings, store):
    reply = '{"pred": "correct", "score": 4, "reason": "half \\ud800"}'
    scripted.scripts["a"] = [scripted.reply(reply)]
    (judgement,) = judge([item("a")], settings, store)
    assert judgement.verdict == Verdict(True, 4.0, "half \ufffd")
    # one that an earlier version kept
    store.path.write_text(store.path.read_text().replace("\\ufffd", "\\ud800"))
    (judgement,) = judge([item("a")], settings, store)
    assert json.dumps(judgement.verdict.reason, ensure_ascii=False).encode()
    assert scripted.asked == {"a": 1}


def test_a_verdict_that_contradicts_its_score_counts_by_pred_and_is_told(scripted, settings, store, capfd):
    scripted.scripts["a"] = [scripted.reply('{"pred": "incorrect", "score": 5}')]
    judgements = judge([item("a"), item("b")], settings, store)
    assert judgements[0].verdict == Verdict(False, 5.0)
    assert "1 of scripted's verdicts contradict their own score" in capfd.readouterr().err


def test_two_judging_at_once_ask_for_each_verdict_once(scripted, settings, store):
    names = [f"p{number}" for number in range(12)]
    for name in names:
        scripted.scripts[name] = [scripted.late(0.1)]
    given = []
    runs = [
        threading.Thread(target=lambda: given.append(judge([item(name) for name in names], settings, store)))
        for _ in range(2)
    ]
    for run in runs:
        run.start()
    for run in runs:
        run.join(60)
    assert len(given) == 2 and given[0] == given[1]
    assert scripted.asked == dict.fromkeys(names, 1)


def test_every_setting_of_an_endpoint_is_a_judges_too(tmp_path):
    config = tmp_path / "judge.yaml"
    config.write_text("max_tokens_field: max_completion_tokens\ntemperature: null\nheaders: {api-key: $K}\n")
    variables = {
        "EGOBENCH_JUDGE_BASE_URL": "http://h/v1",
        "EGOBENCH_JUDGE_MODEL": "m",
        "EGOBENCH_JUDGE_CONCURRENCY": "auto",
        "EGOBENCH_JUDGE_EXTRA_BODY": '{"reasoning_effort": "low"}',
    }
    made = load_settings(variables, config=config)
    assert made.max_tokens_field is TokensField.MAX_COMPLETION_TOKENS
    assert (made.temperature, made.concurrency, made.headers) == (None, "auto", {"api-key": "$K"})
    assert made.request_fields(9) == {"model": "m", "max_completion_tokens": 9, "reasoning_effort": "low"}


def test_verdicts_are_the_users_own(scripted, settings, store):
    judge([item("a")], settings, store)
    assert (store.path.stat().st_mode & 0o777, store.path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
