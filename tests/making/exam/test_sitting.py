"""What a person is asked, what they answered, and what stands of it."""

import json
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from egobench_tasks.errors import InputError
from egobench_tasks.making.exam.desk import read_answer
from egobench_tasks.making.exam.sitting import (
    Given,
    HandedIn,
    Shown,
    TakenBack,
    Terms,
    choice_text,
    chosen_letters,
    draw,
    from_record,
    replay,
    to_record,
)
from egobench_tasks.scoring.answers import parse_answer

TERMS = Terms(dataset="f", sample=3, seed=1)
IDS = [f"q{number}" for number in range(9)]


def given_answer(question_id, text="", seconds=1.0):
    return Given(question_id=question_id, text=text, seconds=seconds, when_utc="2026-01-01T00:00:00Z")


def test_a_seed_draws_the_same_for_everybody_whatever_the_order():
    drawn = draw(IDS, TERMS)
    assert drawn == draw(IDS[::-1], TERMS) and len(set(drawn)) == 3 and set(drawn) <= set(IDS)
    assert draw(IDS, Terms(dataset="f", sample=3, seed=2)) != drawn
    assert draw(IDS, Terms(dataset="f")) == tuple(IDS)
    with pytest.raises(InputError, match="--sample 10: the dataset has 9 questions"):
        draw(IDS, Terms(dataset="f", sample=10))


def test_the_last_answer_counts_and_seconds_add_up():
    records = [TERMS, given_answer("q1", "a", 2.5), given_answer("q2", "b"), given_answer("q1", "c", 4.0)]
    sitting = replay(records)
    assert (sitting.terms, sitting.handed_in) == (TERMS, False)
    assert {one: (two.text, two.seconds) for one, two in sitting.answers.items()} == {"q1": ("c", 6.5), "q2": ("b", 1)}
    assert replay([*records, HandedIn(when_utc="")]).handed_in


def test_an_answer_taken_back_gives_way_to_the_one_before_and_its_seconds_stay():
    records = [given_answer("q1", "a", 2.0), given_answer("q2", "b"), given_answer("q1", "c", 4.0)]
    back = TakenBack(question_id="q1", when_utc="")
    sitting = replay([TERMS, *records, back])
    assert (sitting.answers["q1"].text, sitting.answers["q1"].seconds) == ("a", 6.0)
    assert [one.question_id for one in sitting.given] == ["q1", "q2"]
    none = replay([TERMS, *records, back, back, back])
    assert set(none.answers) == {"q2"}
    assert replay([TERMS, *records, back, back, given_answer("q1", "d", 1.0)]).answers["q1"].seconds == 7.0


texts = st.text(max_size=5)
records = st.one_of(
    st.builds(Terms, dataset=texts, shown=st.sampled_from(Shown), sample=st.none() | st.integers(1, 9)),
    st.builds(Given, question_id=texts, text=texts, seconds=st.floats(0, 9), when_utc=texts),
    st.builds(TakenBack, question_id=texts, when_utc=texts),
    st.builds(HandedIn, when_utc=texts),
)


@settings(deadline=None)
@given(records)
def test_records_survive_being_written(record):
    assert from_record(json.loads(json.dumps(to_record(record))), "f") == record


def test_a_record_of_another_form_is_refused():
    for record in ({}, {"kind": "mark"}, {"kind": "given", "question_id": "q"}):
        with pytest.raises(InputError, match="f: holds a record that is none of an exam's"):
            from_record(record, "f")


@settings(deadline=None)
@given(st.sets(st.sampled_from("ABCDEFGH"), min_size=1))
def test_chosen_letters_are_read_as_a_models_would_be(letters):
    text = choice_text(letters)
    assert parse_answer(text, dict.fromkeys("ABCDEFGH", "A"), "stop").letters == letters
    assert chosen_letters(text) == sorted(letters)


def page(right, n_options=4):
    options = [SimpleNamespace(shown=letter, is_gold=letter in right) for letter in "ABCDEFGH"[:n_options]]
    return SimpleNamespace(options=options)


def test_as_many_options_are_chosen_as_a_model_is_told():
    assert read_answer(page("AC"), ["C", "A"]) == '{"answer": ["A", "C"]}'
    for chosen, said in ([[], "Choose 2: 0 are"], [["A"], "Choose 2: 1 is"], [["A", "Z"], "Choose 2: 1 is"]):
        with pytest.raises(InputError, match=said):
            read_answer(page("AC"), chosen)


def test_an_open_answer_needs_words():
    assert read_answer(page("", 0), [" a cup\ud800 "]) == "a cup\ufffd"
    for nothing in ([], ["  "]):
        with pytest.raises(InputError, match="Write down an answer"):
            read_answer(page("", 0), nothing)
