"""EgoTempo: figures from planted verdicts, and the adapter from lighteval's details."""

import json
import math
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from open_runs import JUDGE, LOST, ROWS, SAVED, STERN, WORDING, write_file, write_run
from statsmodels.stats.proportion import proportion_confint

from egobench_tasks.asking.open_settings import open_settings
from egobench_tasks.benchmarks import EGOTEMPO
from egobench_tasks.errors import InputError
from egobench_tasks.judge.identity import JudgeIdentity
from egobench_tasks.report.analyse import published
from egobench_tasks.report.analyse.open_tables import (
    category_table,
    duration_table,
    input_table,
    sampling_table,
    video_gain_table,
)
from egobench_tasks.report.analyse.tables import NOT_KNOWN, PUBLISHED, cells
from egobench_tasks.report.read.open_outcomes import CODES, OpenOutcome, OpenState, Order, open_frame, read_setting
from egobench_tasks.report.read.open_reader import find_open_runs, read_open_run
from egobench_tasks.report.read.open_results import OpenResults, read_open_runs
from egobench_tasks.report.show.document import egotempo_document

N_PER_CATEGORY = 50


def planted(run, setting, right_of, unjudged=()):
    """``right_of[code]`` of each category's 50 questions are right, the next ``unjudged`` have no verdict."""
    for code in CODES:
        for number in range(N_PER_CATEGORY):
            right = number < right_of.get(code, right_of.get("*", 0))
            state = OpenState.NO_VERDICT if number in unjudged else OpenState.CORRECT if right else OpenState.INCORRECT
            yield OpenOutcome(run, setting, f"{code}{number}", code, 5.0 + number * 2.7, state)


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
    outcomes = [replace(one, state=OpenState.NO_VERDICT) if one.category_code == "OC" else one for one in outcomes]
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
    sections = egotempo_document(OpenResults(frame)).sections
    assert {section.key: [table.key for table in section.tables] for section in sections} == {
        "open_glance": ["open_glance"],
        "egotempo_categories": ["open_categories"],
        "egotempo_inputs": ["open_inputs", "open_video_gain", "open_sampling", "open_durations"],
    }
    figures = [plot.key for section in sections for plot in section.plots]
    assert figures == ["open_leaderboard", "open_frames", "open_durations"]  # one rate draws no line


def test_categories_stand_in_the_papers_order_with_what_has_no_verdict_beside_them(frame):
    shown = [column.title for column in category_table(frame).columns if not column.aside]
    paper = ["AS", "AC", "TE", "FU", "OA", "OS", "OC", "SR", "LO", "AO"]
    assert shown == ["Run", "Setting", *paper, "Average %", "Without verdict"]
    assert "LO locating object" in category_table(frame).note
    (row,) = category_table(frame).rows.query("setting == 'fps1_shuffled' and run == 'm'").to_dict("records")
    assert row["undecided"] == 20


def test_the_best_average_comes_first_at_a_glance(frame):
    (glance,) = egotempo_document(OpenResults(frame)).sections[0].tables
    averages = glance.rows["average"].tolist()
    assert averages == sorted(averages, reverse=True) and len(averages) == 6


def test_every_setting_of_the_tasks_is_read():
    for name, spec in open_settings().items():
        setting = read_setting(name)
        assert setting.n_frames == (spec.count if spec and spec.count else 1 if name == "center" else None)
        assert setting.rate_hz == (spec.rate_fps if spec else None)
        assert (setting.order is Order.UNIFORM) == ("_" not in name)
    for figure in published.EGOTEMPO:
        if figure.is_model:
            read_setting(figure.setting)


@pytest.mark.parametrize("name", ["f0", "fps", "center_random", "f16_sorted", "video"])
def test_a_setting_that_no_task_has_is_refused(name):
    with pytest.raises(InputError, match="no setting"):
        read_setting(name)


def states(run):
    return [str(one.state) for one in read_open_run(run, ROWS).outcomes]


def read(folder):
    return read_open_runs(find_open_runs(folder), ROWS)


