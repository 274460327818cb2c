"""The endpoint host against a scripted server: everything that a server may do to a run."""

import dataclasses
import logging
from email.utils import formatdate
from time import time

import pytest

from egobench_tasks.errors import EgobenchError, InputError
from egobench_tasks.frames.lazy import FrameList
from egobench_tasks.runs.journal import Journal, journal_root
from egobench_tasks.scoring.answers import AnswerFailure, parse_answer

LETTERS = "ABCD"


def journalled():
    """All attempts on disk."""
    return [answer for folder in journal_root().glob("*") for answer in Journal(folder).answers().values()]


def test_the_message_holds_texts_and_the_stores_jpegs_in_order(server, settings, questions, ask):
    (question,) = questions(1, frames=3)
    ask(settings(), [question])
    (request,) = server.asked
    (clip,) = question.frames.clips()
    assert len(clip.jpegs) == 3
    assert server.parts_of(request) == ["question 0\n", "\nCLIP_1\n", *clip.jpegs, "end"]
    assert {key: value for key, value in request.items() if key != "messages"} == {
        "model": "m", "max_tokens": 2048, "temperature": 0.0,
    }  # fmt: skip
    assert all(set(part["image_url"]) == {"url"} for part in request["messages"][0]["content"] if "image_url" in part)


def test_settings_reach_the_request(server, settings, questions, ask):
    extra = {"top_k": 1, "chat_template_kwargs": {"x": 1}}
    values = {"thinking": "on", "image_detail": "high", "temperature": None, "max_tokens": 9, "extra_body": extra}
    from egobench_tasks.hosts.endpoint.settings import ImageDetail
    from egobench_tasks.servers.settings import Thinking, TokensField

    values |= {"thinking": Thinking.ON, "image_detail": ImageDetail.HIGH}
    values |= {"max_tokens_field": TokensField.MAX_COMPLETION_TOKENS}
    ask(settings(**values), questions(1))
    (request,) = server.asked
    assert request["chat_template_kwargs"] == {"x": 1, "enable_thinking": True}
    assert (request["top_k"], request["max_completion_tokens"]) == (1, 9)
    assert not {"temperature", "max_tokens"} & set(request)
    details = [part["image_url"]["detail"] for part in request["messages"][0]["content"] if "image_url" in part]
    assert details == ["high", "high"]


def test_what_was_answered_is_never_asked_again(server, settings, questions, ask):
    first, _ = ask(settings(), questions(3))
    again, unanswered = ask(settings(concurrency=2, base_url=server.url + "/"), questions(4))
    assert [len(server.asked), unanswered] == [4, []]
    assert [again[f"q{index}"] for index in range(3)] == list(first.values())


def test_with_nothing_to_ask_no_server_is_needed(server, settings, questions, ask):
    ask(settings(), questions(1))
    server.close()
    assert ask(settings(base_url="http://127.0.0.1:9/v1"), questions(1))[1] == []


@pytest.mark.parametrize(
    "change", [{"temperature": 0.5}, {"model": "other"}, {"max_tokens": 9}, {"extra_body": {"k": 1}}]
)
def test_answers_under_other_settings_are_not_reused(server, settings, questions, ask, change):
    ask(settings(), questions(1))
    ask(settings(**change), questions(1))
    assert len(server.asked) == 2


def test_usage_finish_reason_and_latency_are_journalled(server, settings, questions, ask):
    server.script = lambda request, n: server.say(server.completion(), delay_s=0.2)
    ask(settings(), questions(1))
    (answer,) = journalled()
    assert (answer.n_prompt_tokens, answer.n_new_tokens, answer.finish_reason) == (207, 3, "stop")
    assert answer.budget_tokens == 2048
    assert 0.2 <= answer.latency_s < 3


@pytest.mark.parametrize(
    "failure",
    [
        {"status": 500, "body": {"error": "sorry"}},
        {"status": 503, "body": {}},
        {"status": 429, "body": {}},
        {"hang_up": True},
        {"body": b"<html>Bad Gateway</html>"},
        {"body": {"choices": []}},
        {"body": {"choices": [{"message": {"content": 7}, "finish_reason": "stop"}]}},
        {"body": [1]},
    ],
    ids=["500", "503", "429", "dropped", "html", "no choice", "number", "list"],
)
def test_what_may_pass_is_repeated(server, settings, questions, ask, failure):
    server.script = lambda request, n: server.say(**failure) if n < 3 else server.say(server.completion())
    answers, unanswered = ask(settings(), questions(1))
    assert (len(server.asked), unanswered) == (3, [])
    assert answers["q0"].text == '{"answer": ["A"]}'


