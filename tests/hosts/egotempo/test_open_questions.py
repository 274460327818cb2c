import json
import math

import pytest

from egobench_tasks.asking.open import OpenChoices, load_open_choices, show_open, show_open_choice
from egobench_tasks.asking.open_settings import open_settings
from egobench_tasks.asking.prompts import (
    OPEN_CHOICE_TEMPLATES,
    OPEN_CHOICE_TEXT_TEMPLATES,
    ClipFrames,
    load_choice_templates,
    load_open_templates,
)
from egobench_tasks.benchmarks import EGOTEMPO
from egobench_tasks.data import DatasetLocation, load_rows
from egobench_tasks.errors import InputError
from egobench_tasks.frames.errors import ClipError

# The exact prompts, frozen: scores under another wording do not compare. Change them with a new `version` only.
FROZEN_FINGERPRINT = "open-2-96cbeb8faa32"


@pytest.fixture(scope="module")
def rows(egotempo):
    return list(load_rows(DatasetLocation(str(egotempo.folder)), "default"))


def test_the_wording_is_frozen():
    assert load_open_templates().fingerprint == FROZEN_FINGERPRINT


def test_words_alone_show_no_frame_and_promise_none(rows):
    shown = show_open(rows[0], load_open_templates(), None)
    assert shown.frames.requests == ()
    assert not any(isinstance(segment, ClipFrames) for segment in shown.segments)
    assert "cannot see" in shown.readable()
    assert rows[0]["question"] in shown.readable()


@pytest.mark.parametrize(
    ("setting", "n_frames"),
    [("center", 1), ("f8", 8), ("f8_random", 8), ("f8_shuffled", 8), ("fps0.5", 3), ("fps1", 6), ("fps1_random", 6)],
)
def test_each_setting_shows_its_number_of_frames(rows, setting, n_frames):
    shown = show_open(rows[0], load_open_templates(), open_settings()[setting])
    assert rows[0]["duration_s"] == pytest.approx(6.0)
    assert len(shown.frames) == n_frames


def test_shuffled_frames_are_the_uniform_ones_in_another_order(rows):
    settings, templates = open_settings(), load_open_templates()
    times = [
        show_open(rows[0], templates, settings[name]).frames.clips()[0].times_s for name in ("f16", "f16_shuffled")
    ]
    assert times[0] != times[1]
    assert sorted(times[1]) == list(times[0])


def test_a_window_of_a_full_video_shows_the_same_as_the_cut_clip(egotempo, tmp_path):
    from dataset_scripts.egotempo.build import build_egotempo

    build_egotempo(egotempo.annotations, tmp_path / "whole", videos=egotempo.videos, trim=False)
    whole = list(load_rows(DatasetLocation(str(tmp_path / "whole")), "default"))
    cut = list(load_rows(DatasetLocation(str(egotempo.folder)), "default"))
    spec = open_settings()["fps1"]
    for index in (0, 7):
        assert whole[index]["window_end_s"] is not None
        shown = [show_open(rows[index], load_open_templates(), spec).frames.clips()[0] for rows in (whole, cut)]
        assert shown[0].times_s == pytest.approx(shown[1].times_s)


def test_a_question_without_a_clip_cannot_be_asked(rows):
    assert rows[-1]["video"] is None
    shown = show_open(rows[-1], load_open_templates(), open_settings()["f4"])
    with pytest.raises(ClipError, match="no clip for this question"):
        shown.frames.clips()


def choices_for(rows):
    return OpenChoices({row["question_id"]: ("no", "never", "none") for row in rows}, "f" * 12)


def test_the_closed_form_has_four_options_and_chance_of_a_quarter(rows):
    shown = show_open_choice(
        rows[0], load_choice_templates(OPEN_CHOICE_TEMPLATES), open_settings()["f4"], choices_for(rows)
    )
    assert sorted(shown.question.options) == sorted([rows[0]["answer"], "no", "never", "none"])
    assert shown.question.options[0] == rows[0]["answer"]
    assert shown.facts()["answer"] == "A"
    text = shown.readable()
    assert all(f". {option}\n" in text for option in shown.question.options)


def test_the_closed_form_without_frames(rows):
    templates = load_choice_templates(OPEN_CHOICE_TEXT_TEMPLATES)
    shown = show_open_choice(rows[-1], templates, None, choices_for(rows))
    assert shown.frames.requests == ()
    assert not any(isinstance(segment, ClipFrames) for segment in shown.segments)


def test_the_gold_answer_among_the_wrong_ones_is_named(rows):
    choices = OpenChoices({rows[0]["question_id"]: (rows[0]["answer"], "a", "b")}, "f")
    with pytest.raises(InputError, match=rows[0]["question_id"]):
        show_open_choice(rows[0], load_choice_templates(OPEN_CHOICE_TEMPLATES), None, choices)


