"""Parsing of upstream's rows: real ones, damaged ones, and generated ones."""

import json
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataset_scripts.egogears.rows import (
    is_inner_path,
    multi_record,
    read_multi,
    read_single,
    single_record,
    span_in_file_name,
)
from dataset_scripts.repository.jsonl import Row, read_jsonl
from egobench_tasks.errors import InputError


@pytest.fixture(scope="session")
def parse_single(upstream):
    return lambda **changes: single_record(Row("file: line 7", upstream.single(**changes)))


@pytest.fixture(scope="session")
def parse_multi(upstream):
    return lambda **changes: multi_record(Row("file: line 7", upstream.multi(**changes)))


def test_the_real_rows_are_read_as_they_are(shared_dir):
    folder = shared_dir / "data" / "egogears"
    single_path, multi_path = sorted(folder.glob("*"), key=lambda path: "single" not in path.name)
    single, multi = read_single(single_path), read_multi(multi_path)
    assert (len(single), len(multi)) == (5, 7)
    for record, line in zip(single, single_path.read_text().splitlines(), strict=True):
        row = json.loads(line)
        assert (record.question, dict(zip(string.ascii_uppercase, record.options, strict=False))) == (
            row["question"].strip(),
            row["options"],
        )
        assert [record.start_s, record.end_s] == row["span_sec"]
    by_id = {record.question_id: record for record in multi}
    assert [clip.label for clip in by_id["1ea84ef714ddfb18"].clips] == ["CLIP_D", "CLIP_C", "CLIP_F"]
    assert by_id["1ea84ef714ddfb18"].clips[2].start_s == 1020
    assert by_id["59d0b54eae15dc2f"].review.evidence[0][0] == "A"
    assert by_id["3d2af0b8b5913e54"].review.reasons == ("human_rules_out_gold:D",)
    assert "Reviewer One" not in repr(multi)


@pytest.mark.parametrize("missing", ["id", "unit", "question", "options", "answer", "question_type", "video"])
def test_a_missing_field_of_a_single_row_is_named(upstream, missing):
    row = upstream.single()
    del row[missing]
    with pytest.raises(InputError, match=rf"file: line 7: field '{missing}' is missing"):
        single_record(Row("file: line 7", row))


@pytest.mark.parametrize(
    "missing", ["review_id", "bundle", "unit", "question_type", "n_select", "options", "clips", "answer", "status"]
)
def test_a_missing_field_of_a_multi_row_is_named(upstream, missing):
    row = upstream.multi()
    del row[missing]
    with pytest.raises(InputError, match=rf"file: line 7: field '{missing}' is missing"):
        multi_record(Row("file: line 7", row))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"answer": ["D"]}, "'answer' names 'D', which is no option"),
        ({"answer": ["AB"]}, "which is no option"),
        ({"answer": [1]}, "which is no option"),
        ({"answer": []}, "not a list of letters"),
        ({"answer": "B"}, "not a list of letters"),
        ({"answer": ["B", "B"]}, "a letter twice"),
        ({"options": {"A": "x", "C": "y"}}, "'options' is lettered A, C, not A, B"),
        ({"options": {"1": "x", "2": "y"}}, "is lettered 1, 2"),
        ({"options": {"A": "x"}}, "2 to 26 lettered texts"),
        ({"options": ["x", "y"]}, "2 to 26 lettered texts"),
        ({"options": {"A": "x", "B": " "}}, "has no text for B"),
        ({"question": "  "}, "'question' is '  ', not a text"),
        ({"id": 5}, "'id' is 5, not a text"),
        ({"question": "half a pair \ud800"}, "not a text"),
        ({"options": {"A": "x", "B": "\ud800"}}, "has no text for B"),
        ({"span_sec": [0, 10**400]}, "in seconds"),
        ({"span_sec": [3, 1]}, "end after its start"),
        ({"span_sec": [float("nan"), 1]}, "in seconds"),
        ({"span_sec": [True, 5]}, "in seconds"),
        ({"media_file": "../../etc/passwd"}, "leaves its folder"),
        ({"media_file": "/etc/passwd"}, "leaves its folder"),
    ],
)
def test_a_single_row_that_cannot_be_used(parse_single, changes, message):
    with pytest.raises(InputError, match=message):
        parse_single(**changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"bundle": "../bundle_01"}, "not the name of a bundle"),
        ({"clips": []}, "not a list of clips"),
        ({"clips": ["media/a.mp4"]}, "not a list of clips"),
        ({"clips": [{"label": "CLIP_1"}]}, "line 7, clip 1: field 'path' is missing"),
        ({"clips": [{"label": "CLIP_1", "path": "media\\..\\..\\x"}]}, "leaves its folder"),
        ({"n_select": "2"}, "not int"),
        ({"n_select": True}, "not int"),
        ({"blind_guessable": "no"}, "not bool"),
        ({"reasons": "x"}, "not list"),
    ],
)
def test_a_multi_row_that_cannot_be_used(parse_multi, changes, message):
    with pytest.raises(InputError, match=message):
        parse_multi(**changes)


