"""`egobench judge` on saved runs: what was lost is said, a part's figure is marked, each judge has its own file."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from egobench_tasks.cli import app
from egobench_tasks.errors import EgobenchError, InputError
from egobench_tasks.hosts.lighteval.judge_run import judge_run
from egobench_tasks.judge.settings import JudgeSettings
from egobench_tasks.judge.store import VerdictStore


def write_run(folder, n, n_lost=0, category="counting actions", model="m", **settings):
    """A run of one category without verdicts, of which the first ``n_lost`` questions failed."""
    date = f"date-{len(list(folder.rglob('results_*.json')))}"
    rows = [
        {
            "doc": {"specific": {"question_id": f"q{i}", "question": f"q{i}?", "answer": "a", "category": category}},
            "model_response": {
                "text": ["" if i < n_lost else f"{model} {settings}"],
                "finish_reason": "request_failed" if i < n_lost else "stop",
            },
            "metric": {"judged": 0.0, "judge_accuracy": float("nan"), "judge_score": float("nan")},
        }
        for i in range(n)
    ]
    task = f"egotempo:{category.replace(' ', '_')}|0"
    details = folder / f"details/org/{model}/{date}/details_{task}_{date}.parquet"
    results = folder / f"results/org/{model}/results_{date}.json"
    for path in (details, results):
        path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), details)
    config = {"prompt_function": "egotempo(prompt p, frames f, dataset d)", "metrics": []}
    results.write_text(json.dumps({"config_tasks": {task: config}, "config_general": {"model_config": settings}}))
    return folder


@pytest.fixture
def ask(judge, monkeypatch, tmp_path):
    """``ask(run, model="scripted")``: the command's outcome."""
    monkeypatch.setenv("EGOBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("EGOBENCH_JUDGE_BASE_URL", judge.base_url)
    monkeypatch.setenv("EGOBENCH_JUDGE_MAX_RETRIES", "0")
    monkeypatch.setenv("COLUMNS", "200")
    return lambda run, model="scripted", *more: CliRunner().invoke(app, ["judge", str(run), "--model", model, *more])


def says(done):
    return f"{done.output}{done.exception}"


def test_half_the_requests_failed_is_no_50_percent_of_50_judged(ask, tmp_path):
    done = ask(write_run(tmp_path / "run", 50, n_lost=25))
    assert done.exit_code == 1 and isinstance(done.exception, EgobenchError)
    assert "PARTIAL" in says(done) and "25 of 50 questions have no answer" in says(done)
    assert "25 of 25 answers judged" in says(done) and "100.0%" in says(done)


def test_no_clips_at_all_is_no_zero_of_500_judged(ask, judge, tmp_path):
    done = ask(write_run(tmp_path / "run", 500, n_lost=500))
    assert done.exit_code == 1
    assert "0.0%" not in says(done) and "500 of 500 questions have no answer" in says(done)
    assert judge.asked == [] and not (tmp_path / "run" / "verdicts").exists()


def test_an_unreachable_judge_with_492_clipless_questions_is_an_error(ask, judge, tmp_path):
    judge.broken = {f"q{number}?" for number in range(500)}
    done = ask(write_run(tmp_path / "run", 500, n_lost=492))
    assert done.exit_code == 1
    assert "100.0% of the answers have no verdict" in says(done)


def test_one_category_of_ten_has_no_mean(ask, tmp_path):
    done = ask(write_run(tmp_path / "run", 5))
    assert done.exit_code == 0
    (mean,) = [line for line in done.output.splitlines() if "mean of the ten categories" in line]
    assert "–" in mean and "%" not in mean


def test_a_second_judge_has_a_file_of_its_own_whatever_its_name(ask, judge, tmp_path):
    run = write_run(tmp_path / "run", 4)
    ask(run, "j-x")
    judge.pred = "incorrect"
    ask(run, "j/x")
    files = [json.loads(path.read_text()) for path in (run / "verdicts").iterdir()]
    assert {(one["judge"]["model"], one["verdicts"][0]["verdict"]["correct"]) for one in files} == {
        ("j-x", True),
        ("j/x", False),
    }


def test_fresh_asks_for_every_verdict_anew_and_later_commands_take_the_new_ones(ask, judge, tmp_path):
    run = write_run(tmp_path / "run", 4)

    def verdicts(*options):
        assert ask(run, "scripted", *options).exit_code == 0
        (path,) = (run / "verdicts").iterdir()
        return [one["verdict"]["correct"] for one in json.loads(path.read_text())["verdicts"]]

    assert (verdicts(), len(judge.asked)) == ([True] * 4, 4)
    judge.pred = "incorrect"
    assert (verdicts(), len(judge.asked)) == ([True] * 4, 4)
    assert (verdicts("--fresh"), len(judge.asked)) == ([False] * 4, 8)
    assert (verdicts(), len(judge.asked)) == ([False] * 4, 8)


def test_a_folder_of_two_settings_is_not_judged_as_one_run(judge, tmp_path):
    run = write_run(tmp_path / "run", 2, temperature=0.9)
    write_run(run, 2, category="action sequence", temperature=0.0)
    settings = JudgeSettings(base_url=judge.base_url, model="scripted")
    with pytest.raises(InputError, match=r"2 runs of org/m under different settings \(temperature="):
        judge_run(run, settings, VerdictStore(tmp_path / "v.jsonl"))
