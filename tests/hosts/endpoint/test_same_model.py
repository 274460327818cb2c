"""Another model behind an old name is not believed; the same one elsewhere loses nothing."""

import pytest

from egobench_tasks.errors import EgobenchError, InputError
from egobench_tasks.hosts.endpoint.same_answers import same_answer
from egobench_tasks.runs import same_model
from egobench_tasks.runs.journal import Answer, Journal, journal_root


@pytest.fixture
def other_server():
    from tests.hosts.endpoint.conftest import ScriptedServer

    scripted = ScriptedServer()
    yield scripted
    scripted.close()


def says(server, content, **values):
    """The server gives one answer to everything."""
    server.script = lambda request, n: server.say(server.completion(content, **values))


def journalled():
    return [answer for folder in journal_root().glob("*") for answer in Journal(folder).answers().values()]


def test_two_servers_of_one_name_the_second_takes_no_answer_of_the_first(
    server, other_server, settings, questions, ask
):
    says(server, '{"answer": ["A"]}')
    says(other_server, '{"answer": ["B"]}')
    ask(settings(), questions(12))
    kept = journalled()
    with pytest.raises(InputError) as stopped:
        ask(settings(base_url=other_server.url), questions(12))
    message = str(stopped.value)
    assert f"m at {other_server.url} is another model" in message
    assert f"12 answers of {server.url}: of 8 asked again 8 come back otherwise" in message
    assert """kept '{"answer": ["A"]}' (207 prompt tokens), now '{"answer": ["B"]}'""" in message
    assert "--fresh" in message and "label: NAME" in message
    assert (len(other_server.asked), journalled()) == (8, kept)
    with pytest.raises(InputError):  # and no more so the second time, or where some are still to be asked
        ask(settings(base_url=other_server.url), questions(14))


def test_the_same_model_at_another_address_loses_nothing_and_is_looked_at_once(
    server, other_server, settings, questions, ask
):
    first, _ = ask(settings(), questions(12))
    for n_questions, n_asked in ((12, 8), (12, 8), (14, 10)):
        again, unanswered = ask(settings(base_url=other_server.url), questions(n_questions))
        assert (len(other_server.asked), unanswered) == (n_asked, [])
        assert [again[f"q{index}"] for index in range(12)] == list(first.values())


def test_one_answer_that_came_out_otherwise_is_no_other_model(server, other_server, settings, questions, ask):
    ask(settings(), questions(8))
    other_server.script = lambda request, n: other_server.say(
        other_server.completion('{"answer": ["B"]}' if "question 3" in str(request) else '{"answer": ["A"]}')
    )
    assert ask(settings(base_url=other_server.url), questions(8))[1] == []


@pytest.mark.parametrize("change", [{"root": "/other"}, {"parent": "base"}, {"created": 1_700_000_001}])
def test_what_the_server_says_of_the_model_is_looked_at_too(server, settings, questions, ask, change):
    server.models = [{"id": "m", "root": "/weights", "parent": None, "created": 1_700_000_000}]
    ask(settings(), questions(3))
    ask(settings(), questions(3))
    assert len(server.asked) == 3
    server.models = [{**server.models[0], **change}]
    ask(settings(), questions(3))
    assert len(server.asked) == 6
    says(server, '{"answer": ["C"]}')
    server.models = [{**server.models[0], "created": 1_700_000_002}]
    with pytest.raises(InputError, match=r"3 answers of http.*\(root /weights\)" if "root" not in change else "root"):
        ask(settings(), questions(3))


def test_a_server_that_gives_the_time_of_the_look_as_created_is_not_another_at_each(
    server, settings, questions, ask, monkeypatch
):
    import itertools
    import time

    looks = itertools.count(int(time.time()))
    type(server).models = property(lambda self: [{"id": "m", "created": next(looks)}], lambda self, value: None)
    try:
        monkeypatch.setattr(same_model, "_SECOND_LOOK_S", 0)
        for _ in range(2):
            ask(settings(), questions(2))
        assert len(server.asked) == 2
    finally:
        del type(server).models


def test_the_next_day_the_model_is_looked_at_again(server, settings, questions, ask, monkeypatch):
    ask(settings(), questions(2))
    monkeypatch.setattr(same_model, "utc_now", lambda: "2999-01-01T00:00:00Z")
    ask(settings(), questions(2))
    assert len(server.asked) == 4
    ask(settings(), questions(2))
    assert len(server.asked) == 4


