"""Two hundred awkward replies, one scripted server, every host: the same messages, attempts and scores."""

import asyncio
import dataclasses
import json
import re
from collections import defaultdict
from pathlib import Path

import pytest

from egobench_tasks.asking.messages import from_record, jpeg_parts
from egobench_tasks.benchmarks import EGOGEARS
from egobench_tasks.runs.journal import UNANSWERED, Journal, journal_root

pytestmark = pytest.mark.slow

N_REPLIES = 200
CAP_TOKENS = 4096
SCORES = ("exact_set", "jaccard", "overlap", "wellformed", "answered")
CASES = json.loads((Path(__file__).parents[2] / "scoring" / "cases" / "reading.json").read_text())
A, AC = '{"answer": ["A"]}', 'So: {"answer": "a; (C"}'


@dataclasses.dataclass(frozen=True)
class Awkward:
    """What the service replies to a request with a budget, the n-th of its question; and what a model says itself.

    ``local`` is the text of a model that runs in process, None where only a service can reply so.
    ``cut_below``: budgets below it cut the reply. ``refused_above``: larger budgets are refused.
    """

    message: dict
    finish_reason: str | None = "stop"
    local: str | None = None
    failures: int = 0
    cut_below: int = 0
    refused_above: int = CAP_TOKENS


def awkward_replies():
    """`N_REPLIES` of them: all cases of the parser, and what services make of content, reasoning and endings."""
    replies = [
        Awkward(
            {"content": case["raw"]},
            case["finish_reason"] or None,
            local=case["raw"] if case["finish_reason"] == "stop" else None,
        )
        for case in CASES
    ]
    for text in (A, AC, "no idea", "", '{"answer": ["Z"]}', f"{A}<think>was that right?</think>", f"<think>{A}"):
        # Reasoning that a service splits off is joined to nothing; in one text, a thought left open would be closed.
        thought = None if text.startswith("<think>") else f"<think>perhaps {AC}</think>{text}"
        parts = [{"type": "text", "text": text[:5]}, {"type": "text", "text": text[5:]}]
        thinking = {"type": "thinking", "thinking": [{"type": "text", "text": f"perhaps {AC}"}]}
        replies += [
            Awkward({"content": text, "reasoning_content": f"perhaps {AC}"}, local=thought),
            Awkward({"content": text, "reasoning": f"perhaps {AC}"}, local=thought),
            Awkward({"content": parts}, local=text),
            Awkward({"content": [thinking, *parts]}, local=thought),
            Awkward({"content": parts}, "eos_token"),
            Awkward({"content": text}, None, failures=1),
            Awkward({"content": text}, "content_filter"),
            Awkward({"content": text}, cut_below=4096, local=text),
            Awkward({"content": text}, cut_below=2 * CAP_TOKENS, local=text),
            Awkward({"content": text}, cut_below=8192, refused_above=2048),
        ]
    replies += [Awkward({"content": None, "reasoning_content": A}), Awkward({"content": None})]
    replies += [Awkward({"content": A}, reason) for reason in ("abort", "error", "cancelled", "SAFETY", "END_TURN")]
    more = [
        Awkward({"content": f"<think>{n}</think>" + A * (n % 3)}, local=f"<think>{n}</think>" + A * (n % 3))
        for n in range(N_REPLIES)
    ]
    return [*replies, *more][:N_REPLIES]


def number_of(text):
    return int(re.search(r"question number (\d+)", text)[1])


@pytest.fixture
def replies(server, monkeypatch):
    """The replies, and the server that gives them; repeats and budgets as the endpoint's settings have them."""
    from egobench_tasks.hosts.inspect import attempts
    from egobench_tasks.hosts.lighteval import vlm

    monkeypatch.setattr(attempts, "MAX_REPEATS", 2)
    for host in (vlm, attempts):
        monkeypatch.setattr(host, "EGOGEARS", dataclasses.replace(EGOGEARS, max_new_tokens_cap=CAP_TOKENS))
    awkward = awkward_replies()

    def script(request, n):
        reply = awkward[number_of(str(server.parts_of(request)))]
        if request["max_tokens"] > reply.refused_above:
            return server.say({"error": {"message": "too many tokens"}}, status=400)
        if n <= reply.failures:
            return server.say(server.completion("half an", "error"))
        cut = request["max_tokens"] < reply.cut_below
        return server.say(server.completion(finish_reason="length" if cut else reply.finish_reason, **reply.message))

    server.script = script
    return awkward


@pytest.fixture
def shown(sample_folder):
    """As many questions as replies, over the sample's clips: few frames each, for speed."""
    from egobench_tasks.asking.choice import show_choice
    from egobench_tasks.asking.prompts import load_choice_templates
    from egobench_tasks.data import DatasetLocation, load_rows

    rows = [
        row
        for config in ("single", "multi")
        for row in load_rows(DatasetLocation(str(sample_folder / "egogears")), config)
    ]
    templates = load_choice_templates()

    def question(number):
        row = rows[number % len(rows)]
        asked = {**row, "question_id": f"q{number:03}", "question": f"{row['question']} (question number {number})"}
        return show_choice(asked, templates, n_frames=3, min_frames=1)

    return [question(number) for number in range(N_REPLIES)]


@pytest.fixture
def docs(shown):
    from egobench_tasks.hosts.lighteval.docs import _choice_doc

    made = [_choice_doc(question) for question in shown]
    for doc in made:
        doc.task_name, doc.generation_size = "egogears:multi|0", EGOGEARS.max_new_tokens
    return made


def journalled(before):
    """What the newest journal holds: (budget, finish reason, text, reasoning) of each question's attempts."""
    (folder,) = set(journal_root().iterdir()) - before
    found = defaultdict(list)
    for answer in sorted(Journal(folder).answers().values(), key=lambda answer: answer.budget_tokens):
        attempt = (answer.budget_tokens, answer.finish_reason, answer.text, answer.reasoning)
        found[number_of(answer.prompt)].append(attempt)
    return dict(found)


