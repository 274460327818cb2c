"""EgoTempo by real command lines: build, ask a tiny vision model, judge, judge again."""

import json
import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow


def results_of(folder):
    return json.loads(max(Path(folder).rglob("results_*.json")).read_text())["results"]


def ask(run_program, egotempo, tiny_llava, out, tasks, **environment):
    return run_program(
        "egobench", "run", "transformers", f"model_name={tiny_llava},generation_size=64", tasks,
        "--output-dir", out, "--save-details", EGOTEMPO_DATA=str(egotempo.folder), **environment,
    )  # fmt: skip


def test_a_judge_that_fails_for_some_is_completed_afterwards(run_program, egotempo, tiny_llava, tmp_path, judge):
    judge.broken = {row["question"] for row in egotempo.rows[:3]}
    settings = {
        "EGOBENCH_JUDGE_BASE_URL": judge.base_url,
        "EGOBENCH_JUDGE_MODEL": "scripted",
        "EGOBENCH_JUDGE_MAX_RETRIES": "0",
        "EGOBENCH_CACHE": str(tmp_path / "cache"),
    }
    out = tmp_path / "out"
    done = ask(run_program, egotempo, tiny_llava, out, "egotempo_f4", check=False, **settings)
    assert done.returncode == 1
    assert "answers have no verdict" in done.stderr
    assert "questions have no clip here" in done.stderr
    results = results_of(out)
    assert len([name for name in results if name.startswith("egotempo_f4:") and "_average" not in name]) == 10
    assert results["egotempo_f4:_average (partial)|0"]["judged"] < 1
    asked_before = len(judge.asked)

    incomplete = run_program("egobench", "judge", out, check=False, **settings)
    assert incomplete.returncode == 1
    assert "have no verdict" in incomplete.stderr
    judge.broken = set()
    complete = run_program("egobench", "judge", out, check=False, **settings)
    assert complete.returncode == 1 and "the run is partial: 1 of 20 questions have no answer" in complete.stderr
    assert "mean of the ten categories" in complete.stdout and "Judged by scripted, wording judge-" in complete.stdout
    # What had a verdict was not asked about again: only the broken ones were, once a command.
    n_failed = sum(
        question in {row["question"] for row in egotempo.rows[:3]} for question in judge.asked[:asked_before]
    )
    assert len(judge.asked) == asked_before + 2 * n_failed
    (path,) = (out / "verdicts").iterdir()
    verdicts = json.loads(path.read_text())["verdicts"]
    assert 0 < len(verdicts) < 20  # of what was answered
    assert all(verdict["verdict"] for verdict in verdicts)

    judge.pred = "incorrect"
    other = run_program("egobench", "judge", out, "--model", "stern", check=False, **settings)
    assert "Cohen's kappa" in other.stdout
    assert len(list((out / "verdicts").iterdir())) == 2

    run_program("egobench", "report", out, "--out", tmp_path / "report", EGOTEMPO_DATA=str(egotempo.folder), **settings)
    report = json.loads((tmp_path / "report" / "report.json").read_text())
    assert {"scripted", "stern"} <= set(re.findall(r"\w+", json.dumps(report)))  # two judges, never mixed


def test_words_alone_need_no_clip_and_no_judge(run_program, egotempo, tiny_llava, tmp_path):
    done = ask(run_program, egotempo, tiny_llava, tmp_path / "out", "egotempo_text:locating_object")
    assert "no judge is configured" in done.stderr
    results = results_of(tmp_path / "out")["egotempo_text:locating_object|0"]
    assert results["judged"] == 0
    assert {"exact_match", "token_f1", "answered"} <= set(results)


def test_the_closed_form_runs_through_the_choice_path(run_program, egotempo, tiny_llava, tmp_path):
    path = tmp_path / "choices.json"
    path.write_text(json.dumps({row["question_id"]: ["no", "never", "none"] for row in egotempo.rows}))
    ask(
        run_program, egotempo, tiny_llava, tmp_path / "out", "egotempo_choice:counting_actions",
        EGOBENCH_CHOICES=str(path),
    )  # fmt: skip
    results = results_of(tmp_path / "out")["egotempo_choice:counting_actions|0"]
    assert results["chance"] == 0.25


def test_a_wrong_judge_setting_shows_before_the_model_loads(run_program, egotempo, tiny_llava, tmp_path):
    done = ask(
        run_program, egotempo, tiny_llava, tmp_path / "out", "egotempo_text:locating_object",
        check=False, EGOBENCH_JUDGE_MODEL="x",
    )  # fmt: skip
    assert done.returncode == 2
    assert "EGOBENCH_JUDGE_BASE_URL" in done.stderr
    assert "Loading weights" not in done.stderr


def test_baselines_print_what_guessing_scores(run_program, egotempo, sample_folder, judge):
    done = run_program("egobench", "baseline", "egogears", EGOGEARS_DATA=str(sample_folder / "egogears"))
    assert "closed form" in done.stdout
    done = run_program(
        "egobench", "baseline", "egotempo", EGOTEMPO_DATA=str(egotempo.folder),
        EGOBENCH_JUDGE_BASE_URL=judge.base_url, EGOBENCH_JUDGE_MODEL="scripted",
    )  # fmt: skip
    assert "Mean of the categories, judged by scripted: 100.00%" in done.stdout
    assert "2 of 2" in done.stdout
