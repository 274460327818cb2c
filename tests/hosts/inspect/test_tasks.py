"""The Inspect tasks over the sample benchmark, with models of Inspect's own kind and its own command."""

import base64
import io
import math

import inspect_ai
import pytest
from inspect_ai.log import read_eval_log
from inspect_ai.model import ChatMessageUser, ModelAPI, ModelOutput, get_model, modelapi
from PIL import Image

from dataset_scripts.sample.oracle import answer_message
from egobench_tasks.benchmarks import EGOGEARS
from egobench_tasks.errors import InputError
from egobench_tasks.hosts.endpoint.message import data_uri
from egobench_tasks.hosts.inspect.scorers import kappa
from egobench_tasks.hosts.inspect.tasks import egogears_multi, egogears_single
from egobench_tasks.report.read.inspect_reader import find_inspect_runs


def parts_of(messages):
    """A conversation of one message as texts and images."""
    (message,) = messages
    assert isinstance(message, ChatMessageUser)
    return [part.text if part.type == "text" else _image(part.image) for part in message.content]


def _image(uri):
    return Image.open(io.BytesIO(base64.b64decode(uri.partition(",")[2]))).convert("RGB")


@modelapi("egobench_test_oracle")
class Oracle(ModelAPI):
    """Answers as the sample's oracle does, with the stop reason that it is made with.

    ``forgets``: a message that comes again gets nothing that counts.
    """

    def __init__(
        self, model_name, base_url=None, api_key=None, config=None, stop_reason="stop", forgets=False, **arguments
    ):
        super().__init__(model_name, base_url, api_key, **({"config": config} if config else {}))
        self.stop_reason, self.forgets = stop_reason, forgets
        self.asked = []

    async def generate(self, input, tools, tool_choice, config):
        again = any(input[0].content == earlier[0].content for earlier, _ in self.asked)
        self.asked.append((input, config))
        text = "I forgot." if self.forgets and again else answer_message(parts_of(input))
        return ModelOutput.from_content(self.model_name, text, self.stop_reason)


@pytest.fixture
def evaluate(sample_folder, tmp_path, monkeypatch):
    """``evaluate(task, …)``: its log, read back from the file."""
    monkeypatch.setenv("EGOGEARS_DATA", str(sample_folder / "egogears"))

    def run(task, stop_reason="stop", **options):
        model = get_model("egobench_test_oracle/m", stop_reason=stop_reason, memoize=False)
        (log,) = inspect_ai.eval(task, model=model, log_dir=str(tmp_path / "logs"), display="none", **options)
        assert log.status == "success", log.error
        return read_eval_log(log.location, resolve_attachments=True), model.api

    return run


def metrics_of(log):
    return {score.name: {name: metric.value for name, metric in score.metrics.items()} for score in log.results.scores}


@pytest.mark.parametrize("task", [egogears_single, egogears_multi])
def test_the_oracle_scores_one_in_every_metric_and_group(evaluate, task):
    log, api = evaluate(task())
    metrics = metrics_of(log)
    assert set(metrics) == {"exact_set", "jaccard", "overlap", "wellformed", "answered", "lost"}
    assert all(metrics[name]["mean"] == (name != "lost") for name in metrics)
    assert metrics["exact_set"]["kappa"] == 1
    samples = log.samples
    for field in ("unit", "question_type"):
        groups = {f"by_{field}_{sample.metadata[field]}" for sample in samples}
        assert groups == {name for name in metrics["exact_set"] if name.startswith(f"by_{field}_")}
        assert all(metrics["exact_set"][name] == 1 for name in groups)
    assert all(config.temperature == 0 and config.max_tokens == 2048 for _, config in api.asked)


def test_no_image_is_in_the_log_and_every_text_is(evaluate):
    log, api = evaluate(egogears_multi())
    assert sum(part.type == "image" for part in api.asked[0][0][0].content) == 64
    everything = log.model_dump_json()
    assert "base64," not in everything
    assert len(everything) / len(log.samples) < 60_000
    for sample in log.samples:
        assert "CLIP" in sample.messages[0].text or "VIDEO" in sample.messages[0].text
        assert "frames]" in sample.messages[0].text
        assert sample.messages[-1].text == sample.output.completion


def test_images_are_logged_where_that_is_asked_for(evaluate):
    log, _ = evaluate(egogears_multi(log_images=True), limit=1)
    assert "base64," in log.model_dump_json()


