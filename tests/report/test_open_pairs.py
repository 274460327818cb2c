"""Two runs of EgoTempo beside each other: on questions that both have decided, before the same judge."""

import io

import pytest
from open_runs import JUDGE, LOST, SAVED, STERN, plant_open, write_file, write_run
from rich.console import Console

from egobench_tasks.errors import InputError
from egobench_tasks.report.analyse.tables import PUBLISHED
from egobench_tasks.report.show.compare import compare_runs
from egobench_tasks.report.show.write import build_document

ALL_RIGHT = dict.fromkeys(SAVED, "correct")


@pytest.fixture(scope="module")
def find(tmp_path_factory):
    location = plant_open(tmp_path_factory.mktemp("data") / "egotempo")
    return lambda benchmark: location


@pytest.fixture
def two(tmp_path):
    """The first has 3 of 5 right and no verdict on the sixth, the second all six right."""
    for name, said in (("a", SAVED), ("b", ALL_RIGHT)):
        write_run(tmp_path / name, said, model=name)
    return tmp_path / "a", tmp_path / "b"


def printed(parts):
    console = Console(width=160, record=True, file=io.StringIO())
    console.print(parts)
    return console.export_text()


def test_two_runs_of_egotempo_compare_in_a_terminal(two, find):
    text = printed(compare_runs(*two, find))
    assert "EgoTempo, f16: 5 questions decided in both" in text
    (accuracy,) = [line for line in text.splitlines() if line.strip(" │┃").startswith("accuracy")]
    assert "60.00" in accuracy and "100.00" in accuracy and "+40.00" in accuracy
    assert "both right 3, rescued 2, destabilised 0, both wrong 0; McNemar's exact p = 0.5" in text
    assert "3 videos: exact test of flipped signs" in text
    assert "1 of 6 questions are not decided in both and left out" in text


def test_runs_before_different_judges_are_not_compared(tmp_path, find):
    write_run(tmp_path / "a", model="a")
    write_run(tmp_path / "b", model="b", judge=STERN)
    with pytest.raises(InputError, match=r"no judge judged both .*a \(mild\) and .*b \(stern\); judge both by one"):
        compare_runs(tmp_path / "a", tmp_path / "b", find)
    write_file(tmp_path / "b", JUDGE, dict.fromkeys(SAVED, True), model="b")
    assert "rescued 2" in printed(compare_runs(tmp_path / "a", tmp_path / "b", find))


def test_runs_in_different_settings_have_nothing_to_compare(tmp_path, find):
    write_run(tmp_path / "a", model="a")
    write_run(tmp_path / "b", model="b", task="egotempo_f4:counting_actions")
    with pytest.raises(InputError, match="no question of one setting is decided in both"):
        compare_runs(tmp_path / "a", tmp_path / "b", find)


def ours(document, key):
    (table,) = [table for table in document.tables if table.key == key]
    return [row for row in table.rows.to_dict("records") if row.get("origin") != PUBLISHED]


@pytest.mark.parametrize("key", ["open_categories", "open_inputs"])
def test_every_run_stands_beside_the_anchor(two, find, key):
    document = build_document([two[1]], find, against=two[0])
    anchor, row = ours(document, key)
    if anchor["run"] != "a, judged by mild":
        anchor, row = row, anchor
    assert row["against"] == pytest.approx(0.4)
    assert row["against_low"] < 0.4 < row["against_high"]
    assert anchor["against"] != anchor["against"]  # NaN: it is no other run


def test_what_another_judge_said_has_no_difference_and_that_is_said(two, find, tmp_path):
    write_run(tmp_path / "c", ALL_RIGHT, model="c", judge=STERN)
    document = build_document([*two, tmp_path / "c"], find, against=two[0])
    beside = {row["run"]: row["against"] for row in ours(document, "open_categories")}
    assert beside["b, judged by mild"] == pytest.approx(0.4)
    assert beside["c, judged by stern"] != beside["c, judged by stern"]
    assert any("c, judged by stern was not judged by a judge of the anchor" in said for said in document.notices)


def test_a_partial_run_has_no_difference(tmp_path, find):
    write_run(tmp_path / "a", ALL_RIGHT, model="a")
    write_run(tmp_path / "b", SAVED | {"q.0": LOST}, model="b")
    document = build_document([tmp_path / "a", tmp_path / "b"], find, against=tmp_path / "a")
    assert all("against" not in row for row in ours(document, "open_categories"))


def test_a_partial_anchor_has_none_to_be_told_from_and_that_is_said(tmp_path, find):
    write_run(tmp_path / "a", ALL_RIGHT, model="a")
    write_run(tmp_path / "b", SAVED | {"q.0": LOST}, model="b")
    document = build_document([tmp_path / "a"], find, against=tmp_path / "b")
    assert all("against" not in row for row in ours(document, "open_categories"))
    assert any("the anchor b, judged by mild (partial) lacks questions" in said for said in document.notices)


def test_an_anchor_that_nobody_judged_is_said(tmp_path, find):
    write_run(tmp_path / "a", ALL_RIGHT, model="a")
    write_run(tmp_path / "b", dict.fromkeys(SAVED), model="b", judge=None)
    document = build_document([tmp_path / "a"], find, against=tmp_path / "b")
    assert any("a judge of the anchor (nobody judged it)" in said for said in document.notices)
