"""Reading a judge's reply: the one dict with `pred` in what follows its reasoning (PROTOCOL 2)."""

import json
import time

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
    ('The answer is right: {"pred": "correct", "score": 5}', Verdict(True, 5.0)),
    ('{"pred": "correct", "score": 5} I hope this helps.', Verdict(True, 5.0)),
    ("It's {close}, so {'pred': 'incorrect', 'score': 2}, isn't it?", Verdict(False, 2.0)),
    ("<think>{'pred': 'correct'}, or not?</think>{'pred': 'incorrect', 'score': 2}", Verdict(False, 2.0)),
    ('maybe {"pred": "correct", "score": 5}</think>\n{"pred": "incorrect", "score": 0}', Verdict(False, 0.0)),
    ('{"verdict": {"pred": "correct", "score": 5}}', Verdict(True, 5.0)),
    ('[{"pred": "correct", "score": 5}]', Verdict(True, 5.0)),
    ('{"question": "which {pred}?"} {"pred": "correct", "score": 5}', Verdict(True, 5.0)),
    ('{"pred": "correct"}', Verdict(True, None)),
    ('{"pred": "correct", "score": null}', Verdict(True, None)),
    ('{"pred": "correct", "score": "4"}', Verdict(True, 4.0)),
    ('{"pred": "incorrect", "score": " 1.5 "}', Verdict(False, 1.5)),
    ('{"pred": "correct", "score": 5}\nAgain:\n{"pred": "correct", "reason": "ok"}', Verdict(True, 5.0, "ok")),
    ('{"pred": "incorrect", "score": 5}', Verdict(False, 5.0)),
    ("{'pred': 'correct', 'score': 5, 'reason': '\\ud800 half'}", Verdict(True, 5.0, "\ufffd half")),
    ('{"pred": "correct", "score": 5, "reason": "\\ud83d\\ude00"}', Verdict(True, 5.0, "\U0001f600")),
]

NO_VERDICTS = [
    ("", NoVerdict.EMPTY),
    ("  \n", NoVerdict.EMPTY),
    ("``````", NoVerdict.EMPTY),
    ("correct", NoVerdict.NOT_A_DICT),
    ("pred: correct, score: 5", NoVerdict.NOT_A_DICT),
    ('{"pred": "correct", "score": 5}\n{"pred": "incorrect", "score": 0}', NoVerdict.CONTRADICTION),
    ('{"pred": "correct", "score": 5}\n{"pred": "correct", "score": 3}', NoVerdict.CONTRADICTION),
    ('[{"pred": "correct"}, {"pred": "incorrect"}]', NoVerdict.CONTRADICTION),
    ('<think>{"pred": "correct", "score": 5}', NoVerdict.UNCLOSED_REASONING),
    ("{'pred': judge(prediction), 'score': 5}", NoVerdict.NOT_A_DICT),
    ("{'pred': 'correct', 'score': 10 / 2}", NoVerdict.NOT_A_DICT),
    ("{'pred', 'correct'}", NoVerdict.NOT_A_DICT),
    ('"{\\"pred\\": \\"correct\\", \\"score\\": 5}"', NoVerdict.NOT_A_DICT),
    ('{"pred": "correct", "score": 5', NoVerdict.NOT_A_DICT),
    ("<html><body>502 Bad Gateway</body></html>", NoVerdict.NOT_A_DICT),
    ('{"pred": "incorrect", "score": 0, "pred": "correct"}', NoVerdict.NOT_A_DICT),
    ("{'pred': 'incorrect', 'score': 0, 'pred': 'correct'}", NoVerdict.NOT_A_DICT),
    ("{" * 100_000 + "}", NoVerdict.NOT_A_DICT),
    ("{" + "-" * 19_000 + "1}", NoVerdict.NOT_A_DICT),
    ("{'a': " * 3_000 + "1" + "}" * 3_000, NoVerdict.NOT_A_DICT),
    ("{}", NoVerdict.NOT_A_DICT),
    ('{"error": {"message": "overloaded"}}', NoVerdict.NOT_A_DICT),
    ('{"score": 5}', NoVerdict.NOT_A_DICT),
    ('{"pred": "correct", "score": "high"}', NoVerdict.BAD_SCORE),
    ('{"pred": "correct", "score": "9"}', NoVerdict.BAD_SCORE),
    ('{"pred": "yes", "score": 5}', NoVerdict.BAD_PRED),
    ('{"pred": "Correct", "score": 5}', NoVerdict.BAD_PRED),
    ('{"pred": true, "score": 5}', NoVerdict.BAD_PRED),
    ('{"pred": ["correct"], "score": 5}', NoVerdict.BAD_PRED),
    ('{"pred": "correct", "score": true}', NoVerdict.BAD_SCORE),
    ('{"pred": "correct", "score": 5.01}', NoVerdict.BAD_SCORE),
    ('{"pred": "correct", "score": -1}', NoVerdict.BAD_SCORE),
    ('{"pred": "correct", "score": NaN}', NoVerdict.BAD_SCORE),
    ('{"pred": "correct", "score": Infinity}', NoVerdict.BAD_SCORE),
    ("{'pred': 'correct', 'score': 1j}", NoVerdict.BAD_SCORE),
    ('{"pred": "correct", "score": [5]}', NoVerdict.BAD_SCORE),
    ('{"pred": "correct", "score": 5, "reason": ["a"]}', NoVerdict.BAD_REASON),
]


@pytest.mark.parametrize(("reply", "verdict"), VERDICTS)
def test_the_one_dict_with_a_pred_is_a_verdict(reply, verdict):
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


@given(st.text(st.characters(exclude_characters="{}<>'\"[]◁")), st.text(st.characters(exclude_characters="{}<>'\"[]◁")))
def test_prose_round_a_dict_changes_nothing(before, after):
    reply = f'{before}{{"pred": "correct", "score": 5}}{after}'
    assert read_verdict(reply).verdict == Verdict(True, 5.0)


def test_a_verdict_that_contradicts_its_own_score_counts_by_its_pred_and_says_so():
    assert [read_verdict(json.dumps({"pred": pred, "score": score})).verdict.contradicts_itself
            for pred, score in [("incorrect", 5), ("incorrect", 3), ("correct", 1), ("correct", 2), ("correct", None)]
            ] == [True, False, True, False, False]  # fmt: skip


def test_a_reply_full_of_braces_is_read_in_no_time():
    started_s = time.monotonic()
    for reply in ("{'a': " * 3000, "{" * 20_000, '{"a": {' * 2500, "{'a" * 6000):
        assert read_verdict(reply).failure is NoVerdict.NOT_A_DICT
    assert time.monotonic() - started_s < 5


@given(st.text(alphabet="{}[]()'\":,`-~ \n\\predcorsin05.9eE+*", max_size=80))
def test_no_reply_raises(reply):
    reading = read_verdict(reply)
    assert (reading.verdict is None) != (reading.failure is None)


def test_a_judgement_holds_exactly_one_of_verdict_and_failure():
    with pytest.raises(ValueError, match="exactly one"):
        Judgement(None, None, "")
    with pytest.raises(ValueError, match="exactly one"):
        Judgement(RIGHT, NoVerdict.EMPTY, "")
