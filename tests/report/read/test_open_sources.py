"""EgoTempo's answers read alike wherever a run left them: lighteval's details, an Inspect log, a journal."""

import io

import pytest
from inspect_open_logs import write_log
from open_runs import CATEGORY, JUDGE, LOST, ROWS, SAVED, STERN, answer_to, plant_open, write_file, write_run
from rich.console import Console

from egobench_tasks.errors import InputError
from egobench_tasks.judge.identity import JudgeIdentity
from egobench_tasks.report.read.open_reader import find_open_runs, read_open_run
from egobench_tasks.report.read.open_results import read_open_runs
from egobench_tasks.report.read.runs import find_runs
from egobench_tasks.report.show.compare import compare_runs
from egobench_tasks.report.show.write import build_document
from egobench_tasks.runs.journal import Answer, Journal

SAID = SAVED | {"q.4": "unanswered", "q.5": LOST}
STATES = ["correct", "incorrect", "no verdict", "correct", "unanswered", "lost"]


@pytest.fixture(scope="module")
def find(tmp_path_factory):
    location = plant_open(tmp_path_factory.mktemp("data") / "egotempo")
    return lambda benchmark: location


def only(path):
    (run,) = find_open_runs(path)
    return run


def states(run):
    return [str(one.state) for one in read_open_run(run, ROWS).outcomes]


def journal_of(folder, question_ids, **changed):
    journal = Journal(folder)
    for question_id in question_ids:
        made = {
            "key": f"{question_id} {changed}",
            "task": "egotempo_f16:counting_actions|0",
            "prompt": "p",
            "text": answer_to(question_id),
            "finish_reason": "stop",
            **changed,
        }
        journal.append(Answer(question_id=question_id, **made))
    journal.close()
    return folder


def test_an_inspect_log_gives_what_the_same_answers_give_in_lightevals_details(tmp_path):
    """EgoTempo's logs stood in no report."""
    write_run(tmp_path / "details", SAID)
    write_log(tmp_path / "log.eval", SAID)
    runs = [only(tmp_path / "details"), only(tmp_path / "log.eval")]
    assert {run.name for run in runs} == {"m, judged by mild"}
    first, second = (read_open_run(run, ROWS) for run in runs)
    assert [one.state for one in first.outcomes] == [one.state for one in second.outcomes]
    assert states(runs[1]) == STATES
    assert first.outcomes == second.outcomes  # setting, category, video, duration too
    assert [(one.text, one.finish_reason) for one in first.answers] == [
        (one.text, one.finish_reason) for one in second.answers
    ]
    judged = second.answers[0]
    assert (judged.verdict.score, judged.verdict.reason, judged.reasoning) == (4.0, "close", "so")
    (summary, _) = read_open_runs(runs, ROWS).summaries
    assert (summary.inputs.prompt, summary.mark) == ("open-1", "partial")


def test_a_long_answer_is_read_whole_from_a_log(tmp_path):
    """Inspect keeps long texts apart from where they stand."""
    long = "The person walks. " * 400
    write_log(tmp_path / "log.eval", {"q.0": "correct"}, text=long)
    assert read_open_run(only(tmp_path / "log.eval"), ROWS).answers[0].text == long


def test_the_same_judge_asked_again_completes_the_verdicts_of_a_folder_of_logs(tmp_path):
    write_log(tmp_path / "a.eval", SAVED)
    write_file(tmp_path, JUDGE, {"q.2": True})
    write_file(tmp_path, STERN, dict.fromkeys(ROWS, False))
    runs = {run.name: states(run) for run in find_open_runs(tmp_path)}
    assert list(runs) == ["m, judged by mild", "m, judged by stern"]
    assert runs["m, judged by mild"] == ["correct", "incorrect", "correct", "correct", "correct", "incorrect"]
    assert set(runs["m, judged by stern"]) == {"incorrect"}


def test_a_judge_with_settings_of_its_own_is_itself_in_a_log(tmp_path):
    """The log said a name and a wording only: two judges of one name would have been one."""
    hot = JudgeIdentity("mild", JUDGE.wording, (("temperature", "0.9"),))
    write_log(tmp_path / "a.eval", judge=hot)
    write_file(tmp_path, JUDGE, dict.fromkeys(ROWS, False))
    assert [run.judge.digest for run in find_open_runs(tmp_path)] == [hot.digest, JUDGE.digest]


