"""EgoTempo as an Inspect task: settings, categories, scores with and without a judge."""

import math
from collections import Counter
from pathlib import Path

import inspect_ai
import pytest
from inspect_ai.log import read_eval_log
from inspect_ai.model import ModelAPI, ModelOutput, get_model, modelapi

from egobench_tasks.benchmarks import EGOTEMPO
from egobench_tasks.data import DatasetLocation
from egobench_tasks.errors import InputError
from egobench_tasks.hosts.inspect.tasks import egotempo as egotempo_task
from egobench_tasks.judge.identity import judge_identity
from egobench_tasks.judge.settings import load_settings
from egobench_tasks.report.read.open_reader import find_open_runs, load_open_rows, read_open_run
from egobench_tasks.servers.rounds import GIVE_UP_AFTER


@modelapi("egobench_test_speaker")
class Speaker(ModelAPI):
    """Says the same to every question, with one stop reason."""

    def __init__(self, model_name, base_url=None, api_key=None, config=None, says="", stop_reason="stop", **arguments):
        super().__init__(model_name, base_url, api_key, **({"config": config} if config else {}))
        self.says, self.stop_reason, self.asked = says, stop_reason, []

    async def generate(self, input, tools, tool_choice, config):
        self.asked.append((input, config))
        return ModelOutput.from_content(self.model_name, self.says, self.stop_reason)


@pytest.fixture
def evaluate(egotempo, tmp_path, monkeypatch):
    """``evaluate(setting="f4", …)``: (metrics by score, log, what the model was asked)."""
    monkeypatch.setenv("EGOTEMPO_DATA", str(egotempo.folder))
    monkeypatch.setenv("EGOBENCH_CACHE", str(tmp_path / "cache"))

    def run(says="Answer 10.", stop_reason="stop", **arguments):
        model = get_model("egobench_test_speaker/m", says=says, stop_reason=stop_reason, memoize=False)
        (log,) = inspect_ai.eval(
            egotempo_task(**arguments), model=model, log_dir=str(tmp_path / "logs"), display="none"
        )
        assert log.status == "success", log.error
        log = read_eval_log(log.location, resolve_attachments=True)
        metrics = {
            score.name: {key: metric.value for key, metric in score.metrics.items()} for score in log.results.scores
        }
        return metrics, log, model.api.asked

    return run


@pytest.fixture
def use_judge(judge, monkeypatch):
    """The judge on loopback, configured as a user does."""
    monkeypatch.setenv("EGOBENCH_JUDGE_BASE_URL", judge.base_url)
    monkeypatch.setenv("EGOBENCH_JUDGE_MODEL", "scripted")
    monkeypatch.setenv("EGOBENCH_JUDGE_MAX_RETRIES", "0")
    return judge


def unscored(log, name):
    (score,) = [score for score in log.results.scores if score.name == name]
    return score.unscored_samples


def only_score(sample):
    (score,) = sample.scores.values()
    return score


def test_the_default_is_a_frame_a_second_of_every_category(evaluate, use_judge):
    metrics, log, asked = evaluate()
    assert len(log.samples) == 20
    assert len(asked) == 19  # one has no clip
    for (message,), config in asked:
        assert 6 <= sum(part.type == "image" for part in message.content) <= 8
        assert (config.temperature, config.max_tokens) == (0, 512)
    categories = set(EGOTEMPO.category_codes) | {"average"}
    assert {name for name in metrics["judge_accuracy"] if name.startswith("by_category_")} == {
        f"by_category_{category}" for category in categories
    }
    assert {"prompt", "frames", "dataset", "judge", "canary"} <= set(log.eval.metadata)
    assert log.eval.metadata["judge"].startswith("scripted, prompt ")
    assert "base64," not in log.model_dump_json()


def test_the_report_reads_a_log_as_it_was_scored(evaluate, use_judge, egotempo):
    use_judge.broken = {egotempo.rows[0]["question"]}
    metrics, log, _ = evaluate(setting="f4")
    (run,) = find_open_runs(Path(log.location.removeprefix("file://")))
    result = read_open_run(run, load_open_rows(DatasetLocation(str(egotempo.folder))))
    states = Counter(str(outcome.state) for outcome in result.outcomes)
    n_broken = sum(row["question"] == egotempo.rows[0]["question"] for row in egotempo.rows)
    assert states == {"correct": 19 - n_broken, "no verdict": n_broken, "lost": 1}
    assert metrics["judge_accuracy"]["mean"] == 1
    assert run.judge.digest == judge_identity(load_settings()).digest
    assert result.outcomes[0].setting == "f4"


def test_the_question_without_a_clip_is_lost_and_no_error_of_the_models(evaluate, use_judge):
    metrics, log, _ = evaluate(setting="f4", category="action_specific_object")
    figures = [metrics[name]["mean"] for name in ("judge_accuracy", "judged", "answered", "lost")]
    assert figures == [1, 0.5, 0.5, 0.5]
    (missing,) = [sample for sample in log.samples if sample.metadata["clips"][0]["path"].startswith("(")]
    assert "no clip for this question" in missing.output.error
    value = only_score(missing).value
    assert math.isnan(value["judge_accuracy"]) and math.isnan(value["exact_match"]) and value["lost"] == 1
    assert len(use_judge.asked) == 1


