"""One client for every server: what servers send, refuse and ask for."""

import json
import time
import tracemalloc

import pytest

from egobench_tasks.errors import InputError
from egobench_tasks.servers import client as client_module
from egobench_tasks.servers.failures import FailureKind, RequestFailed

SYSTEM = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"}]


def failure_of(complete, **settings):
    with pytest.raises(RequestFailed) as error:
        complete(**settings)
    return error.value


@pytest.mark.parametrize("charset", ["utf-16", "utf-32", "iso-8859-1", "no-such-charset", '"'])
def test_a_charset_that_is_not_the_bodys_changes_nothing(server, complete, charset):
    server.answer = lambda handler, request: server.send(
        handler, server.completion("grün"), kind=f"application/json; charset={charset}"
    )
    assert complete()[0].text == "grün"


@pytest.mark.parametrize("charset", ["undefined", "idna", "rot13", "base64", "unicode_escape", "utf-7", "cp65001"])
def test_a_codec_that_is_no_charset_costs_nothing(server, complete, charset):
    """The body is in no UTF, so what is declared is tried."""
    body = json.dumps({"choices": [{"message": {"content": "gr?n"}, "finish_reason": "stop"}]}).encode()
    server.answer = lambda handler, request: server.send(
        handler, body.replace(b"?", b"\xfc"), kind=f"application/json; charset={charset}"
    )
    assert complete()[0].text.startswith("gr")


def test_a_body_in_the_charset_it_names_is_read(server, complete):
    body = json.dumps({"choices": [{"message": {"content": "grün"}, "finish_reason": "stop"}]}, ensure_ascii=False)
    for charset in ("utf-16", "iso-8859-1", "windows-1252"):
        kind = f"application/json; charset={charset}"
        server.answer = lambda handler, request, kind=kind, charset=charset: server.send(
            handler, body.encode(charset), kind=kind
        )
        assert complete()[0].text == "grün"


@pytest.mark.parametrize(
    ("content", "text"),
    [("\ud800 half", "\ufffd half"), ("whole \U0001f600", "whole \U0001f600"), ("a\udfff", "a\ufffd")],
)
def test_half_a_character_becomes_one_that_can_be_written_down(server, complete, content, text):
    server.answer = lambda handler, request: server.send(handler, server.completion(content, reasoning_content=content))
    reply, _ = complete()
    assert (reply.text, reply.reasoning) == (text, text)
    assert (reply.text + reply.reasoning + reply.finish_reason).encode()


def test_a_reply_of_100_megabytes_is_not_read_to_its_end(server, complete):
    sent = []

    def answer(handler, request):
        handler.send_response(200)
        handler.send_header("Content-Length", str(100 * 2**20))
        handler.end_headers()
        for _ in range(100):
            handler.wfile.write(b" " * 2**20)
            sent.append(1)

    server.answer = answer
    tracemalloc.start()
    assert failure_of(complete).kind is FailureKind.TOO_LARGE
    peak_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(sent) < 30 and peak_bytes < 40 * 2**20


@pytest.mark.parametrize(
    "body",
    [
        "[" * 100_000,
        '{"choices": ' + "[" * 100_000,
        '{"choices": [{"message": 1}]}',
        '{"choices": {"0": 1}}',
        '{"choices": [{"message": {"content": {"a": 1}}, "finish_reason": "stop"}]}',
        "\x00",
        "9" * 10_000,
    ],
)
def test_a_body_of_any_kind_is_a_failure_with_a_reason(server, complete, body):
    server.answer = lambda handler, request: server.send(handler, body)
    error = failure_of(complete)
    assert error.kind in (FailureKind.BAD_REPLY, FailureKind.NO_COMPLETION)
    assert "not a chat completion" in str(error) and len(str(error)) < 1000


EVENTS = [
    {"choices": [{"delta": {"role": "assistant", "reasoning_content": "hm"}}]},
    {"choices": [{"delta": {"content": "gr\ud83d"}}]},
    {"choices": [{"delta": {"content": "\ude00n"}, "finish_reason": "stop"}]},
    {"choices": [], "usage": {"prompt_tokens": 4, "completion_tokens": 2}},
]


