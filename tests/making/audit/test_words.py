"""Planted faults that words give away are found, one each, and the sound rest is left alone."""

import dataclasses
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from egobench_tasks.making.audit.finding import Finding, Rule, read_findings, write_findings
from egobench_tasks.making.audit.question import AuditedQuestion, Footage, pairs_on_the_same_footage
from egobench_tasks.making.audit.words import audit_words

SOUND = AuditedQuestion(
    question_id="sound",
    kind="landmark-order",
    question="Which landmark is passed in CLIP_1 after the bridge?",
    options=(
        "A red kiosk with posters.",
        "A grey bus shelter.",
        "A bench under a lime tree.",
        "A row of parked bikes.",
    ),
    right=frozenset({1}),
    answer="A grey bus shelter.",
    labels=("CLIP_1", "CLIP_2"),
    footage=(Footage("a" * 64), Footage("b" * 64)),
)
OPEN = AuditedQuestion(
    question_id="open",
    kind="locating object",
    question="Where is the green lid at the end of the video?",
    options=(),
    right=frozenset(),
    answer="In the sink.",
    labels=(),
    footage=(Footage("uid", 10.0, 40.0),),
)


def choice(question_id="planted", **changes):
    return dataclasses.replace(SOUND, question_id=question_id, footage=(Footage(question_id),), **changes)


def options(**changes):
    texts = dict(enumerate(SOUND.options)) | {int(index[1:]): text for index, text in changes.items()}
    return tuple(texts[index] for index in sorted(texts))


PLANTED = {
    Rule.LEAK_LABEL: choice(question="Which landmark is passed in CLIP_7 after the bridge?"),
    Rule.LEAK_TIME: choice(question="Which landmark is passed at 0:35, after the bridge?"),
    Rule.LEAK_NAME: choice(question="Which landmark does P03_FastWalk_Night_Traj02 pass after the bridge?"),
    Rule.SHARED_WORDS: choice(
        question="Which shelter with a yellow timetable and a broken window is passed after the bridge?",
        options=options(
            _1="The shelter with the yellow timetable, its window broken.",
            _2="A bench under a lime tree, painted dark green.",
        ),
    ),
    Rule.LONGEST_IS_RIGHT: choice(options=options(_1="A grey bus shelter of three panes, one cracked, by a kerb.")),
}


@pytest.mark.parametrize("rule", PLANTED)
def test_a_planted_fault_is_found_and_no_other(rule):
    (found,) = audit_words([SOUND, PLANTED[rule], OPEN])
    assert (found.question_id, found.rule) == ("planted", rule)


@pytest.mark.parametrize(
    ("text", "leaks"),
    [
        ("What happens at 12 seconds?", True),
        ("What is seen around the 12-second mark?", True),
        ("What does frame 12 show?", True),
        ("What happens at 01:02:03?", True),
        ("Which of the 3 bridges comes first?", False),
        ("Does the sign show a ratio of 4:3 letters?", False),
        ("What is done for 5 seconds before the turn?", False),
    ],
)
def test_a_moment_is_a_leak_and_a_number_is_none(text, leaks):
    assert [finding.rule for finding in audit_words([choice(question=text)])] == [Rule.LEAK_TIME] * leaks


def test_only_right_options_that_name_a_clip_leak():
    labelled = options(_1="A grey bus shelter, in CLIP_2.")
    assert [finding.rule for finding in audit_words([choice(options=labelled)])] == [Rule.LEAK_LABEL]
    assert not audit_words([choice(options=options(_1="A grey shelter, in CLIP_2.", _2="A bench, in CLIP_1."))])


def test_the_same_question_on_the_same_footage_is_a_duplicate_and_with_another_answer_a_contradiction():
    again = dataclasses.replace(OPEN, question_id="again", question="Where is the green lid at the end of the video ?")
    elsewhere = dataclasses.replace(again, footage=(Footage("uid", 40.0, 60.0),))
    (found,) = audit_words([OPEN, again])
    assert (found.question_id, found.rule, found.related) == ("again", Rule.DUPLICATE, ("open",))
    (found,) = audit_words([OPEN, dataclasses.replace(again, answer="On the drying rack.")])
    assert found.rule is Rule.CONTRADICTION
    assert not audit_words([OPEN, elsewhere])


