"""Where reviewers stand together, and what becomes of a question by which rule."""

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from egobench_tasks.errors import InputError
from egobench_tasks.making.review.decision import (
    Action,
    Content,
    Decision,
    Mark,
    OwnAnswer,
    Reason,
    Revealed,
    Span,
    TakenBack,
    from_record,
    to_record,
)
from egobench_tasks.making.review.outcome import Rest, Rule, outcomes
from egobench_tasks.making.review.repair import read_repair
from egobench_tasks.making.review.settle import Standing, Status, keys_of, rule, status_of
from egobench_tasks.making.review.state import against_marks, replay
from egobench_tasks.making.seen import Seen

SHOWN = Content("Which?", ("one", "two", "three"), ("B",))
OTHER = replace(SHOWN, answer=("A",))


def decide(reviewer, action, when="2026-01-01T00:00:00Z", **more):
    return Decision(question_id="q", shown=SHOWN.digest, reviewer=reviewer, when_utc=when, action=action, **more)


def standing(*decisions, at_least=1):
    reviews = {one.reviewer: replay([two for two in decisions if two.reviewer == one.reviewer]) for one in decisions}
    return rule(["q"], reviews, at_least)[0]


CONFIRM, DROP = decide("r1", Action.CONFIRM), decide("r2", Action.DROP, reason=Reason.AMBIGUOUS)


def settle(*parties, action=Action.DROP, when="2026-01-02T00:00:00Z", reviewer="r3"):
    settled = keys_of({one.reviewer: one for one in parties})
    return decide(reviewer, action, when, reason=Reason.OTHER, settles=settled)


def test_a_question_without_enough_reviewers_is_undecided():
    assert rule(["q"], {}, 1)[0].standing is Standing.UNDECIDED
    assert standing(CONFIRM).standing is Standing.AGREED
    assert standing(CONFIRM, at_least=2).standing is Standing.UNDECIDED


def test_a_third_settles_a_dispute_until_a_party_decides_anew():
    third = settle(CONFIRM, DROP)
    assert standing(CONFIRM, DROP).standing is Standing.DISPUTED
    assert standing(CONFIRM, DROP, third) == replace(standing(CONFIRM, DROP), standing=Standing.SETTLED, decision=third)
    anew = decide("r1", Action.REPAIR, "2026-01-03T00:00:00Z", content=OTHER, reason=Reason.WRONG_ANSWER)
    assert standing(CONFIRM, DROP, third, anew).standing is Standing.DISPUTED
    gives_in = decide("r1", Action.DROP, "2026-01-03T00:00:00Z", reason=Reason.OTHER)
    assert standing(CONFIRM, DROP, third, gives_in).standing is Standing.AGREED


def test_the_third_may_be_of_a_third_opinion():
    repaired = replace(settle(CONFIRM, DROP), action=Action.REPAIR, content=OTHER)
    ruling = standing(CONFIRM, DROP, repaired)
    assert (ruling.standing, status_of(ruling.decision, SHOWN)) == (Standing.SETTLED, Status.REKEYED)


def test_repairs_are_alike_where_words_are_and_evidence_overlaps():
    one = decide("r1", Action.REPAIR, content=OTHER, evidence=Span(0, 1, 5), reason=Reason.OTHER)
    two = decide("r2", Action.REPAIR, content=OTHER, evidence=Span(0, 4, 9), reason=Reason.WORDING)
    assert standing(one, two).standing is Standing.AGREED
    assert standing(one, replace(two, evidence=Span(0, 5, 9))).standing is Standing.DISPUTED
    assert standing(one, replace(two, evidence=None)).standing is Standing.DISPUTED
    assert standing(one, replace(two, content=replace(OTHER, question="What?"))).standing is Standing.DISPUTED


def test_marks_against_the_gold():
    marks = {"A": Seen.SUPPORTED, "B": Seen.CONTRADICTED, "C": Seen.CANNOT_TELL}
    assert against_marks(SHOWN, marks) == ["A", "B"]
    assert against_marks(SHOWN, {"A": Seen.CONTRADICTED, "B": Seen.SUPPORTED}) == []
    assert against_marks(Content("What?", (), ("a cup",)), {"gold": Seen.CONTRADICTED}) == ["gold"]


