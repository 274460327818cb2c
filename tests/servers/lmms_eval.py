"""lmms-eval asks an export, and its samples are scored: ``python tests/servers/lmms_eval.py --lmms-eval PYTHON``.

Renders the sample, exports it, and lets lmms-eval, from an environment of its own, ask a scripted server all questions.
Every message that comes in is compared with what was exported: the texts, and how many pictures stand between them. The
oracle of the script gives the right letters, so that `egobench score` must find 1.0. Ends with 1 where it does not.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

BIN = Path(sys.executable).parent


def shape_of(content):
    """A message's texts, and an "image" for each picture, in order."""
    return [part.get("text", part.get("value")) if part["type"] == "text" else "image" for part in content]


def serve(answers, seen):
    """A server on loopback that answers each message by its text; what it was asked is added to ``seen``."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *arguments):
            pass

        def do_POST(self):
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            shape = shape_of(request["messages"][-1]["content"])
            seen.append(shape)
            text = answers["".join(part for part in shape if part != "image")]
            choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
            body = {"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
            body["usage"] = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
            data = json.dumps(body).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def right_answers(egogears, rows):
    """The right letters as shown, by the words of each exported message."""
    from egobench_tasks.asking.options import shuffle_options
    from egobench_tasks.asking.questions import choice_question
    from egobench_tasks.data import DatasetLocation, load_rows

    location = DatasetLocation(str(egogears))
    questions = [choice_question(row) for config in ("single", "multi") for row in load_rows(location, config)]
    shown = {}
    for question in questions:
        letters = shuffle_options(question.question_id, question.letters)
        right = [letter for letter, original in letters.items() if original in question.answer]
        shown[question.question_id] = json.dumps({"answer": right})
    return {
        "".join(part["value"] for part in row["content"] if part["type"] == "text"): shown[row["question_id"]]
        for row in rows
    }


def main() -> int:
    """Export, ask, score, print what came."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lmms-eval", default=".lmms-eval/bin/python", help="Python of lmms-eval's environment")
    parser.add_argument("--questions", type=int, default=32)
    arguments = parser.parse_args()
    python = str(Path(arguments.lmms_eval).absolute())
    from dataset_scripts.egogears.build import build_egogears
    from dataset_scripts.sample.release import write_sample_release

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_sample_release(folder / "raw", questions=arguments.questions)
        build_egogears(folder / "raw", folder / "egogears")
        environment = {
            **os.environ,
            "HF_HUB_OFFLINE": "1",
            "HF_HOME": str(folder / "hf"),
            "EGOBENCH_CACHE": str(folder / "cache"),
            "OPENAI_API_KEY": "none",
        }
        exported = [str(BIN / "egobench"), "export", "./egogears", "--format", "lmms-eval", "--out", "export"]
        subprocess.run(exported, cwd=folder, env=environment, check=True)
        rows = [json.loads(line) for path in sorted((folder / "export").glob("*.jsonl")) for line in path.open()]
        seen: list[list[str]] = []
        server = serve(right_answers(folder / "egogears", rows), seen)
        (task,) = (folder / "export").glob("*.yaml")
        address = f"http://127.0.0.1:{server.server_port}/v1"
        asked = [python, "-m", "lmms_eval", "--model", "async_openai", "--tasks", task.stem, "--include_path", "export"]
        asked += ["--model_args", f"model_version=m,base_url={address},api_key=none,num_cpus=8", "--batch_size", "1"]
        subprocess.run([*asked, "--output_path", "lmms", "--log_samples"], cwd=folder, env=environment, check=True)
        samples = [str(path) for path in (folder / "lmms").rglob("*samples_*.jsonl")]
        scored = [str(BIN / "egobench"), "score", *samples, "--export", "export", "--output-dir", "run", "--model", "m"]
        done = subprocess.run(scored, cwd=folder, env=environment, check=False)
        results = [json.loads(path.read_text())["results"] for path in (folder / "run").rglob("results_*.json")]
    as_exported = sorted(map(str, seen)) == sorted(str(shape_of(row["content"])) for row in rows)
    exact = {task: found["exact_set"] for task, found in results[0].items() if task != "all"} if results else {}
    print(f"{len(seen)} questions asked by lmms-eval, in the order exported: {as_exported}; exact_set {exact}")
    return int(done.returncode != 0 or not as_exported or set(exact.values()) != {1.0})


if __name__ == "__main__":
    sys.exit(main())
