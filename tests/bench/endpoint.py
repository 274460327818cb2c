"""What asking an endpoint costs us: ``python tests/bench/endpoint.py``.

As many questions as the benchmark has, over a few small clips, against a server that answers at once.
Everything but the model is real: dataset rows, prompts, frames out of a warm store, JPEG data URIs, requests
over a socket, the journal. Prints our own CPU time a question and the memory at concurrency 32, after the first 500
questions and after all; ends with 1 where one is over its limit, or memory has grown by more than a tenth between.
"""

import argparse
import asyncio
import hashlib
import json
import multiprocessing
import os
import random
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import av
import numpy as np
import psutil

OPTIONS = ("bridge", "church", "fountain", "tunnel")
CPU_LIMIT_S, MEMORY_LIMIT_MB = 0.030, 500
N_QUESTIONS, N_FIRST, CONCURRENCY = 2054, 500, 32
MEMORY_GROWTH_LIMIT = 1.10
N_CLIPS, CLIP_S, SIZE_PX, CELL_PX = 12, 6, (480, 270), 15


def serve(connection) -> None:
    """A server that answers every request at once, in a process of its own."""
    reply = {
        "choices": [{"message": {"content": '{"answer": ["A"]}'}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 9},
    }

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            size = int(self.headers["Content-Length"])
            self.rfile.read(size)
            body = json.dumps({**reply, "usage": {"prompt_tokens": size, "completion_tokens": 9}}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    connection.send(server.server_port)
    server.serve_forever()


def write_clips(folder: Path) -> list[tuple[Path, str]]:
    """Clips with noise in them, so that their JPEGs are as large as real frames' (about 25 kB)."""
    width, height = SIZE_PX
    clips = []
    for index in range(N_CLIPS):
        path, noise = folder / f"{index}.mp4", np.random.default_rng(index)
        with av.open(str(path), "w") as container:
            stream = container.add_stream("libx264", rate=12, options={"preset": "ultrafast", "crf": "18"})
            stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
            for _ in range(12 * CLIP_S):
                coarse = noise.integers(0, 255, (height // CELL_PX, width // CELL_PX, 3), np.uint8)
                pixels = np.kron(coarse, np.ones((CELL_PX, CELL_PX, 1), np.uint8))
                container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
            container.mux(stream.encode())
        clips.append((path, hashlib.sha256(path.read_bytes()).hexdigest()))
    return clips


def make_rows(clips: list[tuple[Path, str]], n_questions: int) -> list[dict]:
    """Rows of the multi config, 1 to 6 clips each."""
    draw = random.Random(0)
    rows = []
    for index in range(n_questions):
        chosen = draw.choices(clips, k=draw.randint(1, 6))
        rows.append(
            {
                "question_id": f"bench-{index:05d}",
                "question": f"In which order are the landmarks of walk {index} passed?",
                "options": [f"the {place} first, then all of the others in turn" for place in OPTIONS],
                "answer": ["A", "C"],
                "unit": "cross_video",
                "question_type": "order",
                "videos": [{"bytes": None, "path": str(path)} for path, _ in chosen],
                "clip_duration_s": [float(CLIP_S)] * len(chosen),
                "clip_sha256": [sha256 for _, sha256 in chosen],
                "clip_labels": [f"CLIP_{number}" for number in range(1, len(chosen) + 1)],
            }
        )
    return rows


def watch_memory(peak: list[float], stop: threading.Event) -> None:
    """Keep the largest resident size seen, in MB."""
    process = psutil.Process()
    while not stop.wait(0.05):
        peak[0] = max(peak[0], process.memory_info().rss / 1e6)


def measure(folder: Path, n_questions: int, n_first: int, concurrency: int) -> tuple[float, float, float]:
    """Return (CPU seconds a question, peak resident MB, memory at the end over memory after the first questions)."""
    from egobench_tasks.asking.choice import show_choice
    from egobench_tasks.asking.prompts import load_choice_templates
    from egobench_tasks.benchmarks import EGOGEARS
    from egobench_tasks.hosts.endpoint.questions import EndpointAnswers, EndpointQuestion
    from egobench_tasks.hosts.endpoint.settings import EndpointSettings

    receiver, sender = multiprocessing.Pipe(duplex=False)
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(sender,), daemon=True)
    server.start()
    settings = EndpointSettings(
        base_url=f"http://127.0.0.1:{receiver.recv()}/v1", model="bench", concurrency=concurrency
    )
    rows, templates = make_rows(write_clips(folder), n_questions), load_choice_templates()

    def question(row: dict) -> EndpointQuestion:
        shown = show_choice(row, templates, EGOGEARS.frames_per_question, EGOGEARS.min_frames_per_clip)
        return EndpointQuestion(
            row["question_id"], "egogears:multi|0", shown.readable(), shown.segments, shown.frames, 2048
        )

    for row in rows:  # a warm store
        question(row).frames.clips()
    before_mb = psutil.Process().memory_info().rss / 1e6
    peak, stop = [before_mb], threading.Event()
    watcher = threading.Thread(target=watch_memory, args=(peak, stop))
    watcher.start()
    cpu_s, wall_s = time.process_time(), time.perf_counter()
    questions = [question(row) for row in rows]
    answers = EndpointAnswers(settings)
    unanswered = asyncio.run(answers.ask(questions[:n_first]))
    first_mb = psutil.Process().memory_info().rss / 1e6
    unanswered += asyncio.run(answers.ask(questions))
    last_mb = psutil.Process().memory_info().rss / 1e6
    cpu_s, wall_s = time.process_time() - cpu_s, time.perf_counter() - wall_s
    stop.set()
    watcher.join()
    server.terminate()
    kept = [answers.find(item) for item in questions]
    assert not unanswered and all(kept)
    n_bytes = sum(answer.n_prompt_tokens for answer in kept) / n_questions  # the server counts bytes as tokens
    print(f"{n_questions} questions in {wall_s:.0f} s, {n_bytes / 1e6:.2f} MB a request")
    print(f"CPU time       {1000 * cpu_s / n_questions:.1f} ms a question (limit {1000 * CPU_LIMIT_S:.0f})")
    print(
        f"memory         {peak[0]:.0f} MB at most, {before_mb:.0f} before the first question (limit {MEMORY_LIMIT_MB})"
    )
    print(f"               {first_mb:.0f} MB after {min(n_first, n_questions)} questions, {last_mb:.0f} after all")
    return cpu_s / n_questions, peak[0], last_mb / first_mb


def main() -> int:
    """Measure, and compare with the limits."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--questions", type=int, default=N_QUESTIONS)
    parser.add_argument("--first", type=int, default=N_FIRST, help="after how many memory is looked at first")
    parser.add_argument("--concurrency", type=int, default=CONCURRENCY)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(EGOBENCH_CACHE=f"{folder}/cache", EGOBENCH_JOURNAL=f"{folder}/journal")
        cpu_s, peak_mb, growth = measure(Path(folder), arguments.questions, arguments.first, arguments.concurrency)
    return int(cpu_s > CPU_LIMIT_S or peak_mb > MEMORY_LIMIT_MB or growth > MEMORY_GROWTH_LIMIT)


if __name__ == "__main__":
    sys.exit(main())
