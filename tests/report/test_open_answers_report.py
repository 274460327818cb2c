"""EgoTempo: figures from planted verdicts, and the adapter from lighteval's details."""

import json
import math

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from statsmodels.stats.proportion import proportion_confint

from egobench_tasks.asking.open_settings import open_settings
from egobench_tasks.benchmarks import EGOTEMPO
from egobench_tasks.errors import InputError
from egobench_tasks.report.analyse import published
from egobench_tasks.report.analyse.open_tables import (
    category_table,
    duration_table,
    input_table,
    sampling_table,
    video_gain_table,
)
from egobench_tasks.report.read.open_outcomes import CODES, OpenOutcome, Order, open_frame, read_setting
from egobench_tasks.report.read.open_reader import OpenRow, find_open_runs, open_outcomes
from egobench_tasks.report.show.document import egotempo_document

N_PER_CATEGORY = 50


def planted(run, setting, right_of, unjudged=()):
    """``right_of[code]`` of each category's 50 questions are right, the next ``unjudged`` have no verdict."""
    for code in CODES:
        for number in range(N_PER_CATEGORY):
            correct = None if number in unjudged else number < right_of.get(code, right_of.get("*", 0))
            yield OpenOutcome(run, setting, f"{code}{number}", code, 5.0 + number * 2.7, correct)


@pytest.fixture(scope="module")
def frame():
    outcomes = [
        *planted("m", "center", {"*": 5}),
        *planted("m", "fps1", {"*": 20, "AS": 30}),
        *planted("m", "fps1_random", {"*": 15}),
        *planted("m", "fps1_shuffled", {"*": 16}, unjudged=(48, 49)),
        *planted("m", "f4", {"*": 12}),
        *planted("m", "f16", {"*": 18}),
    ]
    return open_frame(outcomes)


def record(table, **where):
    rows = table.rows
    for name, value in where.items():
        rows = rows[rows[name] == value]
    (row,) = rows.to_dict("records")
    return row


def test_the_average_is_the_mean_over_the_ten_categories(frame):
    row = record(category_table(frame), run="m", setting="fps1")
    assert row["average"] == pytest.approx((9 * 20 / 50 + 30 / 50) / 10)
    assert row["AS"] == 0.6 and row["LO"] == 0.4
    assert (row["low"], row["high"]) == pytest.approx(proportion_confint(210, 500, method="wilson"))


def test_missing_verdicts_are_left_out_of_the_rate_and_counted(frame):
    row = record(category_table(frame), run="m", setting="fps1_shuffled")
    assert (row["questions"], row["unjudged"], row["judged"]) == (500, 20, 480)
    assert row["average"] == pytest.approx(16 / 48)


def test_a_category_without_a_verdict_leaves_no_average():
    outcomes = list(planted("m", "fps1", {"*": 20}))
    outcomes = [
        OpenOutcome(one.run, one.setting, one.question_id, one.category_code, None, None)
        if one.category_code == "OC"
        else one
        for one in outcomes
    ]
    assert math.isnan(record(category_table(open_frame(outcomes)), run="m")["average"])


def test_from_a_single_frame_to_video(frame):
    rows = {row["setting"]: row for row in video_gain_table(frame).rows.to_dict("records")}
    assert set(rows) == {"fps1", "f4", "f16"}  # neither random nor shuffled frames are video
    assert rows["f16"]["ratio"] == pytest.approx((18 / 50) / (5 / 50))


def test_uniform_random_shuffled(frame):
    row = record(sampling_table(frame), run="m")
    assert row["setting"] == "fps1"
    assert row["random_loss"] == pytest.approx(15 / 50 - 0.42)
    assert row["shuffled_loss"] == pytest.approx(16 / 48 - 0.42)


def test_by_frames_and_by_rate_beside_the_published_figures(frame):
    table = input_table(frame)
    assert record(table, run="m", setting="f16")["frames"] == 16
    assert record(table, run="m", setting="fps1")["rate"] == 1.0
    assert record(table, run="GPT-4o", setting="f64")["average"] == 0.444
    assert record(table, run="Gemini 1.5 Flash", setting="fps1_shuffled")["average"] == 0.323


def test_by_duration(frame):
    rows = duration_table(frame).rows
    mine = rows[rows["setting"] == "fps1"]
    assert list(mine["duration"]) == ["0-20 s", "20-40 s", "40-60 s", "60-120 s", "120-300 s"]
    assert mine["questions"].sum() == 500
    by_hand = [number for number in range(50) if 20 <= 5 + number * 2.7 < 40]
    right = sum(number < 20 for number in by_hand) * 9 + sum(number < 30 for number in by_hand)
    assert mine.iloc[1]["accuracy"] == pytest.approx(right / (10 * len(by_hand)))


def test_the_document_has_tables_and_figures_for_all_of_it(frame):
    (section,) = egotempo_document(frame).sections
    assert [table.key for table in section.tables] == [
        "open_categories",
        "open_video_gain",
        "open_inputs",
        "open_sampling",
        "open_durations",
    ]
    assert [plot.key for plot in section.plots] == ["open_frames", "open_durations"]  # one rate draws no line