def test_a_server_that_hangs_is_given_up_and_asked_again(server, settings, questions, ask):
    server.script = lambda request, n: server.say(server.completion(), delay_s=2 if n == 1 else 0)
    answers, unanswered = ask(settings(timeout_s=0.5), questions(1))
    assert (len(server.asked), unanswered) == (2, [])
    assert answers["q0"].latency_s < 0.5


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_retry_after_is_obeyed_by_every_request(server, settings, questions, ask, form):
    after = "1" if form == "seconds" else formatdate(time() + 3, usegmt=True)
    limited = {"status": 429, "body": {}, "headers": {"Retry-After": after}}
    server.script = lambda request, n: (
        server.say(**limited) if len(server.asked) == 1 else server.say(server.completion())
    )
    _, unanswered = ask(settings(concurrency=1), questions(3))
    assert unanswered == []
    waits = [later - earlier for earlier, later in zip(server.times_s[2:], server.times_s[3:], strict=False)]
    assert waits[0] >= 0.95
    assert len(server.asked) == 4


def test_a_question_that_keeps_failing_is_listed_and_asked_by_the_next_run(server, settings, questions, ask):
    def script(request, n):
        bad = server.parts_of(request)[0] == "question 1\n"
        return server.say({"error": "broken"}, status=500) if bad else server.say(server.completion())

    server.script = script
    answers, unanswered = ask(settings(), questions(3))
    (item,) = unanswered
    assert (item.question_id, item.finish_reason, answers["q1"]) == ("q1", "request_failed", None)
    assert "HTTP 500" in item.reason and "broken" in item.reason and "after 3 attempts" in item.reason
    assert len(journalled()) == 2
    server.script = lambda request, n: server.say(server.completion())
    n_asked = len(server.asked)
    answers, unanswered = ask(settings(), questions(3))
    assert unanswered == []
    assert [server.parts_of(request)[0] for request in server.asked[n_asked:]] == ["question 1\n"]


def test_a_refused_request_is_not_repeated(server, settings, questions, ask):
    server.script = lambda request, n: server.say({"error": "the context has 9 tokens"}, status=400)
    _, (item,) = ask(settings(), questions(1))
    assert len(server.asked) == 1
    assert "HTTP 400" in item.reason and "the context has 9 tokens" in item.reason


def test_a_server_that_is_down_is_given_up(server, settings, questions, ask):
    server.script = lambda request, n: server.say({}, status=500)
    _, unanswered = ask(settings(max_retries=0, concurrency=4), questions(40))
    assert len(unanswered) == 40
    assert len(server.asked) < 24
    assert "16 questions in a row had failed" in unanswered[-1].reason


def test_a_clip_that_does_not_decode_is_listed_and_the_rest_asked(server, settings, questions, ask, tmp_path):
    broken = tmp_path / "broken.mp4"
    broken.write_bytes(b"no video")
    good, bad = questions(2)
    request = dataclasses.replace(bad.frames.requests[0], path=str(broken), sha256="0" * 64)
    bad = dataclasses.replace(bad, frames=FrameList((request,)))
    answers, (item,) = ask(settings(), [good, bad])
    assert (item.question_id, item.finish_reason) == ("q1", "clip_unreadable")
    assert str(broken) in item.reason
    assert answers["q0"] is not None


def test_an_empty_message_is_an_answer_that_holds_none(server, settings, questions, ask):
    server.script = lambda request, n: server.say(server.completion(None if "0" in str(request) else ""))
    answers, unanswered = ask(settings(), questions(2))
    assert unanswered == []
    for answer in answers.values():
        assert parse_answer(answer.text, LETTERS, answer.finish_reason).failure is AnswerFailure.NO_JSON
    ask(settings(), questions(2))
    assert len(server.asked) == 2


def test_a_truncated_answer_is_asked_for_again_with_twice_the_budget_and_kept(server, settings, questions, ask):
    def script(request, n):
        cut = request["max_tokens"] < 8192
        return server.say(server.completion("cut" if cut else '{"answer": ["B"]}', "length" if cut else "stop"))

    server.script = script
    answers, _ = ask(settings(), questions(1))
    assert [request["max_tokens"] for request in server.asked] == [2048, 4096, 8192]
    assert answers["q0"].text == '{"answer": ["B"]}'
    assert sorted((answer.budget_tokens, answer.text) for answer in journalled()) == [
        (2048, "cut"), (4096, "cut"), (8192, '{"answer": ["B"]}'),
    ]  # fmt: skip
    ask(settings(), questions(1))
    assert len(server.asked) == 3


def test_truncation_at_the_cap_is_no_answer_even_with_json_in_it(server, settings, questions, ask):
    server.script = lambda request, n: server.say(server.completion('{"answer": ["A"]}', "length"))
    answers, unanswered = ask(settings(max_tokens_cap=5000), questions(1))
    assert [request["max_tokens"] for request in server.asked] == [2048, 4096, 5000]
    assert unanswered == []
    answer = answers["q0"]
    assert parse_answer(answer.text, LETTERS, answer.finish_reason).failure is AnswerFailure.TRUNCATED


