"""Small frames beside questions: from the store alone, few and small."""

import io

import pytest
from PIL import Image

from egobench_tasks.asking.choice import show_choice
from egobench_tasks.asking.prompts import load_choice_templates
from egobench_tasks.benchmarks import EGOGEARS
from egobench_tasks.data import DatasetLocation
from egobench_tasks.frames.store import FrameStore
from egobench_tasks.report.read.choice_questions import load_split
from egobench_tasks.report.show.thumbnails import HEIGHT_PX, MAX_A_QUESTION, question_strips


@pytest.fixture(scope="module")
def questions(sample_folder):
    return list(load_split(DatasetLocation(str(sample_folder / "egogears")), "multi").questions.values())


@pytest.fixture(scope="module")
def filled(sample_folder, tmp_path_factory):
    """A store with the frames that a run of the first question leaves there."""
    from egobench_tasks.data import load_rows

    store = FrameStore(tmp_path_factory.mktemp("store"))
    row = load_rows(DatasetLocation(str(sample_folder / "egogears")), "multi")[0]
    shown = show_choice(row, load_choice_templates(), EGOGEARS.frames_per_question, EGOGEARS.min_frames_per_clip)
    for request in shown.frames.requests:
        store.get(request.path, request.sha256, request.spec)
    return store


def test_only_what_the_store_has_is_shown_and_nothing_is_decoded(questions, filled, tmp_path):
    assert question_strips(questions, FrameStore(tmp_path / "none")) == {}
    assert not (tmp_path / "none").exists()
    strips = question_strips(questions, filled)
    assert questions[0].question_id in strips
    for question in questions:
        for one in strips.get(question.question_id, ()):
            with Image.open(io.BytesIO(one.jpeg)) as image:
                assert image.height == HEIGHT_PX and image.format == "JPEG"
            assert one.label in [clip.label for clip in question.clips]
        assert len(strips.get(question.question_id, ())) <= MAX_A_QUESTION


def test_they_are_the_same_bytes_again_and_never_more_than_allowed(questions, filled):
    strips = question_strips(questions[:1], filled)
    assert strips == question_strips(questions[:1], filled)
    n_bytes = sum(len(one.jpeg) for one in strips[questions[0].question_id])
    assert question_strips(questions[:1], filled, n_bytes) == strips
    assert question_strips(questions[:1], filled, n_bytes - 1) == {}
