import json
import string
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from egobench_tasks.scoring.answers import AnswerFailure, final_answer, parse_answer
from egobench_tasks.scoring.json_answers import last_answer_object
from egobench_tasks.scoring.reasoning import split_reasoning

LETTERS = "ABCDEF"


def test_golden_vectors(shared_dir):
    cases = json.loads((shared_dir / "protocol" / "vectors.json").read_text())["parse"]
    assert cases
    for case in cases:
        expected = None if case["chosen"] is None else set(case["chosen"])
        assert final_answer(case["raw"], case["letters"]) == expected, case["raw"]


CASES = json.loads((Path(__file__).parent / "cases" / "reading.json").read_text())


@pytest.mark.parametrize("case", CASES, ids=[f"{case['note']}: {case['raw'][:40]!r}" for case in CASES])
def test_cases(case):
    expected = None if case["chosen"] is None else set(case["chosen"])
    assert final_answer(case["raw"], case["letters"], case["finish_reason"]) == expected


@pytest.mark.parametrize(
    ("raw", "failure"),
    [
        ('<think>{"answer": ["B"]}', AnswerFailure.UNCLOSED_REASONING),
        ('{"answer": ["A"]} <think>', AnswerFailure.UNCLOSED_REASONING),
        ("The answer is A", AnswerFailure.NO_JSON),
        ("", AnswerFailure.NO_JSON),
        ('{"answer": 5}', AnswerFailure.NOT_A_LIST),
        ('{"answer": null}', AnswerFailure.NOT_A_LIST),
        ('{"answer": []}', AnswerFailure.EMPTY),
        ('{"answer": " "}', AnswerFailure.EMPTY),
        ('{"answer": ["AB"]}', AnswerFailure.UNREADABLE_ITEM),
        ('{"answer": ["((A"]}', AnswerFailure.UNREADABLE_ITEM),
        ('{"answer": [["A"]]}', AnswerFailure.UNREADABLE_ITEM),
        ('{"answer": "A,"}', AnswerFailure.UNREADABLE_ITEM),
        ('{"answer": ["G"]}', AnswerFailure.UNKNOWN_LETTER),
    ],
)
def test_the_reason_of_a_failure_is_kept(raw, failure):
    parsed = parse_answer(raw, LETTERS)
    assert (parsed.letters, parsed.failure) == (None, failure)


@pytest.mark.parametrize(
    ("finish_reason", "failure"),
    [
        ("length", AnswerFailure.TRUNCATED),
        ("content_filter", AnswerFailure.ABNORMAL_STOP),
        ("clip_unreadable", AnswerFailure.ABNORMAL_STOP),
    ],
)
def test_json_in_a_generation_that_did_not_stop_by_itself_is_no_answer(finish_reason, failure):
    assert parse_answer('{"answer": ["A"]}', LETTERS, finish_reason).failure is failure


def test_of_nested_objects_the_one_that_starts_last_counts():
    assert final_answer('{"answer": ["A"], "other": {"answer": ["B"]}}', LETTERS) == {"B"}


def test_an_object_inside_a_string_is_text_not_an_answer():
    quoted = json.dumps({"answer": ["A"], "note": '{"answer": ["B"]}'})
    assert final_answer(quoted, LETTERS) == {"A"}


def test_kelvin_sign_is_not_a_k():
    assert final_answer('{"answer": ["\u212a"]}', string.ascii_uppercase) is None
    assert final_answer('{"answer": ["opt\u0131on A"]}', LETTERS) is None


def test_nesting_beyond_the_decoder_ends_without_an_error():
    assert parse_answer('{"a":' * 3000, LETTERS).failure is AnswerFailure.NO_JSON
    assert final_answer('{"a":' * 3000 + '{"answer": ["C"]}', LETTERS) == {"C"}


@given(st.text(alphabet=st.sampled_from('{}[]",:/; answerABZ<think></think>\\\n'), max_size=80))
def test_any_text_gives_letters_that_were_shown_or_a_reason(text):
    parsed = parse_answer(text, LETTERS)
    assert (parsed.letters is None) == (parsed.failure is not None)
    assert parsed.letters is None or (parsed.letters and parsed.letters <= set(LETTERS))


def quadratic(text):
    """The last object with an answer, by trying a decoder at every brace."""
    for start in reversed([index for index, char in enumerate(text) if char == "{"]):
        try:
            value, _ = json.JSONDecoder().raw_decode(text, start)
        except ValueError:
            continue
        if "answer" in value:
            return value
    return None


_PIECES = [
    "{",
    "}",
    "[",
    "]",
    '"answer"',
    '"\\u0061nswer"',
    ":",
    ",",
    '"A"',
    '"',
    " ",
    "\n",
    "\\",
    '\\"',
    "1",
    "-1.5e3",
    "01",
]
_PIECES += ["null", "NaN", '{"answer":["B"]}', '"x":', '{"a":', "\t", "\x01", "é"]


@settings(max_examples=1500)
@given(st.lists(st.sampled_from(_PIECES), max_size=14).map("".join))
def test_the_object_found_is_the_one_that_trying_every_brace_finds(text):
    assert repr(last_answer_object(text)) == repr(quadratic(text))


_FORMS = ["{}", "({})", "[{}]", "{}.", "({}).", "Option {}", "option ({})", " {} ", "{}:", "{})"]


@given(
    st.sets(st.sampled_from(LETTERS), min_size=1),
    st.lists(st.sampled_from(_FORMS), min_size=6, max_size=6),
    st.booleans(),
    st.text().filter(lambda text: split_reasoning(text).answer == text),
)
def test_every_allowed_form_reads_back(letters, forms, lower, prose):
    items = [
        form.format(letter.lower() if lower else letter) for letter, form in zip(sorted(letters), forms, strict=False)
    ]
    answer = json.dumps({"answer": items})
    assert final_answer(f"<think>{prose}</think>{prose.replace('{', '')}\n{answer}", LETTERS) == letters
    assert final_answer(json.dumps({"answer": ",".join(items)}), LETTERS) == letters
