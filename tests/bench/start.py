"""Seconds until commands say something, in fresh processes: help, refusals, a run's first line and first request.

python tests/bench/start.py [REPEATS]

An endpoint's run asks a server of this process's own; ``EGOGEARS_DATA`` names its dataset, else the sample is made.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

MISTYPED = "models: [{transformers: {model_name: x}}]\ntsks: egogears\noutput: out\n"
_N_IMAGE_TOKENS, _N_TEXT_TOKENS = 100, 50


class Server(ThreadingHTTPServer):
    """Sees every image and always answers A. ``first_s``: when it was asked anything, by `time.monotonic`;
    ``question_s``: when it was asked the first question of the benchmark, after the look at the model's sight."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.forget()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def forget(self):
        self.first_s = self.question_s = None


class Handler(BaseHTTPRequestHandler):
    """Notes the time, and answers."""

    def do_GET(self):
        self._note(is_question=False)
        self._send(404, {})

    def do_POST(self):
        content = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["messages"][0]["content"]
        n_images = sum(part["type"] == "image_url" for part in content)
        self._note(is_question=n_images > 1)
        n_tokens = _N_TEXT_TOKENS + n_images * _N_IMAGE_TOKENS
        usage = {"prompt_tokens": n_tokens, "completion_tokens": 9, "total_tokens": n_tokens + 9}
        message = {"role": "assistant", "content": '{"answer": ["A"]}'}
        choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
        head = {"id": "1", "object": "chat.completion", "created": 0, "model": "m"}
        self._send(200, {**head, "choices": choices, "usage": usage})

    def _note(self, *, is_question):
        now_s = time.monotonic()
        self.server.first_s = self.server.first_s or now_s
        if is_question:
            self.server.question_s = self.server.question_s or now_s

    def _send(self, status, body):
        encoded = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(encoded)))
        self.end_headers()
        self.wfile.write(encoded)

    def log_message(self, *arguments):
        """Nothing: standard error is for the measurements."""


def cpu_s():
    """Of all processes of ours that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def seconds(command, folder, environment):
    """When a command was begun (by `time.monotonic`), seconds to its first line and its end, of CPU; its exit code."""
    begun_s, cpu_before_s = time.monotonic(), cpu_s()
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    process.stdout.readline()
    first_s = time.monotonic() - begun_s
    process.stdout.read()
    process.wait()
    return begun_s, (first_s, time.monotonic() - begun_s, cpu_s() - cpu_before_s), process.returncode


def measure_refusals(egobench, folder, n_repeats):
    """Print the medians of what asks nothing."""
    (folder / "night.yaml").write_text(MISTYPED)
    commands = {
        "egobench --help": ["--help"],
        "a misspelt key in a run's file": ["run", "night.yaml"],
        "a mistyped task": ["run", "transformers", "model_name=x", "egogear"],
    }
    for name, arguments in commands.items():
        seconds([egobench, *arguments], folder, None)  # its files are in memory after this
        measured = [seconds([egobench, *arguments], folder, None)[1] for _ in range(n_repeats)]
        first, end, cpu = (statistics.median(column) for column in zip(*measured, strict=True))
        print(f"{name:32} first line {first:5.2f} s, end {end:5.2f} s, CPU {cpu:5.2f} s")


def measure_endpoint(egobench, folder, n_repeats):
    """Print the medians of a run of an endpoint, each with a journal and a folder of its own."""
    if not os.environ.get("EGOGEARS_DATA"):
        subprocess.run([egobench, "sample", str(folder / "sample")], check=True, capture_output=True)
    data = os.environ.get("EGOGEARS_DATA") or str(folder / "sample" / "egogears")
    server = Server()
    (folder / "served.yaml").write_text(f"base_url: http://127.0.0.1:{server.server_port}/v1\nmodel: m\n")
    measured = []
    for number in range(n_repeats + 1):  # the first one brings files into memory, and frames into the store
        server.forget()
        environment = {**os.environ, "EGOGEARS_DATA": data, "EGOBENCH_JOURNAL": str(folder / f"journal{number}")}
        command = [egobench, "run", "endpoint", "served.yaml", "egogears:single", "--output-dir", f"out{number}"]
        begun_s, (first_s, end_s, used_s), code = seconds(command, folder, environment)
        if code or server.question_s is None:
            sys.exit(f"{' '.join(command)}: ended with exit code {code}, or asked nothing")
        if number:
            measured.append((first_s, server.first_s - begun_s, server.question_s - begun_s, end_s, used_s))
    first, request, question, end, used = (statistics.median(column) for column in zip(*measured, strict=True))
    print(
        f"{'an endpoint run':32} first line {first:5.2f} s, first request {request:5.2f} s, "
        f"first question {question:5.2f} s, end {end:5.2f} s, CPU {used:5.2f} s"
    )


def main():
    n_repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    egobench = str(Path(sys.executable).parent / "egobench")
    with tempfile.TemporaryDirectory() as name:
        print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; medians of {n_repeats}")
        measure_refusals(egobench, Path(name), n_repeats)
        measure_endpoint(egobench, Path(name), n_repeats)
        print(f"load at the end {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
