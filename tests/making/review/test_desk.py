"""A reviewer's desk without a browser: what messages do, whatever they hold."""

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from egobench_tasks.browse.load import load_library
from egobench_tasks.data import DatasetLocation
from egobench_tasks.making.audit.finding import Finding, Rule
from egobench_tasks.making.log import LogFile, read_log
from egobench_tasks.making.review.desk import ReviewDesk
from egobench_tasks.making.review.folder import Reviews, log_path, read_reviews, said_in
from egobench_tasks.making.review.state import replay


@pytest.fixture(scope="module")
def library(sample_folder):
    return load_library(DatasetLocation(str(sample_folder / "egogears")), [])


@pytest.fixture
def sit_down(library, tmp_path):
    """``desk = sit_down("r1", blind=True)``: a reviewer's page, as it is after a restart."""

    def sit(reviewer, findings=(), **more):
        path = log_path(tmp_path, reviewer)
        said = said_in(read_log(path), path)
        reviews = Reviews(tmp_path, reviewer)
        return ReviewDesk(library, reviewer, LogFile(path), replay(said), reviews, findings, said=said, **more)

    return sit


def tell(desk, question_id, do, **more):
    return desk.act({"do": do, "question": question_id, "place": f"?question={question_id}", "fields": {}, **more}).form


def mark_all(desk, library, question_id):
    for option in library.page(question_id).options:
        tell(desk, question_id, "mark", option=option.original, seen="supported" if option.is_gold else "contradicted")


def test_blind_marks_come_before_the_gold_and_stay(sit_down, library):
    desk, question_id = sit_down("r1", blind=True), library.entries[0].question_id
    assert "★" not in desk.open({"question": question_id}).form
    assert "look at the gold first" in tell(desk, question_id, "decide", action="confirm")
    assert "mark every option first" in tell(desk, question_id, "reveal")
    mark_all(desk, library, question_id)
    assert "★" in tell(desk, question_id, "reveal")
    assert "what was marked without it stays" in tell(desk, question_id, "mark", option="A", seen="cannot tell")
    again = sit_down("r1", blind=True)  # after a restart
    assert "★" in again.open({"question": question_id}).form and again.n_decided == 0


def test_a_confirmation_against_the_marks_needs_a_reason(sit_down, library):
    desk, question_id = sit_down("r1"), library.entries[0].question_id
    assert "mark first: A" in tell(desk, question_id, "decide", action="confirm")
    mark_all(desk, library, question_id)
    right = next(option.original for option in library.page(question_id).options if option.is_gold)
    tell(desk, question_id, "mark", option=right, seen="contradicted")
    assert f"your marks speak against the gold ({right})" in tell(desk, question_id, "decide", action="confirm")
    tell(desk, question_id, "decide", action="confirm", reason="other")
    assert desk.n_decided == 1


def test_a_drop_or_repair_needs_a_reason_and_what_is_refused_is_not_written(sit_down, library, tmp_path):
    desk, question_id = sit_down("r1"), library.entries[0].question_id
    assert "choose a reason" in tell(desk, question_id, "decide", action="drop")
    assert "the question is empty" in tell(desk, question_id, "decide", action="repair", reason="wording")
    assert read_log(tmp_path / "r1.jsonl").records == ()


def test_findings_come_first_and_are_shown_with_the_gold(sit_down, library):
    found = library.entries[5].question_id
    finding = Finding(found, Rule.SUSPECT_GOLD, "all models say <b>C</b>")
    desk = sit_down("r1", [finding, Finding("elsewhere", Rule.GUESSABLE, "")])
    view = desk.open({})
    assert view.question_id == found and "all models say &lt;b&gt;C&lt;/b&gt;" in view.form
    assert "suspect_gold" not in sit_down("r2", [finding], blind=True).open({}).form


def test_only_a_third_is_offered_a_dispute(sit_down, library, tmp_path):
    question_id = library.entries[0].question_id
    one, two, three = (sit_down(reviewer) for reviewer in ("r1", "r2", "r3"))
    tell(one, question_id, "decide", action="drop", reason="other", fields={"note_drop": ["asked <around>"]})
    mark_all(two, library, question_id)
    tell(two, question_id, "decide", action="confirm")
    assert "in dispute" not in one.open({}).form and "1 in dispute" in three.open({}).form
    assert "Nothing is in dispute" in tell(one, question_id, "go", to="disputes")
    dispute = three.open({"queue": "disputes"})
    assert dispute.question_id == question_id and "asked &lt;around&gt;" in dispute.form
    place = f"?question={question_id}&queue=disputes"
    (settles,) = re.findall(r'name="settles" value="([^"]+)"', dispute.form)
    drop = {"do": "decide", "question": question_id, "place": place, "action": "drop", "reason": "other"}
    mark_all(one, library, question_id)
    tell(one, question_id, "decide", action="drop", reason="wording")  # while the third looks at it
    assert "have decided anew" in three.act({**drop, "fields": {"settles": [settles]}}).form
    (settles,) = re.findall(r'name="settles" value="([^"]+)"', three.open({"queue": "disputes"}).form)
    three.act({**drop, "fields": {"settles": [settles]}})
    opinion = read_reviews(tmp_path)["r3"][question_id]
    assert opinion.decision is None and set(opinion.settlement.settles) == {"r1", "r2"}
    assert "1 in dispute" not in sit_down("r4").open({}).form


def test_what_was_said_last_is_taken_back_also_after_a_restart(sit_down, library):
    desk, (first, second) = sit_down("r1"), [entry.question_id for entry in library.entries[:2]]
    assert "nothing to take back" in tell(desk, first, "undo")
    mark_all(desk, library, first)
    tell(desk, first, "decide", action="confirm")
    tell(desk, first, "decide", action="drop", reason="other")
    tell(desk, second, "mark", option="A", seen="supported")
    desk = sit_down("r1")
    view = desk.act({"do": "undo", "question": first, "place": "", "fields": {}})
    assert view.question_id == second and 'aria-pressed="true"' not in view.form
    assert "<strong>confirm</strong>" in tell(desk, second, "undo")  # of the first: the drop is gone
    assert "Your decision" not in tell(desk, second, "undo") and desk.n_decided == 0
    assert "Undo" in tell(desk, second, "undo") and sit_down("r1").n_decided == 0


def test_what_was_marked_without_the_gold_cannot_be_taken_back_in_sight_of_it(sit_down, library):
    desk, question_id = sit_down("r1", blind=True), library.entries[0].question_id
    mark_all(desk, library, question_id)
    tell(desk, question_id, "undo")
    assert "mark every option first" in tell(desk, question_id, "reveal")
    mark_all(desk, library, question_id)
    tell(desk, question_id, "reveal")
    tell(desk, question_id, "decide", action="drop", reason="other")
    tell(desk, question_id, "undo")
    assert desk.n_decided == 0
    assert "nothing to take back" in tell(desk, question_id, "undo")


junk = st.none() | st.booleans() | st.integers() | st.text(max_size=4) | st.lists(st.text(max_size=3), max_size=2)


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(["go", "mark", "own", "reveal", "decide", "undo", "", "open"]),
    st.dictionaries(st.sampled_from(["question", "place", "option", "seen", "action", "reason", "to"]), junk),
    st.dictionaries(st.sampled_from(["question", "answer", "note_drop"]), st.lists(st.text(max_size=3), max_size=2)),
)
def test_whatever_a_page_sends_the_desk_answers(sit_down, library, do, message, fields):
    desk = sit_down("r1")
    known = {"question": library.entries[0].question_id, "action": "drop", "reason": "other"}
    assert desk.act({**known, **message, "do": do, "fields": fields}).form