def test_saved_verdicts_become_outcomes(tmp_path):
    write_run(tmp_path)
    write_run(tmp_path, task="egotempo_choice:counting_actions")  # the closed form is no open answer
    (run,) = find_open_runs(tmp_path)
    assert states(run) == ["correct", "incorrect", "no verdict", "correct", "correct", "incorrect"]
    outcomes = read_open_run(run, ROWS).outcomes
    assert {(one.run, one.setting, one.category_code) for one in outcomes} == {("m, judged by mild", "f16", "AC")}
    assert outcomes[3].duration_s == 13.0


def test_a_missing_question_is_lost_and_marks_the_run(tmp_path):
    write_run(tmp_path, dict(list(SAVED.items())[:4]), task="egotempo:counting_actions")
    (run,) = find_open_runs(tmp_path)
    assert states(run) == ["correct", "incorrect", "no verdict", "correct", "lost", "lost"]
    assert {(one.run, one.setting) for one in read_open_run(run, ROWS).outcomes} == {
        ("m, judged by mild (partial)", "fps1")
    }


def test_failed_requests_are_not_the_models_errors_and_make_the_run_partial(tmp_path):
    write_run(tmp_path, dict.fromkeys(("q.0", "q.1", "q.2"), "correct") | dict.fromkeys(("q.3", "q.4", "q.5"), LOST))
    results = read(tmp_path)
    (row,) = [row for row in category_table(results.outcomes).rows.to_dict("records") if row["origin"] != PUBLISHED]
    assert (row["accuracy"], row["judged"], row["lost"], row["questions"]) == (1.0, 3, 3, 6)
    assert row["run"].endswith("(partial)")
    (summary,) = results.summaries
    assert (summary.mark, summary.judged, summary.lost) == ("partial", 3, 3)
    assert any("3 of 6 questions of EgoTempo are missing or were lost" in notice for notice in results.notices)


def test_a_run_without_any_clip_has_no_figure(tmp_path):
    write_run(tmp_path, dict.fromkeys(SAVED, LOST))
    table = category_table(read(tmp_path).outcomes)
    shown = dict(zip((column.name for column in table.columns), cells(table)[0], strict=True))
    assert (shown["accuracy"].text, shown["lost"].text) == (NOT_KNOWN, "6")


def test_what_the_model_left_unanswered_is_wrong_and_no_judge_saw_it(tmp_path):
    write_run(tmp_path, SAVED | {"q.0": "unanswered"})
    (run,) = find_open_runs(tmp_path)
    assert states(run)[0] == "unanswered"
    (summary,) = read(tmp_path).summaries
    assert (summary.judged, summary.unanswered, summary.unjudged, summary.mark) == (4, 1, 1, "whole")


def test_a_judge_asked_later_stands_beside_the_one_of_the_run(tmp_path):
    write_run(tmp_path)
    write_file(tmp_path, STERN, dict.fromkeys(ROWS, False))
    runs = {run.name: states(run) for run in find_open_runs(tmp_path)}
    assert list(runs) == ["m, judged by mild", "m, judged by stern"]
    assert set(runs["m, judged by stern"]) == {"incorrect"}
    assert runs["m, judged by mild"].count("correct") == 3
    assert "the runs differ in judge" in "\n".join(read(tmp_path).notices)


def test_the_same_judge_asked_again_completes_its_verdicts(tmp_path):
    write_run(tmp_path)
    write_file(tmp_path, JUDGE, {"q.2": True})
    (run,) = find_open_runs(tmp_path)
    assert states(run) == ["correct", "incorrect", "correct", "correct", "correct", "incorrect"]


def test_two_judges_are_two_runs_never_a_mixture(tmp_path):
    write_run(tmp_path, dict.fromkeys(SAVED), judge=None)
    write_file(tmp_path, JudgeIdentity("j-x", WORDING), dict.fromkeys(ROWS, True))
    write_file(tmp_path, JudgeIdentity("j/x", WORDING), dict.fromkeys(ROWS, False))
    runs = {run.name: set(states(run)) for run in find_open_runs(tmp_path)}
    assert runs == {"m, judged by j-x": {"correct"}, "m, judged by j/x": {"incorrect"}}


