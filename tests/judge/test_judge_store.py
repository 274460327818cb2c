"""The store of verdicts: what is written stays, whatever kills or crowds its writers."""

import json
import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from egobench_tasks.errors import EgobenchError
from egobench_tasks.judge.identity import JudgeIdentity
from egobench_tasks.judge.prompt import JudgeItem
from egobench_tasks.judge.store import VerdictStore, default_store_path, verdict_key
from egobench_tasks.judge.verdict import Judgement, NoVerdict, Verdict

JUDGE = JudgeIdentity("m", "judge-1-abc")
ITEM = JudgeItem("q1", "What is on the shelf?", "A jar.", "A jar of honey.")
RIGHT = Judgement(Verdict(True, 4.5, "ok"), None, '{"pred": …}')
FAILED = Judgement(None, NoVerdict.TIMEOUT, "Request timed out.")


@pytest.fixture
def store(tmp_path) -> VerdictStore:
    return VerdictStore(tmp_path / "judge" / "verdicts.jsonl")


def _key(item=ITEM, judge=JUDGE):
    return verdict_key(item, judge)


def test_an_empty_store_finds_nothing(store):
    assert store.find({_key()}) == {}


def test_what_is_appended_is_found(store):
    store.append(ITEM, JUDGE, RIGHT)
    assert VerdictStore(store.path).find({_key(), "other"}) == {_key(): RIGHT}


def test_a_failure_is_kept_and_gives_way_to_a_verdict_but_no_verdict_gives_way(store):
    store.append(ITEM, JUDGE, Judgement(None, NoVerdict.EMPTY, ""))
    store.append(ITEM, JUDGE, FAILED)
    assert store.find({_key()}) == {_key(): FAILED}
    store.append(ITEM, JUDGE, RIGHT)
    store.append(ITEM, JUDGE, FAILED)
    store.append(ITEM, JUDGE, Judgement(Verdict(False, 0), None, "another process asked too"))
    assert store.find({_key()}) == {_key(): RIGHT}
    assert len(store.path.read_text().splitlines()) == 5


@pytest.mark.parametrize("field", ["question", "gold", "prediction"])
def test_every_text_and_the_model_make_the_key(field):
    changed = JudgeItem(**{**{name: getattr(ITEM, name) for name in ITEM.__slots__}, field: "x"})
    assert len({_key(), _key(changed)}) == 2


@pytest.mark.parametrize(
    "other", [{"model": "n"}, {"wording": "judge-2-abc"}, {"configured": (("label", "June"),)}], ids=str
)
def test_the_judges_model_wording_and_settings_make_the_key(other):
    assert _key() != _key(judge=replace(JUDGE, **other))


def test_a_verdict_of_a_model_known_to_be_another_is_not_found(store):
    store.append(ITEM, replace(JUDGE, served="/models/old"), RIGHT)
    assert store.find({_key()}, "/models/new") == {}
    assert store.find({_key()}, "/models/old") == store.find({_key()}, None) == {_key(): RIGHT}


def test_verdicts_of_before_servers_were_asked_are_found_still(store):
    store.append(ITEM, JUDGE, RIGHT)
    record = json.loads(store.path.read_text())
    store.path.write_text(json.dumps(record | {"judge": "m"}) + "\n")
    assert store.find({_key()}, "/models/new") == {_key(): RIGHT}


def test_texts_do_not_run_into_each_other_in_the_key():
    assert _key(JudgeItem("q", "ab", "c", "d")) != _key(JudgeItem("q", "a", "bc", "d"))


def test_the_question_id_is_no_part_of_the_key():
    assert _key(JudgeItem("q2", ITEM.question, ITEM.gold, ITEM.prediction)) == _key()


@given(cut=st.integers(0, 600), text=st.text(st.characters(codec=None)))
def test_a_torn_last_line_costs_that_line_only(tmp_path_factory, cut, text):
    store = VerdictStore(tmp_path_factory.mktemp("store") / "v.jsonl")
    odd = JudgeItem("q", text, text, text)
    store.append(ITEM, JUDGE, RIGHT)
    whole = store.path.stat().st_size
    store.append(odd, JUDGE, RIGHT)
    lines = store.path.read_bytes()
    kept = min(whole + cut, len(lines))
    store.path.write_bytes(lines[:kept])  # a kill in the middle of the second line
    other = JudgeItem("q", "after", "the", "kill")
    store.append(other, JUDGE, FAILED)
    found = store.find({_key(), _key(other)})
    assert found == {_key(): RIGHT, _key(other): FAILED}
    assert (_key(odd) in store.find({_key(odd)})) == (kept >= len(lines) - 1)


@pytest.mark.parametrize(
    "line", ["[]", "1", "{}", '{"key": "k"}', '{"key": "k", "verdict": {"x": 1}}', "\x00", "{" * 99]
)
def test_a_line_that_is_no_record_is_passed_over(store, line):
    store.append(ITEM, JUDGE, RIGHT)
    with store.path.open("a") as file:
        file.write(line + "\n")
    assert store.find({_key(), "k"}) == {_key(): RIGHT}


_WRITER = """
import sys, pathlib
from egobench_tasks.judge.identity import JudgeIdentity
from egobench_tasks.judge.prompt import JudgeItem
from egobench_tasks.judge.store import VerdictStore
from egobench_tasks.judge.verdict import Judgement, Verdict
JUDGE = JudgeIdentity("m", "judge-1-abc")
for number in range(25):
    item = JudgeItem("q", sys.argv[2], str(number), "x" * 5_000)
    VerdictStore(pathlib.Path(sys.argv[1])).append(item, JUDGE, Judgement(Verdict(True, 4.5, "ok"), None, "raw"))
"""


def test_several_processes_write_whole_lines(store):
    writers = [subprocess.Popen([sys.executable, "-c", _WRITER, str(store.path), str(worker)]) for worker in range(3)]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    keys = {_key(JudgeItem("q", str(worker), str(n), "x" * 5_000)) for worker in range(3) for n in range(25)}
    assert store.find(keys).keys() == keys
    assert all(json.loads(line) for line in store.path.read_text().splitlines())


def test_a_folder_that_cannot_be_written_says_what_to_do(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(EgobenchError, match="EGOBENCH_CACHE"):
        VerdictStore(tmp_path / "file" / "verdicts.jsonl").append(ITEM, JUDGE, RIGHT)


def test_the_default_store_is_in_the_cache_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("EGOBENCH_CACHE", str(tmp_path))
    assert default_store_path() == tmp_path / "judge" / "verdicts.jsonl"


def test_what_a_judge_said_before_it_began_anew_is_not_taken_and_stays_in_the_file(store):
    other = JudgeIdentity("m2", JUDGE.wording)
    for judge in (JUDGE, other):
        store.append(ITEM, judge, RIGHT)
    store.begin_anew(JUDGE)
    assert store.find({_key()}) == {} and store.work_of(JUDGE) == ({}, {})
    assert store.find({verdict_key(ITEM, other)}) == {verdict_key(ITEM, other): RIGHT}
    store.append(ITEM, JUDGE, FAILED)
    assert store.find({_key()}) == {_key(): FAILED}
    assert len(store.path.read_text().splitlines()) == 4
