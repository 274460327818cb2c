"""What a model wrote is read strictly, or not at all."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from egobench_tasks.making.draft.reading import UnreadableReply, read_caption, read_proposals

OPEN = {"question": "What is opened?", "answer": "The gate", "evidence": [1, 4.5]}
CHOICE = {"question": "Which way?", "right": ["Left"], "wrong": ["Right", "Straight on"], "evidence": [0, 9]}


def read(content, *, is_open=True, finish_reason="stop", wrap="{}"):
    text = content if isinstance(content, str) else json.dumps({"questions": content})
    return read_proposals(wrap.replace("{}", text), finish_reason, is_open=is_open, duration_s=10.0)


def test_both_forms_are_read_after_reasoning_and_in_a_fence():
    (one,) = read([OPEN])
    assert (one.question, one.answer, one.options, one.start_s, one.end_s) == (
        "What is opened?",
        "The gate",
        (),
        1,
        4.5,
    )
    (one,) = read([CHOICE], is_open=False, wrap='<think>{"questions": []}</think>\n```json\n{}\n```')
    assert one.options == ("Left", "Right", "Straight on")
    assert one.right == (0,)


def test_times_that_were_rounded_past_the_clips_ends_are_its_ends():
    (one,) = read([{**OPEN, "evidence": [-0.2, 10.4]}])
    assert (one.start_s, one.end_s) == (0.0, 10.0)


@pytest.mark.parametrize(
    ("row", "is_open"),
    [
        ({**OPEN, "question": ""}, True),
        ({**OPEN, "question": "x" * 601}, True),
        ({**OPEN, "answer": ["The gate"]}, True),
        ({**OPEN, "evidence": [4, 1]}, True),
        ({**OPEN, "evidence": [1, 40]}, True),
        ({**OPEN, "evidence": [1, None]}, True),
        ({**OPEN, "evidence": "1-4"}, True),
        ({**OPEN, "evidence": [True, 4]}, True),
        ({**CHOICE, "wrong": []}, False),
        ({**CHOICE, "right": "Left"}, False),
        ({**CHOICE, "wrong": ["left."]}, False),
        ({**CHOICE, "wrong": [f"way {n}" for n in range(8)]}, False),
        (OPEN, False),
        ("a question", True),
    ],
)
def test_a_question_of_another_form_spoils_the_reply(row, is_open):
    with pytest.raises(UnreadableReply, match="question 1"):
        read([row], is_open=is_open)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Sure! {}",
        '{"questions": []}',
        '{"questions": 3}',
        "[" * 100_000,
        "[1]",
        '{"questions": [1], "questions": [2]}',
    ],
)
def test_a_reply_of_another_form_is_none(text):
    with pytest.raises(UnreadableReply):
        read(text)


def test_a_cut_reply_is_none():
    with pytest.raises(UnreadableReply, match="cut"):
        read([OPEN], finish_reason="length")
    with pytest.raises(UnreadableReply):
        read_caption("<think>still", "stop")


def test_characters_that_control_a_terminal_or_a_page_are_blanks():
    (one,) = read([{**OPEN, "question": "What \u202eis\x1b[31m\n opened?", "answer": "<b>gate</b>\ud800"}])
    assert one.question == "What is [31m opened?"
    assert one.answer == "<b>gate</b>"  # escaped where it is shown


@given(st.text(max_size=300))
def test_nothing_that_a_model_writes_is_a_traceback(text):
    for is_open in (True, False):
        try:
            read(text, is_open=is_open)
        except UnreadableReply:
            continue
