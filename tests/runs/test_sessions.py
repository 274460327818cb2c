from dataclasses import replace

import pytest

from egobench_tasks.runs.journal import Answer, Journal, journal_folder, next_generation
from egobench_tasks.runs.record import Answerer
from egobench_tasks.runs.sessions import Place, believed, read_sessions, session_of, write_session
from egobench_tasks.servers.models import ServedModel, read_model_list

ANSWERER = Answerer(name="m", key="k", identity={"endpoint": {"model": "m"}, "list": [1, None]})
PLACE = Place(address="http://a/v1", day="2026-11-30", served=ServedModel(server_id="m", root="/x", created_s=7))


def answer(key):
    return Answer(key=key, question_id="q", task="egogears:multi|0", prompt="p", text="t", finish_reason="stop")


def test_a_journal_says_of_each_file_what_gave_its_answers(tmp_path):
    session = session_of(ANSWERER, PLACE, {"b", "a"})
    journal = Journal(tmp_path, session)
    assert read_sessions(tmp_path) == {}
    journal.append(answer("a"))
    journal.append(answer("b"))
    ((stem, kept),) = journal.by_session().items()
    assert read_sessions(tmp_path) == {stem: session}
    assert session.confirmed == ("a", "b") and [item.key for item in kept] == ["a", "b"]
    (tmp_path / "broken.session.json").write_text('{"name": 7}')
    (tmp_path / "torn.session.json").write_text('{"name"')
    assert set(read_sessions(tmp_path)) == {stem}
    assert set(journal.answers()) == {"a", "b"}


@pytest.mark.parametrize(
    "change", [{"address": "http://b/v1"}, {"day": "2026-12-01"}, {"served": ServedModel(server_id="m", root="/y")}]
)
def test_a_session_elsewhere_is_believed_once_this_place_has_confirmed_it(tmp_path, change):
    sessions = {"old": session_of(ANSWERER, replace(PLACE, **change)), "older": session_of(ANSWERER, None)}
    assert believed(sessions, PLACE) == frozenset()
    sessions["old"] = replace(sessions["old"], confirmed=("older",))
    sessions["here"] = session_of(ANSWERER, PLACE, {"old", "gone"})
    for stem, session in sessions.items():
        write_session(tmp_path, stem, session)
    assert believed(read_sessions(tmp_path), PLACE) == {"here", "old", "older"}


def test_fresh_begins_a_generation_and_later_runs_go_on_with_it(tmp_path, monkeypatch):
    monkeypatch.setenv("EGOBENCH_JOURNAL", str(tmp_path))
    identity, fresh = {"a": 1}, {"EGOBENCH_FRESH": "1"}
    assert next_generation(identity, {}) == next_generation(identity, fresh) == 0
    for expected in (0, 1, 2):
        generation = next_generation(identity, fresh)
        assert generation == expected
        Journal(journal_folder(identity, generation)).append(answer("k"))
        assert next_generation(identity, {}) == expected
    assert next_generation({"a": 2}, {}) == 0
    assert len({journal_folder(identity, generation) for generation in range(3)}) == 3


@pytest.mark.parametrize(
    ("body", "read"),
    [
        ('{"data": [{"id": "x"}, {"id": "m", "root": "/w", "parent": null, "created": 5}]}',
         ServedModel(server_id="m", root="/w", created_s=5)),
        ('{"data": [{"id": "only", "parent": "base", "created": 0}]}', ServedModel(server_id="only", parent="base")),
        ('{"data": [{"id": "x"}, {"id": "y"}]}', ServedModel()),
        ('{"data": [7, {"id": 7, "created": true}]}', ServedModel()),
        ("", ServedModel()), ("[]", ServedModel()), ('{"data": {}}', ServedModel()), ("[" * 100_000, ServedModel()),
    ],
)  # fmt: skip
def test_what_a_server_says_of_a_model(body, read):
    assert read_model_list(body, "m") == read