def test_other_prompt_tokens_for_the_same_question_are_another_model(server, other_server, settings, questions, ask):
    ask(settings(), questions(3))
    reply = {**other_server.completion(), "usage": {"prompt_tokens": 999, "completion_tokens": 3}}
    other_server.script = lambda request, n: other_server.say(reply)
    with pytest.raises(InputError, match=r"now .*\(999 prompt tokens\)"):
        ask(settings(base_url=other_server.url), questions(3))


def test_answers_of_which_nothing_is_known_are_looked_at(server, settings, questions, ask):
    ask(settings(), questions(2))
    for path in journal_root().rglob("*.session.json"):
        path.unlink()
    says(server, '{"answer": ["B"]}')
    with pytest.raises(InputError, match="2 answers of a server not written down"):
        ask(settings(), questions(2))


def test_two_models_that_answered_at_once_are_told_apart_by_the_next_run(
    server, other_server, settings, questions, ask
):
    """Two shards began on an empty journal, on two servers: neither could be asked about the other's answers."""
    from egobench_tasks.hosts.endpoint.questions import EndpointAnswers

    says(other_server, '{"answer": ["B"]}')
    import asyncio

    late = EndpointAnswers(settings(base_url=other_server.url))
    ask(settings(), questions(4)[:2])
    asyncio.run(late.ask(questions(4)[2:]))
    with pytest.raises(InputError, match=f"2 answers of {other_server.url}: of 2 asked again 2 come back otherwise"):
        ask(settings(), questions(4))


def test_a_cut_attempt_of_another_model_is_not_followed_by_this_ones(server, other_server, settings, questions, ask):
    def cut_then_gone(request, n):
        cut = request["max_tokens"] == 2048
        return server.say(server.completion("a b c", "length")) if cut else server.say({"error": "no"}, status=400)

    server.script = cut_then_gone
    ask(settings(), questions(2))
    says(other_server, '{"answer": ["B"]}')
    with pytest.raises(InputError, match=f"2 answers of {server.url}: of 2 asked again 2 come back otherwise"):
        ask(settings(base_url=other_server.url), questions(2))


def test_a_label_keeps_a_namesakes_answers_apart(server, other_server, settings, questions, ask):
    says(other_server, '{"answer": ["B"]}')
    ask(settings(), questions(2))
    other, _ = ask(settings(base_url=other_server.url, label="the second"), questions(2))
    assert {answer.text for answer in other.values()} == {'{"answer": ["B"]}'}
    ask(settings(), questions(2))
    assert (len(server.asked), len(other_server.asked)) == (2, 2)


def test_fresh_asks_everything_anew_keeps_the_old_and_later_runs_go_on_with_the_new(
    server, settings, questions, ask, monkeypatch
):
    ask(settings(), questions(2))
    says(server, '{"answer": ["B"]}')
    monkeypatch.setenv("EGOBENCH_FRESH", "1")
    fresh, _ = ask(settings(), questions(2))
    monkeypatch.delenv("EGOBENCH_FRESH")
    later, _ = ask(settings(), questions(2))
    assert fresh == later and {answer.text for answer in fresh.values()} == {'{"answer": ["B"]}'}
    assert (len(server.asked), len(journalled())) == (4, 4)
    assert len({answer.key for answer in journalled()}) == 4


def test_a_server_that_answers_none_of_the_kept_questions_is_an_error_while_some_are_to_be_asked(
    server, other_server, settings, questions, ask
):
    ask(settings(), questions(2))
    other_server.script = lambda request, n: other_server.say({"error": "no"}, status=400)
    with pytest.raises(EgobenchError, match="gives none of 2 kept answers again"):
        ask(settings(base_url=other_server.url), questions(3))


@pytest.mark.parametrize(
    ("kept", "again", "same"),
    [
        ('{"answer": ["A", "C"]}', 'So it is\n{"answer": "C, A"}', True),
        ('{"answer": ["A", "C"]}', '{"answer": ["A", "B"]}', False),
        ('{"answer": ["A"]}', "The answer is A.", False),
        ("The person picks up a red cup.", "A person picks up the red cup", True),
        ("The person picks up a red cup.", "They leave the kitchen.", False),
        ("", "", True),
        ("", "Yes.", False),
    ],
)
def test_letters_must_be_the_same_letters_and_open_answers_the_same_in_substance(kept, again, same):
    first, second = (Answer("k", "q", "t", "p", text, "stop") for text in (kept, again))
    assert same_answer(first, second) is same