def stream(handler, events, done=True):
    handler.send_response(200)
    handler.send_header("Content-Type", "text/event-stream")
    handler.end_headers()
    text = ": keep-alive\n\n" + "".join(f"data: {json.dumps(event)}\r\n\r\n" for event in events)
    for byte in (text + ("data: [DONE]\n\n" if done else "")).encode():
        handler.wfile.write(bytes([byte]))
    handler.close_connection = True


def test_a_provider_that_only_streams_is_asked_for_a_stream_and_says_so_once(server, complete):
    def answer(handler, request):
        if request.get("stream"):
            return stream(handler, EVENTS)
        return server.send(handler, '{"error": {"message": "Only stream=true is supported", "param": "stream"}}', 400)

    server.answer = answer
    reply, told = complete()
    assert (reply.text, reply.reasoning, reply.finish_reason) == ("gr\U0001f600n", "hm", "stop")
    assert (reply.n_prompt_tokens, reply.n_new_tokens) == (4, 2)
    assert [request.get("stream") for request in server.requests] == [None, True]
    (line,) = told
    assert "replies in one piece" in line and "Only stream=true" in line


@pytest.mark.parametrize("word", ["stop", "length", "content_filter", "satiated"])
def test_an_end_that_nobody_knows_is_told(server, complete, word):
    server.answer = lambda handler, request: server.send(handler, server.completion(finish_reason=word))
    reply, told = complete()
    assert reply.finish_reason == word
    assert ["'satiated'" in line for line in told] == ([True] if word == "satiated" else [])


@pytest.mark.parametrize("events", [EVENTS[:2], []])
def test_a_stream_that_breaks_off_is_no_reply(server, complete, events):
    server.answer = lambda handler, request: stream(handler, events, done=False)
    assert failure_of(complete, max_retries=0).kind in (FailureKind.CONNECTION, FailureKind.NO_COMPLETION)


def refusing(server, *fields):
    """A server that refuses a request for each field in turn, and answers what is left."""

    def answer(handler, request):
        for field, message in fields:
            if field in request or (field == "system" and request["messages"][0]["role"] == "system"):
                return server.send(handler, json.dumps({"error": {"message": message}}), 400)
        return server.send(handler, server.completion())

    return answer


REFUSALS = [
    (
        "max_tokens",
        "Unsupported parameter: 'max_tokens' is not supported here. Use 'max_completion_tokens'.",
    ),
    ("temperature", "Unsupported value: 'temperature' does not support 0 with this model. Only the default is."),
    ("system", "System role not supported"),
]


def test_what_a_server_refuses_is_left_out_or_put_otherwise_and_said_once(server, complete):
    server.answer = refusing(server, *REFUSALS)
    reply, told = complete(SYSTEM)
    assert reply.text == "hello"
    last = server.requests[-1]
    assert last["max_completion_tokens"] == 100 and not {"max_tokens", "temperature"} & set(last)
    assert last["messages"] == [{"role": "user", "content": "Be brief.\n\nhi"}]
    assert len(server.requests) == 4 and len(told) == 3
    for line, (_, words) in zip(told, REFUSALS, strict=True):
        assert words[:20] in line


def test_a_budget_that_is_too_large_is_no_refusal_of_its_field(server, complete):
    words = "'max_tokens' or 'max_completion_tokens' is too large: 100. The maximum context length is 50 tokens."
    server.answer = lambda handler, request: server.send(handler, json.dumps({"error": {"message": words}}), 400)
    error = failure_of(complete)
    assert (error.kind, len(server.requests)) == (FailureKind.REFUSED, 1)
    assert words in str(error)


def test_a_server_that_refuses_either_field_is_not_asked_for_ever(server, complete):
    server.answer = refusing(server, ("max_tokens", "max_tokens unknown"), ("max_completion_tokens", "unknown too"))
    assert failure_of(complete).kind is FailureKind.REFUSED
    assert len(server.requests) == 2


def test_an_address_with_a_query_and_a_key_in_a_header_of_its_own(server, complete, monkeypatch):
    monkeypatch.setenv("MY_KEY", "secret-of-azure")
    complete(
        base_url=f"{server.url}/deployments/gpt?api-version=2024-06-01",
        headers={"api-key": "$MY_KEY"},
        query={"a": "b c"},
    )
    assert server.paths == ["/v1/deployments/gpt/chat/completions?api-version=2024-06-01&a=b+c"]
    assert server.headers[0]["api-key"] == "secret-of-azure"
    assert "authorization" not in server.headers[0]


