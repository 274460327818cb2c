"""A real HTTP server that follows a script: what a judge's endpoint does on its worst day."""

import json
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from egobench_tasks.judge.settings import JudgeSettings

VERDICT = '{"pred": "correct", "score": 5, "reason": "scripted"}'

Step = Callable[[BaseHTTPRequestHandler], None]


def send(handler: BaseHTTPRequestHandler, body: str, status: int = 200, kind: str = "application/json", **headers: str):
    data = body.encode()
    handler.send_response(status)
    handler.send_header("Content-Type", kind)
    handler.send_header("Content-Length", str(len(data)))
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(data)


class ScriptedJudge:
    """Answers each prediction by its own script, a list of steps; a script's last step repeats."""

    @staticmethod
    def reply(content: object, finish_reason: object = "stop") -> Step:
        """Answer with a chat completion."""
        choice = {"index": 0, "finish_reason": finish_reason, "message": {"role": "assistant", "content": content}}
        body = {"id": "1", "object": "chat.completion", "created": 0, "model": "scripted", "choices": [choice]}
        return lambda handler: send(handler, json.dumps(body))

    @staticmethod
    def status(code: int, body: str = '{"error": {"message": "scripted"}}', **headers: str) -> Step:
        return lambda handler: send(handler, body, code, **headers)

    @staticmethod
    def page(body: str, kind: str) -> Step:
        return lambda handler: send(handler, body, kind=kind)

    @staticmethod
    def late(seconds: float) -> Step:
        def step(handler):
            time.sleep(seconds)
            ScriptedJudge.reply(VERDICT)(handler)

        return step

    @staticmethod
    def drop() -> Step:
        """Close the connection without an answer."""

        def step(handler):
            handler.close_connection = True

        return step

    @staticmethod
    def drop_midway() -> Step:
        """Promise more than is sent, then close."""

        def step(handler):
            handler.send_response(200)
            handler.send_header("Content-Type", "application/json")
            handler.send_header("Content-Length", "1000")
            handler.end_headers()
            handler.wfile.write(b'{"choices": [')
            handler.close_connection = True

        return step

    def __init__(self) -> None:
        self.scripts: dict[str, list[Step]] = defaultdict(lambda: [self.reply(VERDICT)])
        self.requests: list[dict] = []
        self.times: dict[str, list[float]] = defaultdict(list)
        self.authorisation: set[str | None] = set()
        self.most_at_once = 0
        self._now = 0
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    @property
    def asked(self) -> Counter[str]:
        """How often each prediction was asked about."""
        return Counter({prediction: len(times) for prediction, times in self.times.items()})

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _handler(judge) -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *args):
                pass

            def do_POST(self):
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                prediction = json.loads(request["messages"][-1]["content"])["prediction"]
                with judge._lock:
                    judge.requests.append(request)
                    judge.authorisation.add(self.headers["Authorization"])
                    judge.times[prediction].append(time.monotonic())
                    script = judge.scripts[prediction]
                    step = script[min(len(judge.times[prediction]), len(script)) - 1]
                    judge._now += 1
                    judge.most_at_once = max(judge.most_at_once, judge._now)
                try:
                    step(self)
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True
                finally:
                    with judge._lock:
                        judge._now -= 1

        return Handler


@pytest.fixture
def scripted() -> Iterator[ScriptedJudge]:
    server = ScriptedJudge()
    yield server
    server.close()


@pytest.fixture
def settings(scripted) -> JudgeSettings:
    return JudgeSettings(
        base_url=scripted.base_url,
        model="scripted",
        timeout_s=5,
        max_retries=1,
        concurrency=4,
        max_stall_s=1,
        max_tokens_cap=512,
    )