@pytest.mark.parametrize(
    "turned", ["Where is the green lid at the beginning of the video?", "Where is the second green lid at the end?"]
)
def test_a_word_that_turns_the_question_makes_it_another(turned):
    other = dataclasses.replace(OPEN, question_id="other", question=turned, answer="On the drying rack.")
    assert not audit_words([OPEN, other])


def test_an_open_question_that_holds_its_answer_is_found_but_no_list_to_choose_from():
    told = dataclasses.replace(OPEN, question="Where in the sink is the green lid at the end?")
    listed = dataclasses.replace(OPEN, question="Is the green lid in the sink, on the rack or in the box?")
    assert [finding.rule for finding in audit_words([told])] == [Rule.ANSWER_IN_QUESTION]
    assert not audit_words([listed])


@pytest.mark.parametrize(
    ("question", "answer", "rules"),
    [
        ("In which order are these touched: the lid, pan, and pot?", "Pot, lid, pan.", []),
        ("In which order are these touched: the lid, pan, and pot?", "Pot, then the lid.", [Rule.LIST_INCOMPLETE]),
        ("In which order are these touched: the lid, pan, and pot?", "First the cook stirs it.", []),
        ("In which order: eating bread, pouring water, wiping hands?", "Pour water, eat bread, wipe hands.", []),
        ("In which order are these touched: the lid, pan, pot?", "Lid, then pan and pot.", [Rule.LIST_IN_ORDER]),
        ("Is the lid washed before or after the pan?", "Before it.", [Rule.EITHER_OR]),
        ("Will the cook go on, or sit down?", "Rest.", [Rule.EITHER_OR]),
        ("Where does the cook drop the lid or cover?", "On the floor.", []),
    ],
)
def test_lists_and_choices_that_give_their_answer_away_or_miss_it(question, answer, rules):
    asked = dataclasses.replace(OPEN, question=question, answer=answer)
    assert [finding.rule for finding in audit_words([asked])] == rules


def test_the_sample_has_no_finding(sample_folder):
    from egobench_tasks.data import parse_location
    from egobench_tasks.making.audit.question import load_audited

    _, _, questions = load_audited(parse_location(str(sample_folder / "egogears"), where="DATASET"))
    assert len(questions) == 12
    assert audit_words(questions) == []


def test_the_real_open_questions_have_seven_findings_by_words(shared_dir, tmp_path):
    from dataset_scripts.egotempo.build import build_egotempo
    from egobench_tasks.data import parse_location
    from egobench_tasks.making.audit.question import load_audited

    build_egotempo(shared_dir / "data" / "egotempo" / "egotempo_openQA.json", tmp_path / "egotempo")
    _, _, questions = load_audited(parse_location(str(tmp_path / "egotempo"), where="DATASET"))
    assert len(questions) == 500
    found = audit_words(questions)
    counts = {Rule.LIST_INCOMPLETE: 1, Rule.LIST_IN_ORDER: 1, Rule.EITHER_OR: 5}
    assert Counter(finding.rule for finding in found) == counts
    assert found[0].evidence == {"missing": ["plant"]}  # the answer to "… doors, spray bottle, plant, …" has no plant


def test_findings_come_back_as_written(tmp_path):
    findings = [Finding("q1", Rule.DUPLICATE, "asks “the same”", ("q2",), {"n": 1}), Finding("q3", Rule.LEAK_TIME, "x")]
    write_findings(tmp_path / "findings.jsonl", findings)
    assert read_findings(tmp_path / "findings.jsonl") == findings


@given(st.lists(st.tuples(st.integers(0, 3), st.floats(0, 50), st.floats(0.1, 30)), max_size=12))
def test_pairs_are_those_that_share_a_moment(spans):
    questions = [
        dataclasses.replace(OPEN, question_id=str(number), footage=(Footage(str(uid), start, start + length),))
        for number, (uid, start, length) in enumerate(spans)
    ]
    expected = [
        (one.question_id, two.question_id)
        for number, one in enumerate(questions)
        for two in questions[number + 1 :]
        if one.footage[0].source == two.footage[0].source
        and max(one.footage[0].start_s, two.footage[0].start_s) < min(one.footage[0].end_s, two.footage[0].end_s)
    ]
    assert [(one.question_id, two.question_id) for one, two in pairs_on_the_same_footage(questions)] == expected
