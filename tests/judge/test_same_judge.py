"""Another judge behind an old name is not believed; the same one elsewhere loses nothing."""

import json
from dataclasses import replace

import pytest

from egobench_tasks.errors import EgobenchError, InputError
from egobench_tasks.judge import client
from egobench_tasks.judge.client import judge
from egobench_tasks.judge.prompt import JudgeItem
from egobench_tasks.judge.store import VerdictStore
from tests.judge.conftest import ScriptedJudge

ITEMS = [JudgeItem(f"id{number}", f"What is {number}?", f"{number}", f"It is {number}.") for number in range(12)]
WRONG = '{"pred": "incorrect", "score": 1, "reason": "scripted"}'


@pytest.fixture
def other():
    server = ScriptedJudge()
    yield server
    server.close()


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setattr(client, "_places", {})
    return VerdictStore(tmp_path / "verdicts.jsonl")


def says(server, reply):
    for item in ITEMS:
        server.scripts[item.prediction] = [server.reply(reply)]


def test_two_judges_of_one_name_the_second_takes_no_verdict_of_the_first(scripted, other, settings, store):
    says(other, WRONG)
    judge(ITEMS, settings, store)
    kept = store.path.read_bytes()
    with pytest.raises(InputError) as stopped:
        judge(ITEMS, replace(settings, base_url=other.base_url), store)
    message = str(stopped.value)
    assert f"scripted at {other.base_url} is another model" in message
    assert f"12 verdicts of {scripted.base_url}: of 8 asked again 8 come back otherwise" in message
    assert "EGOBENCH_JUDGE_LABEL" in message
    assert (other.asked.total(), store.path.read_bytes()) == (8, kept)
    given = judge(ITEMS, replace(settings, base_url=other.base_url, label="the second"), store)
    assert {judgement.verdict.correct for judgement in given} == {False}


def test_the_same_judge_at_another_address_loses_nothing_and_is_looked_at_once(scripted, other, settings, store):
    first = judge(ITEMS, settings, store)
    elsewhere = replace(settings, base_url=other.base_url)
    assert judge(ITEMS, elsewhere, store) == judge(ITEMS, elsewhere, store) == first
    assert (scripted.asked.total(), other.asked.total()) == (12, 8)


def test_one_verdict_that_came_out_otherwise_is_no_other_judge(scripted, other, settings, store):
    judge(ITEMS[:8], settings, store)
    other.scripts[ITEMS[0].prediction] = [other.reply(WRONG)]
    given = judge(ITEMS[:8], replace(settings, base_url=other.base_url), store)
    assert {judgement.verdict.correct for judgement in given} == {True}


def test_verdicts_of_which_nothing_is_known_are_looked_at(scripted, settings, store):
    judge(ITEMS[:3], settings, store)
    lines = [{**json.loads(line), "place": None} for line in store.path.read_text().splitlines()]
    store.path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    says(scripted, WRONG)
    with pytest.raises(InputError, match="3 verdicts of a server not written down"):
        judge(ITEMS[:3], settings, store)


def test_answers_judged_one_by_one_are_looked_at_by_all_that_is_kept(scripted, other, settings, store):
    judge(ITEMS, settings, store)
    other.scripts[ITEMS[0].prediction] = [other.reply(WRONG)]
    elsewhere = replace(settings, base_url=other.base_url)
    (judgement,) = judge(ITEMS[:1], elsewhere, store)
    assert judgement.verdict.correct
    n_asked = other.asked.total()
    judge(ITEMS[1:2], elsewhere, store)
    assert n_asked == other.asked.total() == 8


def test_a_judge_that_is_gone_leaves_its_verdicts_and_one_that_fails_is_not_believed(scripted, other, settings, store):
    first = judge(ITEMS[:2], settings, store)
    assert judge(ITEMS[:2], replace(settings, base_url="http://127.0.0.1:9/v1"), store) == first
    for item in ITEMS:
        other.scripts[item.prediction] = [other.status(400)]
    with pytest.raises(EgobenchError, match="gives none of 2 kept verdicts again"):
        judge(ITEMS[:2], replace(settings, base_url=other.base_url), store)
