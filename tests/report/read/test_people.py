"""People beside models: only on what every person was asked, and never a partial figure."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from planted import gold, memory_run, memory_split, mixed_rows, reply, right, wrong

from egobench_tasks.report.analyse.people import choice_people_table
from egobench_tasks.report.read.people import choice_people, is_sample
from egobench_tasks.runs.people import Person, person_of

ROWS = mixed_rows(6, 0)["single"]
BY_ID = {row["question_id"]: row for row in ROWS}


def run_of(name, answers, sample=None, person=True):
    """A run that answers some questions: by id, "right", "wrong", or original letters."""
    speak = {"right": right, "wrong": wrong}
    said = {one: speak.get(how, lambda row, how=how: reply(row, how))(BY_ID[one]) for one, how in answers.items()}
    run = memory_run(name, {"single": said})
    identity = Person(participant=name, shown="clips", sample=sample).identity if person else {"model": name}
    return replace(run, records=(SimpleNamespace(model=SimpleNamespace(identity=identity)),))


def read(*runs):
    return choice_people(runs, lambda config: memory_split(config, ROWS))


def table_of(people):
    return {(row["who"], row["what"]): row for row in choice_people_table(people).rows.to_dict("records")}


def test_a_models_run_is_nobodys():
    assert person_of(run_of("m", {}, person=False).records) is None
    assert read(run_of("m", dict.fromkeys(BY_ID, "right"), person=False)) is None
    assert is_sample(run_of("p1", {}, 2)) and not is_sample(run_of("p1", {})) and not is_sample(memory_run("m", {}))


def test_people_and_models_are_compared_on_what_all_people_were_asked():
    one, two, three, four, *_ = BY_ID
    model = run_of("m", {**dict.fromkeys(BY_ID, "wrong"), one: "right", two: "right"}, person=False)
    runs = [
        run_of("p1", {one: "right", two: "right", three: "wrong", four: "right"}, 4),
        run_of("p2", {one: "right", two: "wrong", three: "wrong"}, 3),
        run_of("p3", {one: "right", two: "right", three: "right"}, 3),
    ]
    people = read(*runs, model)
    found = table_of(people)
    assert {row["questions"] for row in found.values()} == {3}
    exact = {who: row["exact"] for who, row in found.items()}
    assert exact["p1", "person"] == pytest.approx(2 / 3) and exact["p2", "person"] == pytest.approx(1 / 3)
    assert exact["m", "model"] == pytest.approx(2 / 3)
    assert exact["people", "mean"] == pytest.approx((2 / 3 + 1 / 3 + 1) / 3)
    assert exact["people", "best"] == 1
    assert "3 questions were asked of every person" in people.notices[0] and "p1 4" in people.notices[0]


def test_the_majority_is_the_answer_that_most_gave_and_a_tie_counts_in_part():
    question_id = next(one for one, row in BY_ID.items() if len(row["options"]) >= 4 and len(row["answer"]) == 1)
    others = [letter for letter in "ABCDEFGH" if letter not in gold(BY_ID[question_id])]
    answers = {
        "right": ("right", "right", others[0]),
        "in part": ("right", others[0]),
        "wrong": (others[0], others[0], "right"),
    }
    for name, share in (("right", 1.0), ("in part", 0.5), ("wrong", 0.0)):
        runs = [run_of(f"p{number}", {question_id: how}, 1) for number, how in enumerate(answers[name])]
        assert table_of(read(*runs))["people", "majority"]["exact"] == share


def test_people_who_share_no_question_are_not_compared():
    one, two, *_ = BY_ID
    people = read(run_of("p1", {one: "right"}, 1), run_of("p2", {two: "right"}, 1))
    assert people.results is None and choice_people_table(people).rows.empty
    assert "0 questions were asked of every person" in people.notices[0]
