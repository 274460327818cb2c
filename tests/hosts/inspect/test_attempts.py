"""Inspect's models are asked and read as every other host's: budgets grow, and what the API sent is what counts."""

import inspect_ai
import pytest
from inspect_ai.log import read_eval_log
from inspect_ai.model import ContentReasoning, ContentText, ModelAPI, ModelCall, ModelOutput, get_model, modelapi

from egobench_tasks.hosts.inspect.attempts import Attempt, counted_attempt
from egobench_tasks.hosts.inspect.tasks import egogears_single
from egobench_tasks.hosts.inspect.tasks import egotempo as egotempo_task

DRAFT = '{"answer": ["A"]}'


@modelapi("egobench_test_script")
class Scripted(ModelAPI):
    """Says what ``script(budget)`` returns: an output, with the raw response if there is one, or raises it."""

    def __init__(self, model_name, base_url=None, api_key=None, config=None, script=None, **arguments):
        super().__init__(model_name, base_url, api_key, **({"config": config} if config else {}))
        self.script, self.budgets = script, []

    async def generate(self, input, tools, tool_choice, config):
        self.budgets.append(config.max_tokens)
        said = self.script(config.max_tokens)
        if isinstance(said, Exception):
            raise said
        output, response = said if isinstance(said, tuple) else (said, None)
        call = ModelCall.create({}, None)
        if response is not None:
            call.set_response(response)
        return output, call


def output(content, stop_reason="stop"):
    return ModelOutput.from_content("m", content, stop_reason)


def response(content, finish_reason="stop", **message):
    return {"choices": [{"message": {"content": content, **message}, "finish_reason": finish_reason}]}


@pytest.fixture
def evaluate(sample_folder, egotempo, tmp_path, monkeypatch):
    """``evaluate(script, task=…, …)``: one sample of a task as logged, and the budgets that the model was given."""
    monkeypatch.setenv("EGOGEARS_DATA", str(sample_folder / "egogears"))
    monkeypatch.setenv("EGOTEMPO_DATA", str(egotempo.folder))

    def run(script, task=egogears_single, **options):
        model = get_model("egobench_test_script/m", script=script, memoize=False)
        (log,) = inspect_ai.eval(
            task(), model=model, log_dir=str(tmp_path / "logs"), display="none", limit=1, **options
        )
        assert log.status == "success", log.error
        (sample,) = read_eval_log(log.location).samples
        return sample, model.api.budgets

    return run


def only_score(sample):
    (score,) = sample.scores.values()
    return score


@pytest.mark.parametrize("task", [egogears_single, lambda: egotempo_task(setting="text")], ids=["egogears", "egotempo"])
def test_reasoning_that_inspect_cut_out_of_the_text_is_read_where_it_stood(evaluate, task):
    """Nothing follows the last closing mark: no answer, in Inspect as elsewhere."""
    raw = f"{DRAFT}<think>was that right?</think>"
    cut = output([ContentReasoning(reasoning="was that right?"), ContentText(text=DRAFT)])
    sample, _ = evaluate(lambda budget: (cut, response(raw)), task)
    assert only_score(sample).value["answered"] == 0
    assert sample.metadata["attempts"][-1]["text"] == ""


def test_reasoning_that_the_api_gave_apart_is_the_trace(evaluate):
    said = [ContentReasoning(reasoning="because"), ContentText(text=DRAFT)]
    sample, _ = evaluate(lambda budget: output(said), reasoning_effort="high")
    (attempt,) = sample.metadata["attempts"]
    assert (attempt["text"], attempt["reasoning"], attempt["thinking"]) == (DRAFT, "because", True)
    assert only_score(sample).metadata == {"no_trace": False}
    sample, _ = evaluate(lambda budget: output(DRAFT), reasoning_effort="high")
    assert only_score(sample).metadata == {"no_trace": True}
    sample, _ = evaluate(lambda budget: output(DRAFT))
    assert only_score(sample).metadata == {"no_trace": False}


def test_a_first_budget_that_the_user_named_grows_and_every_attempt_is_kept(evaluate):
    sample, budgets = evaluate(
        lambda budget: output(DRAFT, "stop") if budget > 2000 else output("cut", "max_tokens"), max_tokens=600
    )
    assert budgets == [600, 1200, 2400]
    assert [(attempt["budget_tokens"], attempt["text"]) for attempt in sample.metadata["attempts"]] == [
        (600, "cut"), (1200, "cut"), (2400, DRAFT),
    ]  # fmt: skip
    assert sample.output.completion == DRAFT and len(sample.messages) == 2


def test_where_a_larger_budget_is_refused_the_smaller_attempt_stands(evaluate):
    def script(budget):
        return RuntimeError("too many tokens") if budget > 2048 else output(DRAFT, "max_tokens")

    sample, budgets = evaluate(script)
    assert budgets == [2048, 4096]
    assert [attempt["finish_reason"] for attempt in sample.metadata["attempts"]] == ["max_tokens"]
    assert (only_score(sample).explanation, sample.output.completion) == ("truncated", DRAFT)


@pytest.mark.parametrize("reason", ["eos_token", "end_turn", "STOP", None])
def test_a_normal_end_that_inspect_does_not_know_is_read(evaluate, reason):
    sample, _ = evaluate(lambda budget: (output(DRAFT, "unknown"), response(DRAFT, reason)))
    assert only_score(sample).value["answered"] == 1


def test_a_services_failure_is_asked_again_then_unanswered(evaluate, monkeypatch):
    from egobench_tasks.servers import pace

    monkeypatch.setattr(pace, "_FIRST_BACKOFF_S", 0.001)
    sample, budgets = evaluate(lambda budget: (output(DRAFT, "unknown"), response(DRAFT, "abort")))
    assert len(budgets) == 6
    assert [attempt["finish_reason"] for attempt in sample.metadata["attempts"]] == ["request_failed"]
    assert only_score(sample).value["answered"] == 0
    assert "abort" in sample.output.error


def test_logs_of_older_versions_are_read_from_their_output():
    assert counted_attempt({}, output(DRAFT, "max_tokens")) == Attempt(DRAFT, "max_tokens")
    assert counted_attempt({}, ModelOutput(model="m")) == Attempt("", "clip_unreadable")


def test_inspect_still_cuts_reasoning_wherever_it_stands():
    """Once it does not, `attempts` need not keep what APIs send."""
    from inspect_ai.model._reasoning import parse_content_with_reasoning

    text, reasoning = parse_content_with_reasoning(f"{DRAFT}<think>was that right?</think>")
    assert (text, reasoning.reasoning) == (DRAFT, "was that right?")
