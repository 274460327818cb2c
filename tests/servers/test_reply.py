import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from egobench_tasks.scoring.answers import parse_answer
from egobench_tasks.servers.reply import BadReply, read_reply, split_reasoning


@pytest.mark.parametrize(
    ("content", "reasoning", "text"),
    [
        ("plain", "", "plain"),
        ("<think>a</think>b", "a", "b"),
        ("a</think>b", "a", "b"),
        ("<think>a</think>b</think>c", "a</think>b", "c"),
        ("<think>never closed", "", "<think>never closed"),
        ("<think>a</think>b<think>c", "", "<think>a</think>b<think>c"),
    ],
)
def test_inline_reasoning(content, reasoning, text):
    assert split_reasoning(content) == (reasoning, text)


@given(st.lists(st.sampled_from(["<think>", "</think>", "text", '{"answer": ["A"]}', '{"answer": ["B"]}', " "])))
def test_splitting_reasoning_off_never_changes_the_answer(pieces):
    content = "".join(pieces)
    assert parse_answer(split_reasoning(content)[1], "AB") == parse_answer(content, "AB")


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
