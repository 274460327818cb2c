"""Where reasoning ends: long texts in linear time, special tokens, prompts that open it."""

import time

import pytest

from egobench_tasks.scoring.answers import AnswerFailure, open_answer, parse_answer
from egobench_tasks.scoring.reasoning import Reasoned, has_trace, is_mark_token, left_open, split_reasoning

MEGABYTE = 1_000_000


@pytest.mark.parametrize(
    "piece",
    [
        "{", "[", '"', "\\", "<", '{"', '{"a":', '{"answer":[', '{"a":[', '\\"', '{\\"', "<think>", "</think>",
    ],
)  # fmt: skip
def test_a_megabyte_of_anything_is_read_in_well_under_a_second(piece):
    text = piece * (MEGABYTE // len(piece)) + '"answer"'
    started_s = time.process_time()
    parse_answer(text, "ABCD")
    assert time.process_time() - started_s < 3  # about 0.3 s on an idle machine; it took minutes


def test_nested_braces_hold_the_answer_that_starts_last():
    text = '{"a":' * 2000 + '{"answer": ["B"]}' + "}" * 2000
    assert parse_answer(text, "ABCD").letters == {"B"}
    assert parse_answer(text[:-2000], "ABCD").letters == {"B"}
    assert parse_answer('{"answer": ' + "[" * MEGABYTE, "ABCD").failure is AnswerFailure.NO_JSON


def test_reasoning_and_answer_are_cut_apart():
    assert split_reasoning("plain") == Reasoned("", "plain")
    assert split_reasoning("<think>a</think>b") == Reasoned("a", "b")
    assert split_reasoning("a</think>b</think>c") == Reasoned("a</think>b", "c")
    assert split_reasoning("<thinking>a") == Reasoned("a", None)


def test_a_trace_is_any_reasoning_wherever_it_was_kept():
    assert has_trace("<think>a</think>b") and has_trace("b", "a") and has_trace("a</think>b")
    assert not has_trace("b") and not has_trace("<think>\n\n</think>b", " ")


def test_a_prompt_that_opens_reasoning_is_told():
    assert left_open("<|im_start|>assistant\n<think>\n") == "<think>\n"
    assert left_open("<|im_start|>assistant\n<think>\n\n</think>\n\n") == ""
    assert left_open("may hold <think> in a question") == left_open("") == ""


def test_tokens_that_are_marks_or_pieces_of_one():
    assert all(
        map(is_mark_token, ["<think>", "</think>", "[THINK]", "◁/think▷", "<|channel|>", "<|channel>", "<channel|>"])
    )
    assert not any(map(is_mark_token, ["<pad>", "<|im_end|>", "</s>", "<image>", "[INST]", ""]))


@pytest.mark.parametrize("text", ["", "  \n", "<think>a</think>", "<think>a</think>\n \n", "<think>a"])
def test_an_open_answer_without_words_is_none(text):
    assert open_answer(text) is None


def test_an_open_answer_is_what_follows_the_reasoning():
    assert open_answer("<think>red?</think>\n A red cup. ") == "A red cup."
    assert open_answer("A red cup.", "end_turn") == "A red cup."
    assert open_answer("A red cup.", "max_tokens") is open_answer("A red cup.", "abort") is None