def test_a_bad_model_run_into_the_same_folder_does_not_inherit_the_good_ones_verdicts(tmp_path):
    write_run(tmp_path, dict.fromkeys(SAVED), model="good", judge=None)
    write_file(tmp_path, JUDGE, dict.fromkeys(ROWS, True), model="good")
    write_run(tmp_path, dict.fromkeys(SAVED), model="bad", judge=None)
    runs = {run.name: set(states(run)) for run in find_open_runs(tmp_path)}
    assert runs == {"good, judged by mild": {"correct"}, "bad, judged by mild": {"no verdict"}}
    assert "bad, judged by mild: 6 of 6 verdicts in mild-" in "\n".join(read(tmp_path).notices)


def test_the_same_model_with_other_settings_does_not_inherit_verdicts_either(tmp_path):
    write_run(tmp_path, dict.fromkeys(SAVED), judge=None, settings={"temperature": 0.0})
    write_file(tmp_path, JUDGE, dict.fromkeys(ROWS, True))
    write_run(
        tmp_path, dict.fromkeys(SAVED), judge=None, settings={"temperature": 0.9}, date="2026-11-29", text="other"
    )
    runs = {run.name: set(states(run)) for run in find_open_runs(tmp_path)}
    assert runs == {
        "m (mixed: temperature=0.9), judged by mild": {"no verdict"},
        "m (mixed: temperature=0.0), judged by mild": {"correct"},
    }
    assert {one.mark for one in read(tmp_path).summaries} == {"mixed"}


def test_categories_shown_by_other_frames_are_not_one_row(tmp_path):
    write_run(tmp_path)
    write_run(tmp_path, task="egotempo_f16:action_sequence", inputs="prompt open-1, frames count=8")
    names = [run.name for run in find_open_runs(tmp_path)]
    assert len(names) == 2 and all("(mixed: frames=egotempo_f16 cou" in name for name in names)


def test_runs_of_other_prompts_frames_and_judges_are_compared_with_the_difference_said(tmp_path):
    write_run(tmp_path / "a")
    write_run(tmp_path / "b", inputs="prompt open-2, frames count=8", judge=STERN)
    runs = [run for name in "ab" for run in find_open_runs(tmp_path / name)]
    results = read_open_runs(runs, ROWS)
    said = "\n".join(results.notices)
    for what in (
        "EgoTempo: the runs differ in judge",
        "differ in prompt template",
        "EgoTempo, f16: the runs differ in frames",
    ):
        assert what in said
    assert all("differ in their settings" in table.note for table in egotempo_document(results).tables)


def test_five_questions_of_two_categories_have_no_average(tmp_path):
    write_run(tmp_path, dict.fromkeys(SAVED, "correct"))
    results = read(tmp_path)
    assert math.isnan(record(category_table(results.outcomes), run="m, judged by mild")["average"])
    assert any("1 of 10 categories were asked; there is no average" in notice for notice in results.notices)


def test_a_dataset_that_is_not_the_published_one_is_said_beside_published_figures(tmp_path):
    write_run(tmp_path)
    document = egotempo_document(read(tmp_path))
    tables = {table.key: table for table in document.tables}
    for key in ("open_categories", "open_inputs"):
        assert "NOT the published dataset (EgoTempo: 6 of 500 questions)" in tables[key].note
        assert tables[key].apart
    assert "6 of 500 questions" in document.subtitle
    assert any("not the published dataset (6 of 500 questions)" in notice for notice in document.notices)


def test_answers_to_another_revision_are_refused(tmp_path):
    write_run(tmp_path, answer="thrice")
    with pytest.raises(InputError, match=f"q.0 is not.*{EGOTEMPO.data_variable}"):
        read(tmp_path)


def test_a_question_judged_twice_is_refused(tmp_path):
    path = write_run(tmp_path)
    pq.write_table(pa.concat_tables([pq.read_table(path), pq.read_table(path).slice(0, 1)]), path)
    with pytest.raises(InputError, match="more than once"):
        read(tmp_path)


def test_verdicts_that_do_not_say_of_which_answers_they_are_are_refused(tmp_path):
    write_run(tmp_path)
    (tmp_path / "verdicts").mkdir()
    (tmp_path / "verdicts/judge-a.json").write_text(json.dumps({"judge": "judge-a", "verdicts": []}))
    with pytest.raises(InputError, match=r"judge-a\.json: does not say of which answers its verdicts are"):
        find_open_runs(tmp_path)