ABOUT = {"question_id": "q", "shown": "0" * 16, "reviewer": "r1", "when_utc": "2026-01-01T00:00:00Z"}
texts = st.text(max_size=6)
contents = st.builds(Content, texts, st.lists(texts, max_size=3).map(tuple), st.lists(texts, max_size=2).map(tuple))
times = st.floats(0, 100, allow_nan=False)
said = st.one_of(
    st.builds(Mark, option=texts, seen=st.sampled_from(Seen), **{k: st.just(v) for k, v in ABOUT.items()}),
    st.builds(OwnAnswer, text=texts, **{k: st.just(v) for k, v in ABOUT.items()}),
    st.just(Revealed(**ABOUT)),
    st.just(TakenBack(**ABOUT)),
    st.builds(
        Decision,
        action=st.sampled_from(Action),
        reason=st.sampled_from(Reason),
        note=texts,
        content=st.none() | contents,
        evidence=st.none() | st.builds(Span, st.integers(0, 3), times, times),
        settles=st.dictionaries(texts, texts, max_size=2),
        **{k: st.just(v) for k, v in ABOUT.items()},
    ),
)


@settings(deadline=None)
@given(said)
def test_what_is_said_survives_as_a_record(one):
    assert from_record(json.loads(json.dumps(to_record(one))), "f") == one


@pytest.mark.parametrize(
    "record",
    [{}, {"kind": "vote"}, {"kind": "mark", **ABOUT}, {"kind": "mark", "option": "A", "seen": "perhaps", **ABOUT}],
)
def test_a_record_of_another_form_is_refused(record):
    with pytest.raises(InputError, match="f: holds a record that is none of a review's"):
        from_record(record, "f")


def reviews_of(*decisions):
    return {one.reviewer: replay([one]) for one in decisions}


def test_the_rule_is_explicit_for_what_is_undecided_and_unsettled():
    shown = {"q": SHOWN, "q2": SHOWN}
    found = outcomes(shown, reviews_of(CONFIRM, DROP), Rule())
    assert [(one.status, one.because) for one in found] == [(Status.DROPPED, "disputed"), (None, "")]
    found = outcomes(shown, reviews_of(CONFIRM, DROP), Rule(undecided=Rest.DROP, unsettled=Rest.KEEP))
    assert [(one.status, one.because) for one in found] == [(None, ""), (Status.DROPPED, "undecided")]


def test_reviews_of_other_words_are_refused():
    with pytest.raises(InputError, match="the reviews are of another dataset: q not"):
        outcomes({"q": OTHER}, reviews_of(CONFIRM), Rule())
    with pytest.raises(InputError, match="the reviews are of another dataset: q not"):
        outcomes({"q2": SHOWN}, reviews_of(CONFIRM), Rule())


def fields(content, **more):
    options = {f"option_{letter}": [text] for letter, text in zip("ABC", content.options, strict=False)}
    return {"question": [content.question], "answer": list(content.answer), **options, **more}


def test_a_repair_moves_letters_where_an_option_is_removed():
    repair = read_repair(fields(SHOWN, option_A=[" "]), SHOWN, [60.0])
    assert (repair.content, repair.evidence) == (Content("Which?", ("two", "three"), ("A",)), None)


def test_evidence_alone_is_a_repair():
    span = {"evidence_clip": ["1"], "evidence_start": ["2.5"], "evidence_end": ["9"]}
    repair = read_repair(fields(SHOWN, **span), SHOWN, [60.0, 60.0])
    assert (repair.content, repair.evidence) == (None, Span(1, 2.5, 9.0))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, "nothing is changed"),
        ({"question": [" "]}, "the question is empty"),
        ({"option_A": [""], "option_C": [""]}, "needs 2 options"),
        ({"option_A": ["two"]}, "two options have the same text"),
        ({"option_B": [""]}, "B: is right, and has no text"),
        ({"answer": []}, "no option is right"),
        ({"evidence_start": ["3"]}, "needs a start and an end"),
        ({"evidence_start": ["3"], "evidence_end": ["x"]}, "needs a start and an end"),
        ({"evidence_start": ["5"], "evidence_end": ["3"]}, "end after its start"),
        ({"evidence_start": ["nan"], "evidence_end": ["3"]}, "end after its start"),
        ({"evidence_start": ["5"], "evidence_end": ["61"]}, "ends at 61 s, the clip at 60.0 s"),
        ({"evidence_start": ["5"], "evidence_end": ["inf"]}, "the clip at 60.0 s"),
        ({"evidence_clip": ["2"], "evidence_start": ["5"], "evidence_end": ["6"]}, "must lie in a clip"),
    ],
)
def test_what_a_repair_lacks_is_said(changed, said):
    with pytest.raises(InputError, match=said):
        read_repair(fields(SHOWN) | changed, SHOWN, [60.0])