def test_options_may_come_in_any_order_and_keep_their_letters(parse_single):
    record = parse_single(options={"C": "third", "A": " first\n", "B": "second"}, answer=["C", "A"])
    assert record.options == ("first", "second", "third")
    assert record.answer == ("A", "C")


def test_no_review_field_names_a_person(parse_multi, upstream):
    person = upstream.person
    review = parse_multi().review
    assert review.reasons == ("human_rules_out_gold:D", "asked")
    assert review.evidence == (("A", "CLIP_1 00:01 - a kiosk"),)
    assert person not in repr(review)
    assert parse_multi(evidence_source=person, decision=f"BY {person}").review.evidence_source is None
    assert person not in repr(parse_multi(evidence_source=person, decision=f"BY {person}"))


@pytest.mark.parametrize("evidence", [None, {}, "text", {"A": None}, {"A": ["list"]}, {"per_option": None}])
def test_evidence_that_is_no_text_under_a_letter_is_left_out(parse_multi, evidence):
    assert parse_multi(evidence=evidence).review.evidence == ()


@pytest.mark.parametrize(
    ("path", "span"),
    [
        ("media/x/CLIP_1_50_85.mp4", (50, 85)),
        ("media/x/VIDEO_A_0_66.5.mp4", (0, 66.5)),
        ("media/RBMA-0086/CLIP_C.mp4", (None, None)),
        ("media/x/CLIP_1.mp4", (None, None)),
        ("media/x/CLIP_1_9_3.mp4", (None, None)),
    ],
)
def test_times_come_from_the_file_name_or_not_at_all(path, span):
    assert span_in_file_name(path) == span


@given(st.integers(0, 5000), st.integers(1, 500), st.sampled_from(["CLIP_1", "CLIP_C", "VIDEO_A"]))
def test_times_in_file_names_survive(start, length, label):
    assert span_in_file_name(f"media/q/{label}_{start}_{start + length}.mp4") == (start, start + length)


@given(st.text())
def test_an_inner_path_stays_inside(tmp_path_factory, path):
    root = tmp_path_factory.getbasetemp()
    if is_inner_path(path):
        assert (root / path).absolute().is_relative_to(root)
        assert ".." not in (root / path).parts


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
SINGLE_FIELDS = ("id", "unit", "question", "options", "answer", "question_type", "category", "span_sec", "media_file")


@given(st.dictionaries(st.sampled_from(SINGLE_FIELDS), JSON))
def test_any_json_row_is_read_or_refused_by_name(parse_single, fields):
    try:
        record = parse_single(**fields)
    except InputError as error:
        assert "file: line 7" in str(error)
    else:
        assert set(record.answer) <= set(string.ascii_uppercase[: len(record.options)])


@given(n_options=st.integers(2, 26), data=st.data())
def test_valid_rows_come_through_whole(parse_single, n_options, data):
    letters = string.ascii_uppercase[:n_options]
    texts = data.draw(st.lists(st.text(min_size=1).filter(str.strip), min_size=n_options, max_size=n_options))
    answer = data.draw(st.sets(st.sampled_from(letters), min_size=1))
    record = parse_single(options=dict(zip(letters, texts, strict=True)), answer=list(answer))
    assert record.options == tuple(text.strip() for text in texts)
    assert record.answer == tuple(sorted(answer))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{broken", "line 3: broken JSON"),
        ('{"id": "a", "id": "b"}', r"line 3: broken JSON \(key 'id' is given twice"),
        ("[1]", "line 3: not a JSON object"),
        ("[" * 100_000, "line 3: (JSON nested too deeply|broken JSON)"),
    ],
)
def test_a_broken_line_is_named(tmp_path, line, message):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"id": "a"}\n\n' + line + "\n")
    with pytest.raises(InputError, match=rf"rows\.jsonl: {message}"):
        list(read_jsonl(path))


def test_a_file_that_is_no_utf8_is_named(tmp_path):
    (tmp_path / "rows.jsonl").write_bytes(b'{"id": "\xff"}\n')
    with pytest.raises(InputError, match=r"rows\.jsonl: not UTF-8"):
        list(read_jsonl(tmp_path / "rows.jsonl"))


def test_a_duplicate_id_names_both_lines(upstream, tmp_path):
    upstream.write_rows(tmp_path / "rows.jsonl", [upstream.single(question_id) for question_id in "aba"])
    with pytest.raises(InputError, match=r"line 3: id a is also that of .*line 1"):
        read_single(tmp_path / "rows.jsonl")


def test_a_file_without_questions_is_refused(tmp_path):
    (tmp_path / "rows.jsonl").write_text("\n\n")
    with pytest.raises(InputError, match="holds no question"):
        read_multi(tmp_path / "rows.jsonl")
