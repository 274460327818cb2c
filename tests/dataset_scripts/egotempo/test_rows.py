"""Reading EgoTempo's annotations: the facts of the published file, and every complaint."""

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataset_scripts.egotempo.rows import distinct_windows, read_annotations, read_window
from egobench_tasks.benchmarks import EGOTEMPO
from egobench_tasks.errors import InputError

UID = "0d270946-95c5-4e71-ae49-b9e802548147"
ROW = {
    "question_id": f"{UID}_1.0_2.5_0",
    "clip_id": f"{UID}_1.0_2.5",
    "question_type": "locating object",
    "question": " Where is the cup?\n",
    "answer": "On the table. ",
}


def _write(tmp_path, *rows):
    path = tmp_path / "annotations.json"
    path.write_text(json.dumps({"info": {}, "annotations": list(rows)}))
    return path


def test_the_published_file_holds_what_was_measured(shared_dir):
    """PROTOCOL 2. 18 questions start below zero; they are about 12 clips."""
    records = read_annotations(shared_dir / "data/egotempo/egotempo_openQA.json")
    windows = distinct_windows(records)
    assert len(records) == EGOTEMPO.rows == 500
    assert len(windows) == EGOTEMPO.clips == 367
    assert len({window.video_uid for window in windows}) == EGOTEMPO.videos == 222
    assert Counter(record.category for record in records) == dict.fromkeys(EGOTEMPO.category_codes, 50)
    assert sum(record.window.clamped for record in records) == EGOTEMPO.rows_starting_below_zero == 18
    assert sum(window.clamped for window in windows) == 12
    lengths = [window.end_s - window.start_s for window in windows]
    assert (round(min(lengths), 1), round(max(lengths), 1)) == (2.7, 139.1)
    assert round(sum(record.window.end_s - record.window.start_s for record in records) / 500, 1) == 45.8
    assert sum(record.question_id == record.window.clip_id for record in records) == 2  # no `_index` ending
    assert all(text == text.strip() for record in records for text in (record.question, record.answer))


def test_a_row_is_read_and_trimmed(tmp_path):
    (record,) = read_annotations(_write(tmp_path, ROW))
    assert (record.question, record.answer) == ("Where is the cup?", "On the table.")
    window = record.window
    assert (window.video_uid, window.start_s, window.end_s, window.clamped) == (UID, 1.0, 2.5, False)


@pytest.mark.parametrize(
    ("clip_id", "start_s", "end_s", "clamped"),
    [
        (f"{UID}_0_60", 0, 60, False),
        (f"{UID}_-0.5_60.25.mp4", 0, 60.25, True),
        (f"{UID}_1e-05_2.5", 1e-05, 2.5, False),
        ("under_scored_1.5_2.5", 1.5, 2.5, False),
    ],
)
def test_clip_ids_are_split_and_starts_clamped(clip_id, start_s, end_s, clamped):
    window = read_window(clip_id, "here")
    assert (window.start_s, window.end_s, window.clamped) == (start_s, end_s, clamped)
    assert window.clip_id == clip_id.removesuffix(".mp4")


@given(st.floats(-100, 1e5), st.floats(0.001, 1e4))
def test_every_window_reads_back(start_s, length_s):
    end_s = start_s + length_s
    if max(start_s, 0) < end_s:
        window = read_window(f"{UID}_{start_s}_{end_s}", "here")
        assert (window.video_uid, window.start_s, window.end_s) == (UID, max(start_s, 0.0), end_s)


@pytest.mark.parametrize(
    "clip_id",
    [
        "",
        UID,
        f"{UID}_1",
        f"{UID}_2_1",
        f"{UID}_2_2",
        f"{UID}_-3_-1",
        f"{UID}_nan_1",
        f"../{UID}_1_2",
        f"{UID}_1_2.mkv",
    ],
)
def test_other_clip_ids_are_refused(clip_id):
    with pytest.raises(InputError, match=r"here: clip_id"):
        read_window(clip_id, "here")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"question": None}, "annotation 1: field 'question'"),
        ({"answer": "  "}, "annotation 1: field 'answer'"),
        ({"question": "\ud800"}, "annotation 1: field 'question'"),
        ({"question_type": "locating objects"}, "annotation 1: question_type 'locating objects' is none of"),
        ({"clip_id": "x"}, "annotation 1: clip_id 'x'"),
        ({}, "annotation 1: question_id .* is also that of .*annotation 0"),
    ],
)
def test_a_wrong_row_is_named(tmp_path, changes, message):
    with pytest.raises(InputError, match=message):
        read_annotations(_write(tmp_path, ROW, ROW | changes))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"annotations": []}', '{"annotations": {}}', "\x80", "[" * 100_000])
def test_a_file_of_another_form_is_refused(tmp_path, text):
    path = tmp_path / "annotations.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError, match="annotations"):
        read_annotations(path)
    with pytest.raises(InputError, match="cannot read"):
        read_annotations(tmp_path / "none.json")
