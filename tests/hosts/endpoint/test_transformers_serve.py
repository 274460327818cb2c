"""One tiny model behind a real server and in process: every host gets the same answers of it."""

import asyncio
import dataclasses
import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from egobench_tasks.hosts.endpoint.settings import EndpointSettings
from egobench_tasks.runs.journal import Journal, journal_root

pytestmark = pytest.mark.slow

N_TOKENS = 12


@pytest.fixture(scope="module")
def served(tiny_llava, tmp_path_factory):
    """``transformers serve`` of the tiny LLaVA: the API's address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = tmp_path_factory.mktemp("serve") / "log.txt"
    command = [str(Path(sys.executable).parent / "transformers"), "serve", str(tiny_llava), "--device", "cpu"]
    with log.open("w") as output:
        process = subprocess.Popen(
            [*command, "--host", "127.0.0.1", "--port", str(port)], stdout=output, stderr=output, env=dict(os.environ)
        )
        try:
            _wait_until_healthy(f"http://127.0.0.1:{port}/health", process, log)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.terminate()
            process.wait(timeout=30)


def _wait_until_healthy(url, process, log):
    for _ in range(600):
        if process.poll() is not None:
            pytest.fail(f"transformers serve ended:\n{log.read_text()[-3000:]}")
        try:
            with urllib.request.urlopen(url, timeout=1):
                return
        except OSError:
            time.sleep(0.2)
    pytest.fail(f"transformers serve does not answer:\n{log.read_text()[-3000:]}")


def test_transformers_endpoint_and_inspect_get_the_same_answers(
    served, tiny_llava, vlm, docs_of, sample_folder, tmp_path, monkeypatch
):
    import inspect_ai
    from inspect_ai.model import get_model

    from egobench_tasks.benchmarks import EGOGEARS
    from egobench_tasks.hosts.inspect import attempts
    from egobench_tasks.hosts.inspect.tasks import egogears_multi, egogears_single
    from egobench_tasks.hosts.lighteval import vlm as transformers_host
    from egobench_tasks.hosts.lighteval.endpoint import EndpointModel

    for host in (transformers_host, attempts):  # one attempt each, so that some are truncated
        monkeypatch.setattr(host, "EGOGEARS", dataclasses.replace(EGOGEARS, max_new_tokens_cap=N_TOKENS))
    monkeypatch.setenv("EGOGEARS_DATA", str(sample_folder / "egogears"))
    docs = docs_of("single")[:1] + docs_of("multi")
    ids = [doc.specific["question_id"] for doc in docs]

    def by_id(responses):
        return {key: (item.finish_reason, item.text[0]) for key, item in zip(ids, responses, strict=True)}

    in_process = by_id(vlm(generation_size=N_TOKENS, batch_size=2).greedy_until(docs))
    settings = EndpointSettings(
        base_url=served, model=str(tiny_llava), max_tokens=N_TOKENS, max_tokens_cap=N_TOKENS, concurrency=2
    )
    endpoint = EndpointModel(settings)
    assert by_id(asyncio.run(endpoint.greedy_until(docs))) == in_process
    assert endpoint.unanswered == []
    counts = [
        {answer.question_id: answer.n_prompt_tokens for answer in Journal(path).answers().values()}
        for path in journal_root().iterdir()
    ]
    assert len(counts) == 2
    assert counts[0] == counts[1]

    logs = inspect_ai.eval(
        [egogears_single(), egogears_multi()],
        model=get_model(f"openai-api/tiny/{tiny_llava}", base_url=served, api_key="none"),
        sample_id=ids, max_tokens=N_TOKENS, max_samples=2, log_dir=str(tmp_path / "logs"), display="none",
    )  # fmt: skip
    samples = [sample for log in logs for sample in log.samples]
    said = {sample.id: sample.metadata["attempts"][-1] for sample in samples}
    by_inspect = {key: (attempt["finish_reason"], attempt["text"]) for key, attempt in said.items()}
    assert by_inspect == in_process
    assert {reason for reason, _ in in_process.values()} == {"length", "stop"}  # both ends occur