def test_a_key_that_a_model_or_a_refusal_echoes_is_masked(server, complete, monkeypatch):
    monkeypatch.setenv("MY_KEY", "sk-abc/def-1234")
    server.answer = lambda handler, request: server.send(
        handler, server.completion("your key is sk-abc/def-1234", reasoning_content="sk-abc/def-1234?")
    )
    reply, _ = complete(api_key_variable="MY_KEY")
    assert (reply.text, reply.reasoning) == ("your key is [key]", "[key]?")
    server.answer = lambda handler, request: server.send(
        handler, '{"error": "sk-abc/def-1234 or sk-abc%2Fdef-1234"}', 401
    )
    error = failure_of(complete, api_key_variable="MY_KEY")
    assert "abc" not in str(error) and error.kind is FailureKind.MISCONFIGURED


def test_a_short_key_leaves_answers_alone(server, complete, monkeypatch):
    monkeypatch.setenv("MY_KEY", "A")
    server.answer = lambda handler, request: server.send(handler, server.completion('{"answer": ["A"]}'))
    assert complete(api_key_variable="MY_KEY")[0].text == '{"answer": ["A"]}'


def test_a_limit_without_a_word_is_waited_out_and_one_with_a_word_is_told(server, complete, monkeypatch):
    monkeypatch.setattr(client_module, "_TOLD_PAUSE_S", 0.2)

    def answer(handler, request):
        if len(server.requests) <= 6:  # more than max_retries
            return server.send(handler, "{}", 429)
        if len(server.requests) == 7:
            return server.send(handler, '{"error": "Please try again in 500ms"}', 429)
        return server.send(handler, server.completion())

    server.answer = answer
    started_s = time.monotonic()
    reply, told = complete()
    assert reply.text == "hello" and time.monotonic() - started_s >= 0.5
    assert len(server.requests) == 8
    assert "is over its limit: waiting" in told[-1] and "try again in 500ms" in told[-1]


def test_an_account_without_money_is_not_waited_for(server, complete):
    server.answer = lambda handler, request: server.send(handler, '{"error": {"code": "insufficient_quota"}}', 429)
    assert failure_of(complete).kind is FailureKind.MISCONFIGURED
    assert len(server.requests) == 1


def test_nothing_stands_still_in_silence(server, complete, monkeypatch):
    monkeypatch.setattr(client_module, "SILENCE_S", 0.3)

    def answer(handler, request):
        time.sleep(1)
        server.send(handler, server.completion())

    server.answer = answer
    _, told = complete()
    assert 1 <= len(told) <= 3
    assert "no reply for" in told[0] and "1 requests under way" in told[0] and "given up at 5 s" in told[0]


@pytest.mark.parametrize("variable", ["ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY"])
def test_a_proxy_setting_does_not_stand_before_a_server_of_this_machine(server, complete, monkeypatch, variable):
    monkeypatch.setenv(variable, "socks5h://127.0.0.1:9")
    monkeypatch.setenv("SSL_CERT_FILE", "/no/such/file.pem")
    assert complete()[0].text == "hello"


def test_a_proxy_and_certificates_that_cannot_be_used_are_one_message_each(complete, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", "/no/such/file.pem")
    with pytest.raises(InputError, match=r"SSL_CERT_FILE=/no/such/file\.pem .*cannot be read"):
        complete(base_url="https://models.example/v1")
    monkeypatch.delenv("SSL_CERT_FILE")
    monkeypatch.setenv("ALL_PROXY", "nonsense://127.0.0.1:9")
    with pytest.raises(InputError, match="ALL_PROXY names cannot be used"):
        complete(base_url="https://models.example/v1")


def test_too_few_file_handles_are_one_message_before_anything_is_asked(complete, monkeypatch):
    from egobench_tasks.servers import transport

    limits = [(64, 1000)]
    monkeypatch.setattr(transport.resource, "getrlimit", lambda which: limits[0])
    monkeypatch.setattr(transport.resource, "setrlimit", lambda which, wanted: limits.append(wanted))
    complete(concurrency=32)
    assert limits[1:] == [(96, 1000)]  # what is allowed is taken
    limits[0] = (64, 80)
    with pytest.raises(InputError, match=r"may open 80 files.*smaller concurrency"):
        complete(concurrency=32)