def test_the_log_says_what_shaped_the_input_and_what_reports_need(evaluate):
    log, _ = evaluate(egogears_multi(frames=32), limit=2)
    circumstances = {"egobench", "libraries", "libavcodec", "location", "canary"}
    assert set(log.eval.metadata) == {"prompt", "frames", "dataset", *circumstances}
    assert log.eval.metadata["canary"] == EGOGEARS.canary and log.eval.metadata["libraries"]["av"]
    assert "count=32" in log.eval.metadata["frames"]
    for sample in log.samples:
        assert {"question_id", "shown_letters", "original_letters", "answer"} <= set(sample.metadata)
        assert sample.id == sample.metadata["question_id"]
        (score,) = sample.scores.values()
        assert set(score.answer.split(",")) == set(sample.target)


def test_the_metadata_are_those_of_the_lighteval_tasks(evaluate, docs_of):
    log, _ = evaluate(egogears_multi())
    samples = {sample.id: sample for sample in log.samples}
    docs = {doc.specific["question_id"]: doc for doc in docs_of("multi")}
    assert samples.keys() == docs.keys()
    for key, doc in docs.items():
        facts = dict(samples[key].metadata)
        clips, attempts = facts.pop("clips"), facts.pop("attempts")
        assert facts == doc.specific
        assert [clip["sha256"] for clip in clips] == [request.sha256 for request in doc.images.requests]
        assert samples[key].input == doc.query
        assert [(attempt["text"], attempt["budget_tokens"]) for attempt in attempts] == [
            (samples[key].output.completion, 2048)
        ]


@pytest.mark.parametrize("stop_reason", ["max_tokens", "model_length", "content_filter"])
def test_a_generation_that_did_not_end_by_itself_is_wrong(evaluate, stop_reason):
    log, _ = evaluate(egogears_single(), stop_reason=stop_reason, limit=2)
    metrics = metrics_of(log)
    assert (metrics["exact_set"]["mean"], metrics["answered"]["mean"]) == (0, 0)
    assert len(log.samples) == 2
    explanation = {score.explanation for sample in log.samples for score in sample.scores.values()}
    assert explanation == {"abnormal_stop" if stop_reason == "content_filter" else "truncated"}


def test_a_clip_that_cannot_be_read_is_a_zero_and_not_the_end(evaluate, tmp_path):
    task = egogears_single()
    broken = tmp_path / "broken.mp4"
    broken.write_bytes(b"no video")
    clip = task.dataset[0].metadata["clips"][0]
    clip.update(path=str(broken), sha256="0" * 64)
    log, api = evaluate(task)
    assert metrics_of(log)["exact_set"]["mean"] == pytest.approx(1 - 1 / len(log.samples))
    assert len(api.asked) == len(log.samples) - 1
    (bad,) = [sample for sample in log.samples if sample.id == task.dataset[0].id]
    assert str(broken) in bad.output.error


def test_kappa_of_nothing_is_not_a_number():
    assert math.isnan(kappa()([]))


def test_data_uris_hold_the_bytes():
    assert data_uri(b"\xff\xd8\xff") == "data:image/jpeg;base64,/9j/"


def test_a_probe_asked_twice_scores_its_first_answers_and_keeps_all(sample_folder, tmp_path, monkeypatch):
    monkeypatch.setenv("EGOGEARS_DATA", str(sample_folder / "egogears"))
    model = get_model("egobench_test_oracle/m", forgets=True, memoize=False)
    task = egogears_multi(probe="reordered", repeats=2, temperature=0.7)
    inspect_ai.eval(task, model=model, log_dir=str(tmp_path), display="none", limit=3, max_samples=1)
    (path,) = tmp_path.glob("*.eval")
    log = read_eval_log(str(path))
    assert log.eval.metadata["probe"] == "reordered" and metrics_of(log)["exact_set"]["mean"] == 1
    assert all(sample.metadata["probe_did"].startswith("clips of the dataset in the order") for sample in log.samples)
    assert {config.temperature for _, config in model.api.asked} == {0.7}
    (run,) = find_inspect_runs(tmp_path)
    assert run.tasks == () and [(task.probe, task.config) for task in run.probes] == [("reordered", "multi")]
    responses = list(run.probes[0].responses())
    assert len(responses) == 3
    for response in responses:
        assert [one.text for one in response.repeats] == [response.text, "I forgot."]


def test_repeats_that_could_only_agree_and_unknown_probes_are_refused(sample_folder, monkeypatch):
    monkeypatch.setenv("EGOGEARS_DATA", str(sample_folder / "egogears"))
    with pytest.raises(InputError, match=r"2 repeats at temperature 0 .*: set -T temperature=0\.7"):
        egogears_multi(repeats=2)
    with pytest.raises(InputError, match="no probe 'mirrored'; there are blind,"):
        egogears_multi(probe="mirrored")
