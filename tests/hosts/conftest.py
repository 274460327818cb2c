"""Docs of the sample benchmark, a small EgoTempo with a judge on loopback, the tiny model as our lighteval class, and
real command lines."""

import copy
import json
import os
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import av
import numpy as np
import pytest

from egobench_tasks.benchmarks import EGOTEMPO

VIDEO_S, VIDEO_FPS = 30, 4


@pytest.fixture(scope="session")
def docs_of(sample_folder):
    """``docs_of("multi")``: fresh Docs of the sample, as lighteval makes them."""
    from lighteval.tasks.lighteval_task import LightevalTask

    from egobench_tasks.tasks import TASKS_TABLE

    def make(config):
        # a copy: loading writes the dataset into the config, which other tests look at
        task = LightevalTask(copy.deepcopy(next(task for task in TASKS_TABLE if task.name == f"egogears:{config}")))
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("EGOGEARS_DATA", str(sample_folder / "egogears"))
            LightevalTask.load_datasets({task.name: task})
        return task.get_docs()

    return make


@pytest.fixture
def vlm(tiny_llava, tmp_path, monkeypatch):
    """``vlm(batch_size=2, …)``: our lighteval model over the tiny LLaVA, with a journal of its own."""
    from lighteval.models.transformers.vlm_transformers_model import VLMTransformersModelConfig

    from egobench_tasks.hosts.lighteval.vlm import FrameVLM

    monkeypatch.setenv("EGOBENCH_JOURNAL", str(tmp_path / "journal"))

    def make(**arguments):
        settings = {"model_name": str(tiny_llava), "generation_size": 64, "cache_dir": str(tmp_path / "lighteval")}
        return FrameVLM(VLMTransformersModelConfig(**{**settings, **arguments}))

    return make


@pytest.fixture
def count_generations(monkeypatch):
    """How many questions the model was made to answer."""
    from transformers import LlavaForConditionalGeneration

    counted = []
    stock = LlavaForConditionalGeneration.generate

    def generate(self, **inputs):
        if not inputs.get("output_logits"):  # the look at the model before the first question
            counted.extend(inputs["input_ids"])
        return stock(self, **inputs)

    monkeypatch.setattr(LlavaForConditionalGeneration, "generate", generate)
    return counted


@pytest.fixture
def run_program(tmp_path):
    """``run_program("lighteval", …, cwd=…, **environment)``: a program of this environment, as a user runs it."""

    def run(program, *arguments, cwd=tmp_path, check=True, **environment):
        command = [str(Path(sys.executable).parent / program), *map(str, arguments)]
        settings = {"EGOBENCH_JOURNAL": str(tmp_path / "journal"), "COLUMNS": "200", **environment}
        done = subprocess.run(
            command, cwd=cwd, env={**os.environ, **settings}, capture_output=True, text=True, timeout=600, check=False
        )
        if check and done.returncode:
            pytest.fail(f"{command} ended with {done.returncode}:\n{done.stdout[-3000:]}\n{done.stderr[-6000:]}")
        return done

    return run


@pytest.fixture(scope="session")
def long_video(tmp_path_factory):
    """30 s, 4 frames a second, each of another grey."""
    path = tmp_path_factory.mktemp("long") / "long.mp4"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=VIDEO_FPS, options={"g": "20"})
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for number in range(VIDEO_S * VIDEO_FPS):
            grey = np.full((48, 64, 3), 10 + 2 * number, np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(grey, format="rgb24")))
        container.mux(stream.encode())
    return path


@pytest.fixture(scope="session")
def egotempo(tmp_path_factory, long_video):
    """``egotempo.folder``: two questions a category on windows of three videos, one of them without a video.

    ``egotempo.annotations`` and ``egotempo.videos`` are what it was built from.
    """
    from dataset_scripts.egotempo.build import build_egotempo

    folder = tmp_path_factory.mktemp("egotempo")
    (folder / "videos").mkdir()
    rows = []
    for number, category in enumerate(EGOTEMPO.category_codes):
        for place in range(2):
            uid = f"video-{(number + place) % 3}"
            clip_id = f"{uid}_{float(number)}_{float(number + 6 + place)}"
            rows.append(
                {
                    "question_id": f"{clip_id}_{number}{place}",
                    "clip_id": clip_id,
                    "question_type": category,
                    "question": f"What happens in part {number} of {category}?",
                    "answer": f"Answer {number}{place}.",
                }
            )
    rows[-1]["clip_id"] = "absent-video_1.0_5.0"
    (folder / "annotations.json").write_text(json.dumps({"info": {}, "annotations": rows}))
    for index in range(3):
        (folder / "videos" / f"video-{index}.mp4").write_bytes(long_video.read_bytes())
    build_egotempo(folder / "annotations.json", folder / "egotempo", videos=folder / "videos", workers=2)
    return SimpleNamespace(
        folder=folder / "egotempo", annotations=folder / "annotations.json", videos=folder / "videos", rows=rows
    )


class Judge:
    """A judge that says "correct" but to questions in ``broken``, which it answers with a server error."""

    def __init__(self):
        self.asked = []
        self.broken = set()
        self.pred = "correct"
        self.delay_s = 0.0
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def base_url(self):
        return f"http://127.0.0.1:{self.server.server_port}/v1"

    def _handler(judge):
        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *arguments):
                pass

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                question = json.loads(body["messages"][-1]["content"])["question"]
                judge.asked.append(question)
                time.sleep(judge.delay_s)
                content = json.dumps({"pred": judge.pred, "score": 4, "reason": "scripted"})
                choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}
                self.send_response(500 if question in judge.broken else 200)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                self.wfile.write(json.dumps({"id": "1", "object": "x", "choices": [choice]}).encode())

        return Handler


@pytest.fixture
def judge():
    server = Judge()
    yield server
    server.server.shutdown()
    server.server.server_close()


@pytest.fixture
def open_docs(egotempo, monkeypatch):
    """``open_docs("egotempo_f4:counting_actions")``, or of a task config: fresh Docs of the small EgoTempo."""
    from lighteval.tasks.lighteval_task import LightevalTask

    from egobench_tasks.tasks import TASKS_TABLE

    monkeypatch.setenv("EGOTEMPO_DATA", str(egotempo.folder))

    def make(task):
        config = next(config for config in TASKS_TABLE if config.name == task) if isinstance(task, str) else task
        made = LightevalTask(copy.deepcopy(config))
        LightevalTask.load_datasets({config.name: made})
        return made.get_docs()

    return make
