import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from egobench_tasks.scoring.answers import parse_answer
from egobench_tasks.scoring.endings import NOT_GIVEN
from egobench_tasks.scoring.reasoning import Reasoned
from egobench_tasks.servers.reply import BadReply, read_reply, split_inline


@pytest.mark.parametrize(
    ("content", "reasoning", "text"),
    [
        ("plain", "", "plain"),
        ("<think>a</think>b", "a", "b"),
        ("a</think>b", "a", "b"),
        ("<think>a</think>b</think>c", "a</think>b", "c"),
        ("<think>never closed", "", "<think>never closed"),
        ("<think>a</think>b<think>c", "", "<think>a</think>b<think>c"),
        ("<thinking>a</thinking>b", "a", "b"),
        ("<thinking>a</thinking>b<think>c", "", "<thinking>a</thinking>b<think>c"),
    ],
)
def test_inline_reasoning(content, reasoning, text):
    assert split_inline(content) == Reasoned(reasoning, text)


@given(
    st.lists(
        st.sampled_from(
            [
                "<think>",
                "</think>",
                "[THINK]",
                "[/THINK]",
                "<|end|>",
                "text",
                '{"answer": ["A"]}',
                '{"answer": ["B"]}',
                " ",
            ]
        )
    )
)
def test_splitting_reasoning_off_never_changes_the_answer(pieces):
    content = "".join(pieces)
    assert parse_answer(split_inline(content).answer, "AB") == parse_answer(content, "AB")


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists) | st.text())
def test_any_other_body_is_a_bad_reply(value):
    for body in (json.dumps(value), json.dumps({"choices": value}), str(value)):
        with pytest.raises(BadReply):
            read_reply(body)


@pytest.mark.parametrize("usage", [None, {}, [], {"prompt_tokens": "7"}, {"prompt_tokens": True}])
def test_counts_that_are_none_are_not_made_up(usage):
    body = {"choices": [{"message": {"content": "x"}, "finish_reason": "stop"}], "usage": usage}
    reply = read_reply(json.dumps(body))
    assert (reply.n_prompt_tokens, reply.n_new_tokens) == (None, None)


def body_of(content, finish_reason="stop", **message):
    return json.dumps({"choices": [{"message": {"content": content, **message}, "finish_reason": finish_reason}]})


@pytest.mark.parametrize("reason", ["error", "abort", "cancelled", "internal_error"])
def test_a_reply_that_tells_of_the_services_failure_is_none(reason):
    with pytest.raises(BadReply, match=reason):
        read_reply(body_of('{"answer": ["A"]}', reason))


@pytest.mark.parametrize("content", [None, "", " \n", []])
@pytest.mark.parametrize("field", ["reasoning_content", "reasoning", "thinking"])
def test_reasoning_without_content_is_no_reply(content, field):
    with pytest.raises(BadReply, match="reasoning and no content"):
        read_reply(body_of(content, **{field: 'I say {"answer": ["A"]}'}))
    assert read_reply(body_of(content, "length", **{field: "I say"})).reasoning == "I say"  # cut while it reasoned
    assert read_reply(body_of(content)).text.strip() == ""


@pytest.mark.parametrize(
    ("content", "text", "reasoning"),
    [
        ([{"type": "text", "text": "a"}, "b", {"type": "output_text", "text": "c"}, None, {"type": "x"}], "abc", ""),
        ([{"type": "thinking", "thinking": [{"type": "text", "text": "r"}]}, {"type": "text", "text": "a"}], "a", "r"),
        ([{"type": "reasoning", "text": "r"}, {"type": "text", "text": "a"}], "a", "r"),
    ],
)
def test_content_as_a_list_of_parts(content, text, reasoning):
    reply = read_reply(body_of(content))
    assert (reply.text, reply.reasoning) == (text, reasoning)


def test_reasoning_in_details_without_content_is_no_reply():
    details = [{"type": "reasoning.summary", "summary": "on A"}, {"type": "reasoning.text", "text": ", surely"}]
    with pytest.raises(BadReply, match="reasoning and no content"):
        read_reply(body_of(None, reasoning_details=details))
    assert read_reply(body_of("a", reasoning_details=details)).reasoning == "on A, surely"


@pytest.mark.parametrize("content", [None, "", []])
def test_tokens_of_which_a_server_shows_nothing_are_no_empty_answer(content):
    shown = {"choices": [{"message": {"content": content}, "finish_reason": "stop"}]}
    with pytest.raises(BadReply, match="412 new tokens"):
        read_reply(json.dumps({**shown, "usage": {"completion_tokens": 412}}))
    assert read_reply(json.dumps({**shown, "usage": {"completion_tokens": 2}})).text == ""


def test_no_finish_reason_is_kept_as_that():
    assert read_reply(body_of("a", None)).finish_reason == NOT_GIVEN
