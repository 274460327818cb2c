"""What was decided without the user's having said so stands beside the run."""

from dataclasses import replace

import pytest
from records import record_for

from egobench_tasks.report.analyse.defaults import defaults_of
from egobench_tasks.runs.record import Answerer

SETTLED = {"model_type": "idefics3", "images_kwargs": {"do_image_splitting": False}, "image_mark_written_by_us": False}


@pytest.mark.parametrize(
    ("identity", "words"),
    [
        ({"model": {"settled": SETTLED}}, 'idefics3: {"do_image_splitting": false}'),
        ({"model": {"settled": {**SETTLED, "images_kwargs": {}}}}, ""),
        ({"model": {"settled": {"images_kwargs": {}, "image_mark_written_by_us": True}}}, "images marked in the text"),
        ({"answered_elsewhere": {"export": "abc"}}, "answered elsewhere, export abc, one attempt"),
        ({"model": "m"}, ""),
        ({}, ""),
    ],
)
def test_a_familys_defaults_show_beside_the_run(identity, words):
    record = record_for(1, "date")
    record = replace(record, model=Answerer(name="m", key="k", identity=identity))
    found = defaults_of([record, record])
    assert (found == "") if not words else found.startswith(words)
    assert defaults_of([]) == ""