def folders():
    return set(journal_root().iterdir()) if journal_root().exists() else set()


def scores_of(docs, responses):
    from egobench_tasks.hosts.lighteval.metrics import ChoiceScores

    computed = [ChoiceScores().compute(doc, response) for doc, response in zip(docs, responses, strict=True)]
    return [tuple(scores[name] for name in SCORES) for scores in computed]


def sent_to(server):
    """What was asked since the last call: (question, budget, message), the sight check aside."""
    sent = [
        (number_of(str(server.parts_of(request))), request["max_tokens"], server.parts_of(request))
        for request in server.asked
    ]
    server.requests.clear()
    return sorted(sent, key=lambda item: item[:2])


def by_lighteval_endpoint(settings, docs):
    from egobench_tasks.hosts.lighteval.endpoint import EndpointModel

    before = folders()
    responses = asyncio.run(EndpointModel(settings(model="first", max_tokens_cap=CAP_TOKENS)).greedy_until(docs))
    return scores_of(docs, responses), journalled(before)


def by_endpoint_host(settings, docs):
    from egobench_tasks.hosts.endpoint.questions import EndpointAnswers
    from egobench_tasks.hosts.lighteval.endpoint import endpoint_question
    from egobench_tasks.hosts.lighteval.generation import generation, no_generation

    before, questions = folders(), [endpoint_question(doc) for doc in docs]
    answers = EndpointAnswers(settings(model="second", max_tokens_cap=CAP_TOKENS, concurrency=2))
    asyncio.run(answers.ask(questions))
    found = [answers.find(question) for question in questions]
    responses = [
        no_generation("", "request_failed") if answer is None else generation(answer, thinking=False)
        for answer in found
    ]
    return scores_of(docs, responses), journalled(before)


def by_inspect(server, shown, tmp_path):
    import inspect_ai
    from inspect_ai.dataset import MemoryDataset
    from inspect_ai.model import get_model

    from egobench_tasks.hosts.inspect.tasks import _choice_sample, egogears_multi

    task = egogears_multi()
    task.dataset = MemoryDataset([_choice_sample(question) for question in shown])
    model = get_model("openai-api/test/m", base_url=server.url, api_key="none")
    (log,) = inspect_ai.eval(task, model=model, log_dir=str(tmp_path / "logs"), display="none", max_samples=4)
    assert log.status == "success", log.error
    samples = sorted(log.samples, key=lambda sample: sample.id)
    scores = [tuple(only.value[name] for name in SCORES) for sample in samples for only in sample.scores.values()]
    attempts = {
        number: kept
        for number, sample in enumerate(samples)
        if (
            kept := [
                (attempt["budget_tokens"], attempt["finish_reason"], attempt["text"], attempt["reasoning"])
                for attempt in sample.metadata["attempts"]
                if attempt["finish_reason"] not in UNANSWERED
            ]
        )
    }
    return scores, attempts


def by_transformers(vlm, docs, awkward):
    """Our lighteval class, its model made to say what the local replies say."""
    import torch

    model = vlm(generation_size=None, batch_size=8)
    tokenizer = model.tokenizer
    model._stop_ids = [tokenizer.eos_token_id]

    def generate(input_ids, max_new_tokens, **_):
        said = [tokens_of(awkward[number_of(text)], max_new_tokens) for text in tokenizer.batch_decode(input_ids)]
        padded = [tokens + [tokenizer.pad_token_id] * (max(map(len, said)) - len(tokens)) for tokens in said]
        return torch.cat([input_ids, torch.tensor(padded)], dim=1)

    def tokens_of(reply, budget_tokens):
        tokens = tokenizer(reply.local, add_special_tokens=False).input_ids
        if budget_tokens < reply.cut_below:
            return tokens + tokenizer("." * (budget_tokens - len(tokens)), add_special_tokens=False).input_ids
        return [*tokens, tokenizer.eos_token_id]

    model.model.generate = generate
    before = folders()
    responses = model.greedy_until(docs)
    return scores_of(docs, responses), journalled(before)


def test_the_same_messages_attempts_and_scores(
    replies, server, settings, shown, docs, vlm, sample_folder, tmp_path, monkeypatch
):
    monkeypatch.setenv("EGOGEARS_DATA", str(sample_folder / "egogears"))
    scores, attempts = by_lighteval_endpoint(settings, docs)
    sent = sent_to(server)
    messages = [jpeg_parts(from_record(doc.specific["segments"]), doc.images) for doc in docs]
    assert all(parts == messages[number] for number, _, parts in sent)
    assert {number for number, _, _ in sent} == set(range(N_REPLIES))

    assert by_endpoint_host(settings, docs) == (scores, attempts)
    assert sent_to(server) == sent

    assert by_inspect(server, shown, tmp_path) == (scores, attempts)
    assert sent_to(server) == sent

    local = [number for number, reply in enumerate(replies) if reply.local is not None]
    assert len(local) > N_REPLIES / 2
    local_scores, local_attempts = by_transformers(vlm, [docs[number] for number in local], replies)
    assert local_scores == [scores[number] for number in local]

    def budgets(kept):
        return {number: [attempt[:2] for attempt in kept[number]] for number in local if number in kept}

    # No content beside reasoning is a service's doing, and asked again; a model in process just said so.
    unanswered = set(local) - attempts.keys()
    assert {n: b for n, b in budgets(local_attempts).items() if n not in unanswered} == budgets(attempts)
    answered = sum(score[-1] for score in scores)
    assert N_REPLIES / 4 < answered < N_REPLIES * 3 / 4