@pytest.mark.parametrize("status", [400, 500])
def test_where_a_larger_budget_fails_the_smaller_attempt_stands(server, settings, questions, ask, status):
    """Many of them in a row are no server that is down: all questions are asked."""

    def script(request, n):
        if request["max_tokens"] > 2048:
            return server.say({"error": "too many tokens"}, status=status)
        return server.say(server.completion('{"answer": ["A"]}', "length"))

    server.script = script
    answers, unanswered = ask(settings(max_retries=0, concurrency=2), questions(20))
    assert (len(server.asked), unanswered) == (40, [])
    for answer in answers.values():
        assert (answer.budget_tokens, answer.finish_reason) == (2048, "length")
        assert parse_answer(answer.text, LETTERS, answer.finish_reason).failure is AnswerFailure.TRUNCATED


def test_after_a_larger_budget_failed_the_next_run_goes_on_there(server, settings, questions, ask):
    ok = [False]

    def script(request, n):
        if request["max_tokens"] == 2048:
            return server.say(server.completion("cut", "length"))
        return server.say(server.completion()) if ok[0] else server.say({}, status=500)

    server.script = script
    answers, unanswered = ask(settings(max_retries=0), questions(1))
    assert (answers["q0"].text, unanswered) == ("cut", [])
    ok[0] = True
    answers, unanswered = ask(settings(), questions(1))
    assert (answers["q0"].budget_tokens, unanswered) == (4096, [])
    assert [request["max_tokens"] for request in server.asked] == [2048, 4096, 4096]


@pytest.mark.parametrize("reason", [None, "eos", "eos_token", "end_turn", "STOP", "stop_sequence", "completed"])
def test_a_normal_end_in_any_providers_words_is_read(server, settings, questions, ask, reason):
    server.script = lambda request, n: server.say(server.completion(finish_reason=reason))
    answers, _ = ask(settings(), questions(1))
    assert parse_answer(answers["q0"].text, LETTERS, answers["q0"].finish_reason).letters == {"A"}


@pytest.mark.parametrize("reason", ["max_tokens", "model_length", "MAX_TOKENS"])
def test_a_cut_in_any_providers_words_is_asked_for_again(server, settings, questions, ask, reason):
    server.script = lambda request, n: server.say(server.completion(finish_reason=reason if n == 1 else "stop"))
    answers, _ = ask(settings(), questions(1))
    assert (len(server.asked), answers["q0"].budget_tokens) == (2, 4096)


MISREAD = {"content": None, "reasoning_content": '{"answer": ["A"]}'}


@pytest.mark.parametrize(
    "failure",
    [{"finish_reason": "error"}, {"finish_reason": "abort"}, MISREAD, {**MISREAD, "content": ""}],
    ids=["error", "abort", "null content", "empty content"],
)
def test_a_reply_of_the_services_failure_is_asked_again_then_unanswered(server, settings, questions, ask, failure):
    """No word of it is kept as the model's, so a server that is mended is asked."""
    server.script = lambda request, n: server.say(server.completion(**failure))
    answers, (item,) = ask(settings(max_retries=1), questions(1))
    assert (answers["q0"], len(server.asked), journalled()) == (None, 2, [])
    assert item.finish_reason == "request_failed"
    assert failure.get("finish_reason", "reasoning and no content") in item.reason
    server.script = lambda request, n: server.say(server.completion())
    answers, unanswered = ask(settings(), questions(1))
    assert (answers["q0"].text, unanswered) == ('{"answer": ["A"]}', [])


def test_what_older_versions_kept_of_a_failed_service_is_asked_again(server, settings, questions, ask):
    ask(settings(), questions(1))
    (path,) = journal_root().glob("*/*.jsonl")
    path.write_text(path.read_text().replace('"finish_reason": "stop"', '"finish_reason": "error"'))
    answers, unanswered = ask(settings(), questions(1))
    assert (len(server.asked), answers["q0"].finish_reason, unanswered) == (2, "stop", [])


@pytest.mark.parametrize("reason", ["content_filter", "refusal", "tool_calls"])
def test_any_other_end_is_no_answer(server, settings, questions, ask, reason):
    server.script = lambda request, n: server.say(server.completion(finish_reason=reason))
    answers, _ = ask(settings(), questions(1))
    answer = answers["q0"]
    assert parse_answer(answer.text, LETTERS, answer.finish_reason).failure is AnswerFailure.ABNORMAL_STOP


