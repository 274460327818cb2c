"""A real server answers the sample through the endpoint host: ``python tests/servers/real.py transformers|vllm``.

Renders the sample, makes the tiny LLaVA, serves it, and runs `egobench run endpoint` on it as a user does. Ends with 1
where a question stays unanswered. ``vllm`` needs the program of that name from an environment of its own, which
``vllm.sh`` beside this file makes, and a processor with AVX2; its weights are dummies, since names differ.
"""

import argparse
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

BIN = Path(sys.executable).parent
N_QUESTIONS, N_TOKENS, READY_S = 32, 12, 600


def command_of(kind: str, model: Path, port: int, vllm: str) -> list[str]:
    """The server's command line."""
    if kind == "transformers":
        return [
            str(BIN / "transformers"),
            "serve",
            str(model),
            "--device",
            "cpu",
            "--host",
            "127.0.0.1",
            "--port",
            str(port),
        ]
    options = "--load-format dummy --dtype float32 --enforce-eager --max-model-len 16384 --host 127.0.0.1"
    limits = ["--limit-mm-per-prompt", json.dumps({"image": 64})]
    return [vllm, "serve", str(model), *options.split(), *limits, "--port", str(port)]


def make_model(kind: str, folder: Path) -> Path:
    """The tiny LLaVA; vLLM refuses attention heads of fewer than 64 numbers."""
    from dataset_scripts.sample.tiny_vlm import write_tiny_llava

    model = write_tiny_llava(folder / "tiny-llava")
    if kind == "vllm":
        config = json.loads((model / "config.json").read_text())
        config["text_config"]["head_dim"] = 64
        (model / "config.json").write_text(json.dumps(config))
    return model


def wait_until_ready(process: subprocess.Popen, port: int, log: Path) -> float:
    """Wait for the server's health and return the seconds that took."""
    started_s = time.monotonic()
    while process.poll() is None and time.monotonic() - started_s < READY_S:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=2):
                return time.monotonic() - started_s
        except OSError:
            time.sleep(0.5)
    sys.exit(f"the server did not start:\n{log.read_text()[-4000:]}")


def main() -> int:
    """Serve, ask, print what came."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kind", choices=["transformers", "vllm"])
    parser.add_argument("--vllm", default="vllm", help="the program, in an environment of its own")
    parser.add_argument("--questions", type=int, default=N_QUESTIONS)
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the server ends too
    from dataset_scripts.egogears.build import build_egogears
    from dataset_scripts.sample.release import write_sample_release

    with tempfile.TemporaryDirectory() as name, socket.socket() as free:
        folder = Path(name)
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        write_sample_release(folder / "raw", questions=arguments.questions)
        build_egogears(folder / "raw", folder / "egogears")
        model, log = make_model(arguments.kind, folder), folder / "server.txt"
        settings = {
            "base_url": f"http://127.0.0.1:{port}/v1",
            "model": str(model),
            "max_tokens": N_TOKENS,
            "max_tokens_cap": N_TOKENS,
            "concurrency": "auto",
        }
        (folder / "endpoint.yaml").write_text(json.dumps(settings))
        environment = {
            **os.environ,
            "HF_HUB_OFFLINE": "1",
            "VLLM_CPU_KVCACHE_SPACE": "1",
            "EGOGEARS_DATA": str(folder / "egogears"),
            "EGOBENCH_CACHE": str(folder / "cache"),
        }
        with log.open("w") as output:
            command = command_of(arguments.kind, model, port, arguments.vllm)
            server = subprocess.Popen(command, stdout=output, stderr=output, env=environment)
            try:
                print(f"{arguments.kind}: ready in {wait_until_ready(server, port, log):.0f} s", flush=True)
                started_s = time.monotonic()
                run = [str(BIN / "egobench"), "run", "endpoint", "endpoint.yaml", "egogears"]
                done = subprocess.run([*run, "--output-dir", "out"], cwd=folder, env=environment, check=False)
                print(f"{arguments.questions} questions in {time.monotonic() - started_s:.0f} s, start-up included")
            finally:
                server.terminate()
                server.wait(30)
        answers = [json.loads(line) for path in folder.rglob("journal/*/*.jsonl") for line in path.open()]
        n_tokens = sorted(answer["n_prompt_tokens"] for answer in answers)
        ends = {answer["finish_reason"] for answer in answers}
        print(f"{len(answers)} answers, {n_tokens[0]:,} to {n_tokens[-1]:,} prompt tokens, ended by {sorted(ends)}")
        return int(done.returncode != 0 or len(answers) != arguments.questions)


if __name__ == "__main__":
    sys.exit(main())