def test_logs_without_a_judge_are_not_judged(tmp_path):
    write_log(tmp_path / "a.eval", dict.fromkeys(ROWS), judge=None)
    run = only(tmp_path)
    assert run.name == "m, not judged" and set(states(run)) == {"no verdict"}


def test_a_newer_log_of_one_category_stands_for_that_category_alone(tmp_path):
    write_log(tmp_path / "a.eval", dict.fromkeys(ROWS, "incorrect"), category=None)
    write_log(tmp_path / "b.eval", dict.fromkeys(ROWS, "correct"), created="2026-11-30T09:00:00+02:00")
    run = only(tmp_path)
    assert set(states(run)) == {"correct"}
    older, newer = run.tasks
    assert (len(older.categories), newer.categories) == (9, ("counting_actions",))


def test_logs_of_two_models_are_two_runs(tmp_path):
    write_log(tmp_path / "a.eval")
    write_log(tmp_path / "b.eval", model="org/other")
    assert {run.model for run in find_open_runs(tmp_path)} == {"m", "other"}


def test_the_journal_of_a_killed_run_is_a_partial_run_that_nobody_judged(tmp_path):
    """EgoTempo's journals stood in no report: "holds no answers of egobench's tasks"."""
    journal_of(tmp_path / "night", list(ROWS)[:4])
    run = only(tmp_path / "night")
    assert (run.name, run.model) == ("night, not judged", "night")
    assert states(run) == ["no verdict"] * 4 + ["lost"] * 2
    assert {one.setting for one in read_open_run(run, ROWS).outcomes} == {"f16"}
    results = read_open_runs([run], ROWS)
    assert results.summaries[0].mark == "partial"
    assert any("journal of an unfinished run" in notice for notice in results.notices)


def test_verdicts_beside_a_journal_are_of_its_answers(tmp_path):
    folder = journal_of(tmp_path / "night", ["q.0", "q.1"])
    write_file(folder, JUDGE, {"q.0": True, "q.1": False})
    assert states(only(folder)) == ["correct", "incorrect", *["lost"] * 4]


def test_of_a_journals_attempts_with_growing_budgets_the_largest_counts(tmp_path):
    journal_of(tmp_path, ["q.0"], text="all of it", budget_tokens=1024)
    journal_of(tmp_path, ["q.0"], text="all", budget_tokens=512, finish_reason="length")
    assert read_open_run(only(tmp_path), ROWS).answers[0].text == "all of it"


def test_the_closed_form_is_no_open_answer_in_a_journal_either(tmp_path):
    journal_of(tmp_path, ["q.0"], task="egotempo_choice:counting_actions|0")
    with pytest.raises(InputError, match="holds no answers of egobench's tasks"):
        find_runs([tmp_path])


def test_a_log_of_another_revision_is_refused(tmp_path):
    write_log(tmp_path / "a.eval")
    rows = {key: type(row)(key, row.question, "thrice", CATEGORY, row.duration_s) for key, row in ROWS.items()}
    with pytest.raises(InputError, match=r"a\.eval: question q\.0 is not, or not with the same wording"):
        read_open_run(only(tmp_path), rows)


def test_logs_and_journals_stand_in_the_report_and_compare_with_details(tmp_path, find):
    write_run(tmp_path / "details", dict.fromkeys(ROWS, "correct"), model="d")
    write_log(tmp_path / "logs/a.eval", SAVED)
    journal_of(tmp_path / "night", ROWS)
    document = build_document([tmp_path / "details", tmp_path / "logs/a.eval", tmp_path / "night"], find)
    table = next(table for table in document.tables if table.key == "open_categories")
    ours = {row["run"]: row["accuracy"] for row in table.rows.to_dict("records")}
    assert ours["d, judged by mild"] == 1.0 and ours["m, judged by mild"] == 0.6
    assert any("night, not judged" in row for row in ours)
    console = Console(width=160, record=True, file=io.StringIO())
    console.print(compare_runs(tmp_path / "details", tmp_path / "logs/a.eval", find))
    assert "5 questions decided in both" in console.export_text()
