"""One generation becomes scores: mapped back, and with what upstream's stricter rule would make of it."""

import pytest

from egobench_tasks.scoring.choice import score_text

FACTS = {"shown_letters": "ABC", "original_letters": "CAB", "answer": "C"}
RIGHT = '{"answer": ["A"]}'


def test_shown_letters_are_mapped_back():
    assert score_text(FACTS, RIGHT, "stop").score.exact_set == 1
    assert score_text(FACTS, '{"answer": ["C"]}', "stop").score.exact_set == 0


@pytest.mark.parametrize("letters", ["AB", "ABCD"])
def test_letters_that_do_not_pair_up_are_a_defect_and_no_score(letters):
    with pytest.raises(ValueError, match="zip"):
        score_text({**FACTS, "original_letters": letters}, RIGHT, "stop")


@pytest.mark.parametrize(
    ("text", "reasoning", "thinking", "no_trace", "exact_traced"),
    [
        (RIGHT, "", False, False, 1),  # nobody asked for reasoning
        (RIGHT, "", True, True, 0),
        (RIGHT, "because", True, False, 1),
        (f"<think>because</think>{RIGHT}", "", True, False, 1),
        (f"<think></think>{RIGHT}", " ", True, True, 0),
        ("no answer", "", True, False, 0),  # counted as no answer already
    ],
)
def test_an_answer_without_a_trace_is_counted_and_scored_beside(text, reasoning, thinking, no_trace, exact_traced):
    scored = score_text(FACTS, text, "stop", reasoning=reasoning, thinking=thinking)
    assert (scored.no_trace, scored.exact_traced) == (no_trace, exact_traced)
    assert scored.score.exact_set == (RIGHT in text)  # the score itself knows nothing of traces
