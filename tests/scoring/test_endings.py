import pytest

from egobench_tasks.scoring.endings import NOT_GIVEN, Ending, ending, is_known

WORDS = {
    Ending.NORMAL: [
        "stop", "eos", "eos_token", "end_turn", "STOP", "stop_sequence", "completed", None, "", NOT_GIVEN, "COMPLETE",
    ],
    Ending.LENGTH: ["length", "max_tokens", "model_length", "MAX_TOKENS", "max-tokens", "max_output_tokens", "LENGTH"],
    Ending.SERVICE_FAILURE: [
        "error", "abort", "aborted", "cancelled", "canceled", "ERROR", "internal_error", "timeout", "failed",
        "request_failed",
    ],
    Ending.MODEL: ["content_filter", "refusal", "SAFETY", "tool_calls", "unknown", "clip_unreadable", "error_toxic"],
}  # fmt: skip


@pytest.mark.parametrize(("kind", "word"), [(kind, word) for kind, words in WORDS.items() for word in words])
def test_what_providers_call_an_end(kind, word):
    assert ending(word) is kind


def test_a_word_that_nobody_listed_is_known_as_such():
    assert [is_known(word) for word in ("stop", "length", "error", "SAFETY", None)] == [True] * 5
    assert not is_known("satiated")