def test_every_setting_of_the_tasks_is_read():
    for name, spec in open_settings().items():
        setting = read_setting(name)
        assert setting.n_frames == (spec.count if spec and spec.count else 1 if name == "center" else None)
        assert setting.rate_hz == (spec.rate_fps if spec else None)
        assert (setting.order is Order.UNIFORM) == ("_" not in name)
    for figure in published.EGOTEMPO[2:]:
        read_setting(figure.setting)


@pytest.mark.parametrize("name", ["f0", "fps", "center_random", "f16_sorted", "video"])
def test_a_setting_that_no_task_has_is_refused(name):
    with pytest.raises(InputError, match="no setting"):
        read_setting(name)


CATEGORY = "counting actions"
ROWS = {
    f"q.{number}": OpenRow(f"q.{number}", f"How often {number}?", "twice", CATEGORY, 10.0 + number)
    for number in range(6)
}


def write_details(folder, verdicts, task="egotempo_f16:counting_actions|0", **changed):
    """Details as lighteval saves them, the columns that a report reads."""
    path = folder / "details/org/m/2026-11-30T05-15-00.1" / f"details_{task}_2026-11-30T05-15-00.1.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [
        {
            "doc": {
                "specific": {
                    "question_id": question_id,
                    "question": ROWS[question_id].question,
                    "answer": "twice",
                    "category": CATEGORY,
                    **changed,
                }
            },
            "metric": {
                "judged": float(correct is not None),
                "judge_accuracy": math.nan if correct is None else float(correct),
            },
        }
        for question_id, correct in verdicts
    ]
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


SAVED = [("q.0", True), ("q.1", False), ("q.2", None), ("q.3", True), ("q.4", True), ("q.5", False)]


def test_saved_verdicts_become_outcomes(tmp_path):
    write_details(tmp_path, SAVED)
    write_details(tmp_path, SAVED, task="egotempo_choice:counting_actions|0")  # the closed form is no open answer
    (run,) = find_open_runs(tmp_path)
    outcomes = open_outcomes(run, ROWS)
    assert [(one.question_id, one.correct) for one in outcomes] == SAVED
    assert {(one.run, one.setting, one.category_code) for one in outcomes} == {("m", "f16", "AC")}
    assert outcomes[3].duration_s == 13.0


def test_a_missing_question_is_wrong_and_marks_the_run(tmp_path):
    write_details(tmp_path, SAVED[:4], task="egotempo:counting_actions|0")
    outcomes = open_outcomes(find_open_runs(tmp_path)[0], ROWS)
    assert [one.correct for one in outcomes] == [True, False, None, True, False, False]
    assert {(one.run, one.setting) for one in outcomes} == {("m (partial)", "fps1")}


def write_verdicts(folder, judge, correct):
    (folder / "verdicts").mkdir(exist_ok=True)
    records = [
        {
            "task": "egotempo_f16:counting_actions",
            "question_id": question_id,
            "verdict": None if right is None else {"correct": right, "score": 5.0, "reason": None},
            "failure": "timeout" if right is None else None,
            "raw": "",
        }
        for question_id, right in correct
    ]
    (folder / "verdicts" / f"{judge}.json").write_text(json.dumps({"judge": judge, "verdicts": records}))


def test_a_later_judges_verdicts_replace_the_saved_ones(tmp_path):
    write_details(tmp_path, SAVED)
    write_verdicts(tmp_path, "judge-a", [(question_id, True) for question_id in ROWS])
    (run,) = find_open_runs(tmp_path)
    assert run.name == "m"
    assert [one.correct for one in open_outcomes(run, ROWS)] == [True] * 6


def test_two_judges_are_two_runs_never_a_mixture(tmp_path):
    write_details(tmp_path, SAVED)
    write_verdicts(tmp_path, "judge-a", [(question_id, True) for question_id in ROWS])
    write_verdicts(tmp_path, "judge-b", [(question_id, None) for question_id in ROWS])
    runs = find_open_runs(tmp_path)
    assert [run.name for run in runs] == ["m, judged by judge-a", "m, judged by judge-b"]
    assert {one.correct for one in open_outcomes(runs[1], ROWS)} == {None}


def test_answers_to_another_revision_are_refused(tmp_path):
    write_details(tmp_path, SAVED, answer="thrice")
    with pytest.raises(InputError, match=f"q.0 is not.*{EGOTEMPO.data_variable}"):
        open_outcomes(find_open_runs(tmp_path)[0], ROWS)


def test_a_question_judged_twice_is_refused(tmp_path):
    write_details(tmp_path, [*SAVED, SAVED[0]])
    with pytest.raises(InputError, match="more than once"):
        open_outcomes(find_open_runs(tmp_path)[0], ROWS)


def test_broken_verdicts_are_named(tmp_path):
    write_details(tmp_path, SAVED)
    write_verdicts(tmp_path, "judge-a", [])
    (tmp_path / "verdicts/judge-a.json").write_text("{}")
    with pytest.raises(InputError, match=r"judge-a\.json: cannot be read as verdicts"):
        open_outcomes(find_open_runs(tmp_path)[0], ROWS)
