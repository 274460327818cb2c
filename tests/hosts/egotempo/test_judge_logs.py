"""`egobench judge` on Inspect logs and journals: what a report reads can be judged, and is judged where it lies."""

import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

sys.path.insert(0, str(Path(__file__).parents[2] / "report"))

from inspect_open_logs import write_log
from open_runs import ROWS, SAVED, answer_to, plant_open, write_run

from egobench_tasks.cli import app
from egobench_tasks.errors import EgobenchError, InputError
from egobench_tasks.report.read.open_reader import find_open_runs, read_open_run
from egobench_tasks.runs.journal import Answer, Journal

ONE, OTHER = "org/m", "org/other"


@pytest.fixture
def ask(judge, monkeypatch, tmp_path):
    """``ask(run)``: the command's outcome before the scripted judge, which says "correct"."""
    monkeypatch.setenv("EGOTEMPO_DATA", plant_open(tmp_path / "data").path)
    monkeypatch.setenv("EGOBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("EGOBENCH_JUDGE_BASE_URL", judge.base_url)
    monkeypatch.setenv("EGOBENCH_JUDGE_MAX_RETRIES", "0")
    monkeypatch.setenv("COLUMNS", "200")
    return lambda run, *more: CliRunner().invoke(app, ["judge", str(run), "--model", "scripted", *more])


def states(path, judge="scripted"):
    """What became of each answer before a judge, by the run's name."""
    found = {run.name: run for run in find_open_runs(path) if run.judge and run.judge.name == judge}
    return {name: [str(one.state) for one in read_open_run(run, ROWS).outcomes] for name, run in found.items()}


def journal_of(folder, question_ids, category="counting_actions"):
    journal = Journal(folder)
    for one in question_ids:
        task = f"egotempo_f16:{category}|0"
        made = {"key": one, "task": task, "prompt": "p", "text": answer_to(one), "finish_reason": "stop"}
        journal.append(Answer(question_id=one, **made))
    journal.close()
    return folder


def test_a_log_is_judged_and_its_verdicts_lie_beside_it(ask, judge, tmp_path):
    """It said that no open answers were here, where `egobench report` read six."""
    log = write_log(tmp_path / "logs/a.eval", SAVED | {"q.4": "unanswered"})
    done = ask(log)
    assert done.exit_code == 0, done.output
    assert "egotempo_f16:counting_actions" in done.output and "5 of 5 answers judged" in done.output
    assert "Agreement with the verdicts saved in the run, by mild: 50.0% of 4" in done.output
    assert len(judge.asked) == 5
    assert [path.parent for path in (tmp_path / "logs").rglob("*.json")] == [tmp_path / "logs/a.verdicts"]
    expected = {"m, judged by scripted": ["correct"] * 4 + ["unanswered", "correct"]}
    assert states(log) == states(tmp_path / "logs") == expected
    assert ask(log).exit_code == 0 and len(judge.asked) == 5


def test_each_log_of_a_folder_of_two_models_is_judged_by_itself(ask, judge, tmp_path):
    logs = [write_log(tmp_path / f"logs/{model[-1]}.eval", SAVED, model=model) for model in (ONE, OTHER)]
    refused = ask(tmp_path / "logs")
    assert isinstance(refused.exception, InputError) and "holds 2 runs (m, other); give one log" in str(
        refused.exception
    )
    assert judge.asked == [] and not list(tmp_path.rglob("*verdicts"))
    assert ask(logs[0]).exit_code == 0
    assert states(tmp_path / "logs") == {"m, judged by scripted": ["correct"] * 6}
    assert ask(logs[1]).exit_code == 0
    assert list(states(tmp_path / "logs")) == ["m, judged by scripted", "other, judged by scripted"]


def test_logs_of_one_run_are_judged_together_or_apart(ask, tmp_path):
    """Two logs answer half each; a judge asked of each log is one judge."""
    halves = [dict(list(SAVED.items())[:3]), dict(list(SAVED.items())[3:])]
    write_log(tmp_path / "logs/a.eval", halves[0], setting="f16", category=None)
    write_log(tmp_path / "logs/b.eval", halves[1], setting="fps1")
    for log in ("a", "b"):
        done = ask(tmp_path / f"logs/{log}.eval")
        assert isinstance(done.exception, EgobenchError) and "the run is partial: 3 of 6" in str(done.exception)
    (found,) = states(tmp_path / "logs").values()
    assert sorted(found) == ["correct"] * 6 + ["lost"] * 6
    ask(tmp_path / "logs")
    assert (tmp_path / "logs/verdicts").is_dir()
    assert list(states(tmp_path / "logs").values()) == [found]


def test_a_journal_is_judged_and_what_it_lacks_is_said(ask, judge, tmp_path):
    folder = journal_of(tmp_path / "night", list(ROWS)[:4])
    done = ask(folder)
    assert done.exit_code == 1 and "the run is partial: 2 of 6 questions have no answer" in str(done.exception)
    assert "4 of 4 answers judged" in done.output and len(judge.asked) == 4
    assert list(states(folder).values()) == [["correct"] * 4 + ["lost"] * 2]


def test_answers_to_another_dataset_are_not_judged(ask, judge, tmp_path):
    done = ask(journal_of(tmp_path / "night", ["elsewhere"]))
    assert isinstance(done.exception, InputError) and "question elsewhere is not" in str(done.exception)
    assert judge.asked == [] and not (tmp_path / "night/verdicts").exists()


def test_a_folder_of_both_kinds_and_one_of_neither_are_refused(ask, judge, tmp_path):
    write_run(tmp_path / "both")
    write_log(tmp_path / "both/a.eval")
    (tmp_path / "neither").mkdir()
    for name, said in (("both", "move either"), ("neither", "no open answers of EgoTempo"), ("gone", "no such folder")):
        done = ask(tmp_path / name)
        assert isinstance(done.exception, InputError) and said in str(done.exception)
    assert judge.asked == []
