"""Offline scores of open answers."""

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from egobench_tasks.scoring import open as open_answers
from egobench_tasks.scoring.open import exact_match, normalise, token_f1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Three times.", "3 times"),
        ("twice", "Two times"),
        ("once", "one time"),
        ("A spoon.", "the SPOON"),
        ("twenty-one", "21"),
        ("Twenty one pegs", "21 pegs"),
        ("1,000 beads", "1000 beads"),
        ("The person's hand", "persons hand"),
        ("the person’s hand", "the person's hand"),
        ("  zero ", "0"),
        ("ﬁve", "5"),
        ("naïve café", "NAÏVE CAFÉ"),
        ("An up-and-down motion", "up and down motion"),
        ("3.5 m", "3.5m".replace("m", " m")),
    ],
)
def test_equal_but_for_spelling(one, other):
    assert exact_match(one, other) == 1.0
    assert token_f1(one, other) == 1.0


@pytest.mark.parametrize(
    ("one", "other"),
    [("three", "four"), ("3.5", "3 5"), ("twenty", "20 one"), ("", "a cup"), ("left of the sink", "sink of the left")],
)
def test_different_answers(one, other):
    assert exact_match(one, other) == 0.0


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("twenty one two", ["21", "2"]),
        ("twenty zero", ["20", "0"]),
        ("twenty eleven", ["20", "11"]),
        ("20 one", ["20", "1"]),
        ("one hundred", ["1", "hundred"]),
        ("the a an", []),
        ("!?", []),
    ],
)
def test_number_words(text, tokens):
    assert normalise(text) == tokens


def test_f1_counts_shared_tokens_as_often_as_they_occur():
    assert token_f1("red red cup", "red cup cup") == pytest.approx(2 / 3)
    assert token_f1("red cup", "blue plate") == 0.0
    assert token_f1("", "cup") == 0.0
    assert token_f1("the", "a") == 1.0


@given(st.text(), st.text())
def test_scores_are_symmetric_bounded_and_consistent(one, other):
    f1, exact = token_f1(one, other), exact_match(one, other)
    assert f1 == token_f1(other, one) and exact == exact_match(other, one)
    assert 0 <= f1 <= 1 and exact <= f1
    assert token_f1(one, one) == exact_match(one, one) == 1.0


def test_every_gold_answer_of_the_real_file_has_tokens(shared_dir):
    import json

    annotations = json.loads((shared_dir / "data/egotempo/egotempo_openQA.json").read_text())["annotations"]
    assert all(normalise(annotation["answer"]) for annotation in annotations)


def test_the_examples_in_the_docstrings():
    failures, tried = doctest.testmod(open_answers)
    assert tried >= 3 and failures == 0