@pytest.mark.parametrize(
    "content",
    ["[", "[]", "{}", '{"q1": ["a", "b"]}', '{"q1": ["a", "b", "b"]}', '{"q1": ["a", "b", 3]}', '{"q1": "abc"}'],
)
def test_a_file_of_wrong_answers_that_cannot_be_used_is_named(tmp_path, content):
    path = tmp_path / "choices.json"
    path.write_text(content)
    with pytest.raises(InputError, match=r"choices\.json"):
        load_open_choices(path)


def test_the_real_questions_are_shown_unchanged(shared_dir, tmp_path):
    from dataset_scripts.egotempo.build import build_egotempo

    path = shared_dir / "data" / "egotempo" / "egotempo_openQA.json"
    build_egotempo(path, tmp_path / "egotempo")
    real = {row["question_id"].strip(): row for row in json.loads(path.read_text())["annotations"]}
    rows = list(load_rows(DatasetLocation(str(tmp_path / "egotempo")), "default"))
    assert len(rows) == len(real) == EGOTEMPO.rows
    for row in rows:
        shown = show_open(row, load_open_templates(), None)
        assert real[row["question_id"]]["question"].strip() in shown.readable()
        assert shown.question.answer == real[row["question_id"]]["answer"].strip()


def test_tasks_of_every_setting_and_category_have_one_set_of_metrics():
    from egobench_tasks.tasks import TASKS_TABLE

    tasks = [task for task in TASKS_TABLE if task.name.startswith("egotempo")]
    assert len(tasks) == len(open_settings()) * len(EGOTEMPO.category_codes)
    assert {tuple(str(metric.metric_name) for metric in task.metrics) for task in tasks} == {
        ("judge_accuracy", "judge_score", "judged", "['exact_match', 'token_f1', 'answered', 'lost']")
    }
    names = {task.name for task in tasks}
    assert {
        "egotempo:counting_actions",
        "egotempo_text:action_specific_object",
        "egotempo_f8_random:locating_object",
    } <= names


def test_verdicts_missing_are_left_out_of_the_rate_and_counted(judge, monkeypatch, tmp_path):
    from lighteval.models.model_output import ModelResponse
    from lighteval.tasks.requests import Doc

    from egobench_tasks.hosts.lighteval.judge import judge_metrics

    monkeypatch.setenv("EGOBENCH_CACHE", str(tmp_path))
    monkeypatch.setenv("EGOBENCH_JUDGE_BASE_URL", judge.base_url)
    monkeypatch.setenv("EGOBENCH_JUDGE_MODEL", "scripted")
    monkeypatch.setenv("EGOBENCH_JUDGE_MAX_RETRIES", "0")
    judge.broken = {"q1", "q2", "q3"}
    docs = [
        Doc(
            query="", choices=[], gold_index=0, task_name="egotempo:x|0",
            specific={"question_id": f"q{n}", "question": f"q{n}", "answer": "a", "category": "x"},
        )
        for n in range(10)
    ]  # fmt: skip
    responses = [ModelResponse(text=["a" if n else "<think>never done"]) for n in range(10)]
    figures = {}
    for metric in judge_metrics():
        values = metric.compute_sample(docs=docs, responses=responses)[metric.metric_name]
        figures[metric.metric_name] = metric.get_corpus_aggregations()[metric.metric_name](values)
    assert len(judge.asked) == 9  # once an answer, whatever the number of metrics; none for the one without an answer
    assert figures["judged"] == pytest.approx(0.6)  # what the judge saw, and decided on
    assert figures["judge_accuracy"] == pytest.approx(6 / 7)  # the unanswered question is wrong, not left out
    assert figures["judge_score"] == pytest.approx(24 / 7)


def test_without_a_judge_there_is_no_rate():
    from lighteval.models.model_output import ModelResponse
    from lighteval.tasks.requests import Doc

    from egobench_tasks.hosts.lighteval.judge import judge_metrics

    facts = {"question_id": "q", "question": "q", "answer": "a", "category": "x"}
    doc = Doc(query="", choices=[], gold_index=0, task_name="egotempo:x|0", specific=facts)
    responses = [ModelResponse(text=["a"]), ModelResponse(text=["<think>never done"])]
    for metric in judge_metrics():
        values = metric.compute_sample(docs=[doc, doc], responses=responses)[metric.metric_name]
        figure = metric.get_corpus_aggregations()[metric.metric_name](values)
        assert figure == 0 if metric.metric_name == "judged" else math.isnan(figure)


