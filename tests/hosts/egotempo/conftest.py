"""A small EgoTempo: windows of one long generated video that stands in for several, and a judge on loopback."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import av
import numpy as np
import pytest

from egobench_tasks.benchmarks import EGOTEMPO

SECONDS, FPS = 30, 4


@pytest.fixture(scope="session")
def long_video(tmp_path_factory):
    """30 s, 4 frames a second, each of another grey."""
    path = tmp_path_factory.mktemp("long") / "long.mp4"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=FPS, options={"g": "20"})
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for number in range(SECONDS * FPS):
            grey = np.full((48, 64, 3), 10 + 2 * number, np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(grey, format="rgb24")))
        container.mux(stream.encode())
    return path


@pytest.fixture(scope="session")
def egotempo(tmp_path_factory, long_video):
    """``egotempo.folder``: two questions a category on windows of three videos, one of them without a video.

    ``egotempo.annotations`` and ``egotempo.videos`` are what it was built from.
    """
    from dataset_scripts.egotempo import build_egotempo

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
