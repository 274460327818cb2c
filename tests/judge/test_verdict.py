"""Strict reading of a judge's reply: one dict is the whole reply, or there is no verdict."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from egobench_tasks.judge.verdict import Judgement, NoVerdict, Verdict, read_verdict

RIGHT = Verdict(True, 5.0, "same thing")

VERDICTS = [
    ('{"pred": "correct", "score": 5, "reason": "same thing"}', RIGHT),
    ("{'pred': 'correct', 'score': 5, 'reason': 'same thing'}", RIGHT),
    ('\n  {"pred": "correct", "score": 5, "reason": "same thing"}\n', RIGHT),
    ('```json\n{"pred": "correct", "score": 5, "reason": "same thing"}\n```', RIGHT),
    ("```python\n{'pred': 'correct', 'score': 5, 'reason': 'same thing'}\n```", RIGHT),
    ('```\n{"pred": "correct",\n "score": 5,\n "reason": "same thing"}\n```\n', RIGHT),
    ('```{"pred": "correct", "score": 5, "reason": "same thing"}```', RIGHT),
    ('{"pred": "incorrect", "score": 4.8}', Verdict(False, 4.8)),
    ('{"pred": "incorrect", "score": 0, "reason": null}', Verdict(False, 0.0)),
    ('{"score": 3, "pred": "correct", "confidence": "high"}', Verdict(True, 3.0)),
    ("{'pred': 'correct', 'score': 5, 'reason': \"it's \\d\",}", Verdict(True, 5.0, "it's \\d")),
    ('{"pred": "correct", "score": 5, "reason": "a } and a ``` in it"}', Verdict(True, 5.0, "a } and a ``` in it")),
]

NO_VERDICTS = [
    ("", NoVerdict.EMPTY),
    ("  \n", NoVerdict.EMPTY),
    ("``````", NoVerdict.EMPTY),
    ("correct", NoVerdict.NOT_A_DICT),
    ("pred: correct, score: 5", NoVerdict.NOT_A_DICT),
    ('The answer is right: {"pred": "correct", "score": 5}', NoVerdict.NOT_A_DICT),
    ('{"pred": "correct", "score": 5} I hope this helps.', NoVerdict.NOT_A_DICT),
    ('{"pred": "correct", "score": 5}\n{"pred": "incorrect", "score": 0}', NoVerdict.NOT_A_DICT),
    ('```json\n{"pred": "correct", "score": 5}\n```\nor\n```json\n{"pred": "correct"}\n```', NoVerdict.NOT_A_DICT),
    ("def judge(p):\n    return {'pred': 'correct', 'score': 5}", NoVerdict.NOT_A_DICT),
    ("```python\ndef judge():\n    return {'pred': 'correct', 'score': 5}\n```", NoVerdict.NOT_A_DICT),
    ("verdict = {'pred': 'correct', 'score': 5}", NoVerdict.NOT_A_DICT),
    ("{'pred': judge(prediction), 'score': 5}", NoVerdict.NOT_A_DICT),
    ("{'pred': 'correct', 'score': 10 / 2}", NoVerdict.NOT_A_DICT),
    ("{**{'pred': 'correct', 'score': 5}}", NoVerdict.NOT_A_DICT),
    ("{'pred', 'correct'}", NoVerdict.NOT_A_DICT),
    ('[{"pred": "correct", "score": 5}]', NoVerdict.NOT_A_DICT),
    ('"{\\"pred\\": \\"correct\\", \\"score\\": 5}"', NoVerdict.NOT_A_DICT),
    ('{"pred": "correct", "score": 5', NoVerdict.NOT_A_DICT),
    ("<html><body>502 Bad Gateway</body></html>", NoVerdict.NOT_A_DICT),
    ('{"pred": "incorrect", "score": 0, "pred": "correct"}', NoVerdict.NOT_A_DICT),
    ("{'pred': 'incorrect', 'score': 0, 'pred': 'correct'}", NoVerdict.NOT_A_DICT),
    ("{" * 100_000 + "}", NoVerdict.NOT_A_DICT),
    ("{" + "-" * 19_000 + "1}", NoVerdict.NOT_A_DICT),
    ("{'a': " * 3_000 + "1" + "}" * 3_000, NoVerdict.NOT_A_DICT),
    ("{}", NoVerdict.BAD_PRED),
    ('{"error": {"message": "overloaded"}}', NoVerdict.BAD_PRED),
    ('{"score": 5}', NoVerdict.BAD_PRED),
    ('{"pred": "yes", "score": 5}', NoVerdict.BAD_PRED),
    ('{"pred": "Correct", "score": 5}', NoVerdict.BAD_PRED),
    ('{"pred": true, "score": 5}', NoVerdict.BAD_PRED),
    ('{"pred": ["correct"], "score": 5}', NoVerdict.BAD_PRED),
    ('{"pred": "correct"}', NoVerdict.BAD_SCORE),
    ('{"pred": "correct", "score": "5"}', NoVerdict.BAD_SCORE),
    ('{"pred": "correct", "score": true}', NoVerdict.BAD_SCORE),
    ('{"pred": "correct", "score": null}', NoVerdict.BAD_SCORE),
    ('{"pred": "correct", "score": 5.01}', NoVerdict.BAD_SCORE),
    ('{"pred": "correct", "score": -1}', NoVerdict.BAD_SCORE),
    ('{"pred": "correct", "score": NaN}', NoVerdict.BAD_SCORE),
    ('{"pred": "correct", "score": Infinity}', NoVerdict.BAD_SCORE),
    ("{'pred': 'correct', 'score': 1j}", NoVerdict.BAD_SCORE),
    ('{"pred": "correct", "score": [5]}', NoVerdict.BAD_SCORE),
    ('{"pred": "correct", "score": 5, "reason": ["a"]}', NoVerdict.BAD_REASON),
]


@pytest.mark.parametrize(("reply", "verdict"), VERDICTS)
def test_a_dict_that_is_the_whole_reply_is_a_verdict(reply, verdict):
    reading = read_verdict(reply)
    assert (reading.verdict, reading.failure) == (verdict, None)


@pytest.mark.parametrize(("reply", "failure"), NO_VERDICTS)
def test_anything_else_is_no_verdict_and_says_why(reply, failure):
    reading = read_verdict(reply)
    assert (reading.verdict, reading.failure) == (None, failure)


@pytest.mark.parametrize(
    ("finish_reason", "failure"),
    [
        ("length", NoVerdict.TRUNCATED),
        ("content_filter", NoVerdict.ABNORMAL_STOP),
        ("tool_calls", NoVerdict.ABNORMAL_STOP),
        ("None", NoVerdict.ABNORMAL_STOP),
    ],
)
def test_a_reply_that_did_not_end_by_itself_is_no_verdict_even_if_it_reads_well(finish_reason, failure):
    assert read_verdict('{"pred": "correct", "score": 5}', finish_reason).failure is failure


@given(st.booleans(), st.floats(0, 5), st.none() | st.text(), st.booleans())
def test_every_well_formed_dict_reads_back(correct, score, reason, as_python):
    declared = {"pred": "correct" if correct else "incorrect", "score": score, "reason": reason}
    reply = repr(declared) if as_python else json.dumps(declared)
    assert read_verdict(reply).verdict == Verdict(correct, score, reason)


@given(st.text(), st.text())
def test_text_round_a_dict_never_gives_a_verdict(before, after):
    reply = f'{before}{{"pred": "correct", "score": 5}}{after}'
    if read_verdict(reply).verdict is not None:
        assert before.replace("`", "").strip() == "" or before.strip().startswith("```")
        assert after.replace("`", "").strip() == ""


@given(st.text(alphabet="{}[]()'\":,`-~ \n\\predcorsin05.9eE+*", max_size=80))
def test_no_reply_raises(reply):
    reading = read_verdict(reply)
    assert (reading.verdict is None) != (reading.failure is None)


def test_a_judgement_holds_exactly_one_of_verdict_and_failure():
    with pytest.raises(ValueError, match="exactly one"):
        Judgement(None, None, "")
    with pytest.raises(ValueError, match="exactly one"):
        Judgement(RIGHT, NoVerdict.EMPTY, "")