@pytest.mark.parametrize(
    "message",
    [
        {"content": '{"answer": ["A"]}', "reasoning_content": 'maybe {"answer": ["B"]}'},
        {"content": '{"answer": ["A"]}', "reasoning": 'maybe {"answer": ["B"]}'},
        {"content": '<think>maybe {"answer": ["B"]}</think>{"answer": ["A"]}'},
        {"content": [{"type": "text", "text": '{"answer": '}, {"type": "text", "text": '["A"]}'}],
         "reasoning_content": 'maybe {"answer": ["B"]}'},
    ],
    ids=["reasoning_content", "reasoning", "inline", "parts"],
)  # fmt: skip
def test_reasoning_is_kept_apart_in_each_form(server, settings, questions, ask, message):
    server.script = lambda request, n: server.say(server.completion(**message))
    answers, _ = ask(settings(), questions(1))
    assert (answers["q0"].text, answers["q0"].reasoning) == ('{"answer": ["A"]}', 'maybe {"answer": ["B"]}')


def test_a_server_that_ignores_images_is_refused_before_the_first_question(server, settings, questions, ask):
    server.sight = lambda request, n: server.say(server.completion("blind"))
    with pytest.raises(EgobenchError, match="this server ignores images"):
        ask(settings(), questions(1))
    assert server.asked == []
    assert not journalled()


@pytest.mark.parametrize("answers", [("blind", "sees", "blind"), ("a", "b", "c")])
def test_without_token_counts_the_answers_tell(server, settings, questions, ask, answers):
    said = iter(answers)
    first, second, third = (next(said) for _ in range(3))

    def sight(request, n):
        sees = len(server.parts_of(request)) > 1
        return server.say(server.completion(second if sees else first if n == 1 else third, usage=False))

    server.sight = sight
    if first == third:
        assert ask(settings(), questions(1))[1] == []
    else:  # answers that differ by themselves say nothing of images
        with pytest.raises(EgobenchError, match="ignores images"):
            ask(settings(), questions(1))


def test_a_server_that_refuses_images_is_named_with_its_own_words(server, settings, questions, ask):
    def sight(request, n):
        seeing = len(server.parts_of(request)) > 1
        return server.say({"error": "no images please"}, status=400) if seeing else server.say(server.completion())

    server.sight = sight
    with pytest.raises(EgobenchError, match=r"a picture: HTTP 400.*no images please"):
        ask(settings(), questions(1))


def test_questions_of_text_alone_need_no_sight(server, settings, questions, ask):
    (question,) = questions(1)
    ask(settings(), [dataclasses.replace(question, segments=question.segments[:1], frames=FrameList(()))])
    assert len(server.requests) == 1


def test_concurrency_bounds_the_requests_under_way(server, settings, questions, ask):
    server.script = lambda request, n: server.say(server.completion(), delay_s=0.05)
    ask(settings(concurrency=3), questions(20))
    assert server.most_open == 3


def test_requests_a_minute_are_kept_to(server, settings, questions, ask):
    ask(settings(requests_per_minute=1200, concurrency=8), questions(10))
    gaps = [later - earlier for earlier, later in zip(server.times_s, server.times_s[1:], strict=False)]
    assert server.times_s[-1] - server.times_s[0] >= 0.05 * 10.5
    assert len(gaps) == 13  # the sight check asks twice, the count of frames' tokens is measured once, in two


def test_the_key_is_sent_and_nowhere_else(server, settings, questions, ask, monkeypatch, caplog, capfd, tmp_path):
    key = "sk-very-secret-1234567890"
    monkeypatch.setenv("MY_KEY", key)
    caplog.set_level(logging.DEBUG)

    def script(request, n):
        if server.parts_of(request)[0] == "question 0\n":
            return server.say({"error": f"wrong key {key}"}, status=401)
        return server.say(f"not JSON {key}".encode()) if n == 1 else server.say(server.completion())

    server.script = script
    made = settings(api_key_variable="MY_KEY")
    _, (item,) = ask(made, questions(2))
    assert all(headers["authorization"] == f"Bearer {key}" for headers in server.headers)
    assert "wrong key [key]" in item.reason
    printed = capfd.readouterr()
    kept = "".join(path.read_text() for path in tmp_path.rglob("*") if path.is_file())
    for text in (caplog.text, printed.out, printed.err, kept, repr(made), item.reason):
        assert key not in text


def test_a_key_that_is_not_set_is_one_message(settings, questions, ask, monkeypatch):
    monkeypatch.delenv("MY_KEY", raising=False)
    with pytest.raises(InputError, match=r"\$MY_KEY, which is not set"):
        ask(settings(api_key_variable="MY_KEY"), questions(1))


def test_the_users_own_openai_variables_are_not_used(server, settings, questions, ask, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-another-server")
    ask(settings(), questions(1))
    assert "sk-of-another-server" not in str(server.headers)
