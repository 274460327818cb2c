"""A row of EgoTempo becomes an OpenQuestion."""

import pytest

from egobench_tasks.asking.questions import Clip, open_question
from egobench_tasks.errors import InputError

ROW = {
    "video": {"bytes": None, "path": "clip.mp4"},
    "question_id": "q1",
    "question": "Where is the cup?",
    "answer": "On the table.",
    "category": "locating object",
    "duration_s": 3.0,
    "sha256": "ab",
    "window_start_s": None,
    "window_end_s": None,
}


def test_a_clip_of_its_own_has_no_window():
    question = open_question(ROW)
    assert question.clip == Clip("clip.mp4", 3.0, "ab")
    assert question.window_s is None
    assert (question.question, question.answer, question.category) == tuple(
        ROW[name] for name in ("question", "answer", "category")
    )


def test_a_window_of_a_longer_video_and_a_missing_clip():
    assert open_question(ROW | {"window_start_s": 0.0, "window_end_s": 2.5}).window_s == (0.0, 2.5)
    assert open_question(ROW | {"video": None, "duration_s": None, "sha256": None}).clip is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"answer": ""}, "q1: the question or the answer is empty"),
        ({"window_start_s": 3.0, "window_end_s": 3.0}, "q1: window"),
        ({"category": ...}, "q1: column 'category' is missing"),
        ({"video": ...}, "q1: column 'video' is missing"),
    ],
)
def test_a_wrong_row_is_named(changes, message):
    row = {name: value for name, value in (ROW | changes).items() if value is not ...}
    with pytest.raises(InputError, match=message):
        open_question(row)