def lost_docs(monkeypatch, tmp_path, judge, n_lost, n):
    """Documents of which the first ones got no answer: their clips are not there, or their requests failed."""
    from lighteval.tasks.requests import Doc

    from egobench_tasks.hosts.lighteval.generation import Generation, no_generation

    monkeypatch.setenv("EGOBENCH_CACHE", str(tmp_path))
    monkeypatch.setenv("EGOBENCH_JUDGE_BASE_URL", judge.base_url)
    monkeypatch.setenv("EGOBENCH_JUDGE_MODEL", "scripted")
    monkeypatch.setenv("EGOBENCH_JUDGE_MAX_RETRIES", "0")
    docs = [
        Doc(
            query="", choices=[], gold_index=0, task_name=f"egotempo:lost{n_lost}|0",
            specific={"question_id": f"q{number}", "question": f"q{number}", "answer": "a", "category": "x"},
        )
        for number in range(n)
    ]  # fmt: skip
    reasons = ("request_failed", "clip_unreadable")
    responses = [no_generation("", reasons[number % 2]) for number in range(n_lost)]
    return docs, responses + [Generation(text=["a"]) for _ in range(n - n_lost)]


def figures_of(docs, responses):
    from egobench_tasks.hosts.lighteval.judge import judge_metrics
    from egobench_tasks.hosts.lighteval.metrics import OPEN_METRICS

    figures = {}
    for metric in judge_metrics():
        values = metric.compute_sample(docs=docs, responses=responses)[metric.metric_name]
        figures[metric.metric_name] = metric.get_corpus_aggregations()[metric.metric_name](values)
    rows = [OPEN_METRICS.sample_level_fn.compute(doc, response) for doc, response in zip(docs, responses, strict=True)]
    for name, aggregate in OPEN_METRICS.corpus_level_fn.items():
        found = aggregate([row[name] for row in rows])
        figures |= found if isinstance(found, dict) else {name: found}
    return figures


def test_failed_requests_and_missing_clips_are_no_errors_of_the_models(judge, monkeypatch, tmp_path):
    figures = figures_of(*lost_docs(monkeypatch, tmp_path, judge, 5, 10))
    assert (figures["judge_accuracy"], figures["judged"], figures["lost"]) == (1.0, 0.5, 0.5)
    assert (figures["exact_match"], figures["token_f1"], figures["answered"]) == (1.0, 1.0, 0.5)
    assert len(judge.asked) == 5


def test_without_any_clip_there_is_no_rate_and_nothing_judged(judge, monkeypatch, tmp_path):
    figures = figures_of(*lost_docs(monkeypatch, tmp_path, judge, 4, 4))
    assert math.isnan(figures["judge_accuracy"]) and math.isnan(figures["exact_match"])
    assert (figures["judged"], figures["lost"]) == (0, 1)
    assert judge.asked == []


def test_an_unreachable_judge_is_an_error_however_many_clips_are_missing(judge, monkeypatch, tmp_path):
    from egobench_tasks.errors import EgobenchError
    from egobench_tasks.hosts.lighteval import judge as host

    monkeypatch.setattr(host, "_judged_tasks", {})
    judge.broken = {f"q{number}" for number in range(500)}
    docs, responses = lost_docs(monkeypatch, tmp_path, judge, 492, 500)
    host.judge_metrics()[0].compute_sample(docs=docs, responses=responses)
    with pytest.raises(EgobenchError, match="8 of 8 answers have no verdict"):
        host.check_verdicts()


def test_answers_of_two_models_in_one_folder_are_not_judged_as_one_run(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    from egobench_tasks.hosts.lighteval.judge_run import read_open_answers

    facts = {"question_id": "q", "question": "q?", "answer": "a", "category": "counting actions"}
    row = {
        "doc": {"specific": facts},
        "model_response": {"text": ["a"], "finish_reason": "stop"},
        "metric": {"judged": 1.0, "judge_accuracy": 1.0, "judge_score": 4.0},
    }
    for model in ("org/first", "org/second"):
        folder = tmp_path / model.replace("/", "-") / "details" / model / "2026-01-01"
        both = tmp_path / "both" / "details" / model / "2026-01-01"
        for place in (folder, both):
            place.mkdir(parents=True)
            name = "details_egotempo_fps0.5:counting_actions|0_2026-01-01.parquet"
            pq.write_table(pa.Table.from_pylist([row]), place / name)
        (answer,) = read_open_answers(tmp_path / model.replace("/", "-"))
        assert (answer.task, answer.saved.correct) == ("egotempo_fps0.5:counting_actions", True)
    with pytest.raises(InputError, match="several models"):
        read_open_answers(tmp_path / "both")
