import pytest

from egobench_tasks.asking.questions import choice_question
from egobench_tasks.errors import InputError

SINGLE = {
    "video": {"bytes": None, "path": "/data/a.mp4"},
    "duration_s": 60.0,
    "sha256": "a" * 64,
    "question_id": "s1",
    "question": "Which?",
    "options": ["one", "two", "three"],
    "answer": ["C", "A"],
    "unit": "60s_segment",
    "question_type": "t",
}
MULTI = {
    **{key: value for key, value in SINGLE.items() if key not in ("duration_s", "sha256")},
    "videos": [{"bytes": None, "path": "/data/a.mp4"}, {"bytes": None, "path": "hf://datasets/o/n@sha/b.mp4"}],
    "clip_labels": ["VIDEO_A", "VIDEO_A"],
    "clip_duration_s": [10.0, 20.0],
    "clip_sha256": ["a" * 64, "b" * 64],
}


def test_single_row():
    question = choice_question(SINGLE)
    assert (question.letters, question.answer, question.n_select) == ("ABC", {"A", "C"}, 2)
    assert [(clip.path, clip.label, clip.duration_s) for clip in question.clips] == [("/data/a.mp4", None, 60.0)]


def test_multi_row_keeps_clips_with_equal_labels_apart():
    clips = choice_question(MULTI).clips
    assert [(clip.path, clip.label) for clip in clips] == [
        ("/data/a.mp4", "VIDEO_A"),
        ("hf://datasets/o/n@sha/b.mp4", "VIDEO_A"),
    ]


def test_all_options_may_be_right():
    question = choice_question(SINGLE | {"answer": ["A", "B", "C"]})
    assert (question.answer, question.n_select) == ({"A", "B", "C"}, 3)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"answer": ["D"]}, r"s1: answer \['D'\] is not among"),
        ({"answer": []}, r"s1: answer \[\]"),
        ({"options": ["one"]}, "s1: 1 options"),
        ({"videos": [], "clip_labels": [], "clip_duration_s": [], "clip_sha256": []}, "s1: no clip"),
        ({"clip_labels": ["VIDEO_A"]}, "s1: .* differ in length"),
    ],
)
def test_a_wrong_row_is_named(change, message):
    with pytest.raises(InputError, match=message):
        choice_question({**MULTI, **change})


def test_a_missing_column_is_named():
    with pytest.raises(InputError, match="s1: column 'unit' is missing"):
        choice_question({key: value for key, value in SINGLE.items() if key != "unit"})