def test_words_alone_show_no_image(evaluate, use_judge):
    _, log, asked = evaluate(setting="text", category="counting actions")
    assert [[part.type for part in message.content] for (message,), _ in asked] == [["text"], ["text"]]
    assert log.eval.metadata["frames"] == "none"
    assert log.eval.dataset.name == "egotempo_text"


def test_verdicts_missing_are_left_out_of_the_rate_and_counted(evaluate, use_judge, egotempo):
    broken = [row for row in egotempo.rows if row["question_type"] == "counting actions"]
    use_judge.broken = {row["question"] for row in broken}
    metrics, log, _ = evaluate(setting="text")
    assert metrics["judge_accuracy"]["mean"] == 1
    assert metrics["judge_score"]["mean"] == 4
    assert metrics["judged"]["mean"] == pytest.approx(0.9)
    assert metrics["judged"]["by_category_counting actions"] == 0
    assert "by_category_counting actions" not in metrics["judge_accuracy"]
    average = "by_category_average (9 of 10 categories)"
    assert metrics["judge_accuracy"][average] == 1
    assert "by_category_average" not in metrics["judge_accuracy"]
    assert unscored(log, "judge_accuracy") == unscored(log, "judge_score") == 2
    assert unscored(log, "exact_match") == 0
    without = [only_score(sample) for sample in log.samples if only_score(sample).reason]
    assert {(score.reason, score.explanation) for score in without} == {("grader_failed", "no verdict: server_error")}

    n_asked, use_judge.broken = len(use_judge.asked), set()
    metrics, _, _ = evaluate(setting="text")
    assert metrics["judged"]["mean"] == 1
    assert len(use_judge.asked) - n_asked == 2  # of one wording, with two gold answers


def test_without_a_judge_there_is_no_rate_and_a_reason(evaluate):
    metrics, log, _ = evaluate(setting="text", category="counting_actions")
    assert math.isnan(metrics["judge_accuracy"]["mean"]) and math.isnan(metrics["judge_score"]["mean"])
    assert metrics["judged"]["mean"] == 0
    assert (metrics["exact_match"]["mean"], metrics["answered"]["mean"]) == (0.5, 1)
    assert 0.5 < metrics["token_f1"]["mean"] < 1
    for sample in log.samples:
        score = only_score(sample)
        assert score.reason == "scoring_failed"
        assert "EGOBENCH_JUDGE_BASE_URL" in score.explanation


@pytest.mark.parametrize(("says", "stop_reason"), [("Answer 10.", "max_tokens"), ("<think>never done", "stop")])
def test_what_is_no_answer_is_wrong_without_asking_the_judge(evaluate, use_judge, says, stop_reason):
    metrics, _, _ = evaluate(says=says, stop_reason=stop_reason, setting="text", category="counting_actions")
    assert [metrics[name]["mean"] for name in ("judge_accuracy", "judged", "exact_match", "answered")] == [0, 0, 0, 0]
    assert use_judge.asked == []


def test_a_judge_that_is_down_is_soon_asked_no_more(evaluate, use_judge, egotempo, monkeypatch):
    monkeypatch.setattr("egobench_tasks.hosts.inspect.judge.GIVE_UP_AFTER", 3)
    monkeypatch.setenv("EGOBENCH_JUDGE_CONCURRENCY", "1")
    use_judge.broken = {row["question"] for row in egotempo.rows}
    metrics, log, _ = evaluate(setting="text")
    assert len(use_judge.asked) == 3 < GIVE_UP_AFTER
    assert metrics["judged"]["mean"] == 0
    assert unscored(log, "judge_accuracy") == 20


def test_another_judge_is_an_argument(evaluate, use_judge):
    _, log, _ = evaluate(setting="text", category="counting_actions", judge="stern")
    assert log.eval.metadata["judge"].startswith("stern, ")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"setting": "f5"}, r"no setting 'f5'; there are text, center, f4"),
        ({"category": "cooking"}, r"no category 'cooking'; there are action_sequence"),
        ({"judge": "alone"}, r"the judge has no base_url"),
    ],
)
def test_a_wrong_argument_is_named_before_anything_is_asked(egotempo, monkeypatch, arguments, says):
    monkeypatch.setenv("EGOTEMPO_DATA", str(egotempo.folder))
    with pytest.raises(InputError, match=says):
        egotempo_task(**arguments)


def test_samples_are_those_of_the_lighteval_tasks(evaluate, open_docs):
    _, log, _ = evaluate(setting="f4", category="counting_actions")
    samples = {sample.id: sample for sample in log.samples}
    docs = {doc.specific["question_id"]: doc for doc in open_docs("egotempo_f4:counting_actions")}
    assert samples.keys() == docs.keys()
    for key, doc in docs.items():
        facts = {name: value for name, value in samples[key].metadata.items() if name != "attempts"}
        assert [clip["spec"] for clip in facts.pop("clips")] == [request.spec.key() for request in doc.images.requests]
        assert facts == doc.specific
        assert samples[key].input == doc.query
