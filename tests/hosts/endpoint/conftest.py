"""A scripted OpenAI-compatible server on a real socket, tiny questions for it, and runs against it."""

import base64
import io
import json
import os
import socket
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

SIGHT_QUESTION = "Which shape does the picture show?"
TEXT_TOKENS, IMAGE_TOKENS = 7, 100


@dataclass
class Say:
    """What the server does with one request: say something, late, or hang up."""

    body: object = None
    status: int = 200
    headers: dict = field(default_factory=dict)
    delay_s: float = 0.0
    hang_up: bool = False


def completion(content='{"answer": ["A"]}', finish_reason="stop", usage=True, **message):
    """The body of a chat completion."""
    said = {"role": "assistant", "content": content, **message}
    choice = {"index": 0, "message": said, "finish_reason": finish_reason}
    body = {"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
    if usage:
        body["usage"] = {"prompt_tokens": TEXT_TOKENS, "completion_tokens": 3, "total_tokens": 10}  # images' are added
    return body


def parts_of(request):
    """A request's message as texts and JPEG bytes."""
    return [
        part["text"] if part["type"] == "text" else base64.b64decode(part["image_url"]["url"].partition(",")[2])
        for part in request["messages"][0]["content"]
    ]


def words_of(request):
    """A request's texts as one: which question it asks, wherever its frames stand."""
    return "".join(part for part in parts_of(request) if isinstance(part, str))


def wait_until(condition, seconds=120):
    """Return once a condition holds."""
    deadline_s = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline_s, "waited in vain"
        time.sleep(0.01)


class ScriptedServer:
    """Answers each request by ``script(request, n)``, n counting the requests of the same question from 1.

    The sight check is answered as by a server that sees, unless ``sight`` is another script. ``models`` is what
    ``GET /models`` lists; None: there is no such list.
    """

    say = Say
    completion = staticmethod(completion)
    parts_of = staticmethod(parts_of)

    def __init__(self):
        self.requests, self.headers, self.times_s = [], [], []
        self.script = lambda request, n: Say(completion())
        self.sight = lambda request, n: Say(
            {**completion("disc"), "usage": {"prompt_tokens": 5 + IMAGE_TOKENS * (len(parts_of(request)) - 1)}}
        )
        self.models, self.looks = None, []
        self.open, self.most_open = 0, 0
        self._lock = threading.Lock()
        scripted = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                scripted._handle(self)

            def do_GET(self):
                scripted.looks.append(self.path)
                known = self.path.endswith("/models") and scripted.models is not None
                self.send_response(200 if known else 404)
                body = json.dumps({"object": "list", "data": scripted.models} if known else {}).encode()
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *arguments):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def close(self):
        self._server.shutdown()
        self._server.server_close()

    @property
    def asked(self):
        """The requests but for the sight check's."""
        return [request for request in self.requests if SIGHT_QUESTION not in words_of(request)]

    def _handle(self, handler):
        request = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        words = words_of(request)
        with self._lock:
            self.requests.append(request)
            self.headers.append({name.lower(): value for name, value in handler.headers.items()})
            self.times_s.append(time.monotonic())
            n = sum(words_of(earlier) == words for earlier in self.requests)
            self.open += 1
            self.most_open = max(self.most_open, self.open)
        try:
            say = self.sight(request, n) if SIGHT_QUESTION in words else self.script(request, n)
            time.sleep(say.delay_s)
        finally:
            with self._lock:
                self.open -= 1
        if say.hang_up:
            handler.close_connection = True
            handler.connection.shutdown(socket.SHUT_RDWR)
            return
        usage = say.body.get("usage") if isinstance(say.body, dict) else None
        if usage and usage.get("prompt_tokens") == TEXT_TOKENS and SIGHT_QUESTION not in words:
            n_images = sum(isinstance(part, bytes) for part in parts_of(request))
            usage = {**usage, "prompt_tokens": TEXT_TOKENS + IMAGE_TOKENS * n_images}
            say = replace(say, body={**say.body, "usage": usage})
        body = say.body if isinstance(say.body, bytes) else json.dumps(say.body).encode()
        try:
            handler.send_response(say.status)
            for name, value in {"Content-Type": "application/json", **say.headers}.items():
                handler.send_header(name, value)
            handler.send_header("Content-Length", str(len(body)))
            handler.end_headers()
            handler.wfile.write(body)
        except OSError:  # the client gave up waiting, or was killed
            handler.close_connection = True


@pytest.fixture
def server():
    scripted = ScriptedServer()
    yield scripted
    scripted.close()


@pytest.fixture
def settings(server, tmp_path, monkeypatch):
    """``settings(concurrency=1, …)``: of the scripted server, with short waits and a journal of its own."""
    from egobench_tasks.hosts.endpoint.settings import EndpointSettings
    from egobench_tasks.servers import pace

    monkeypatch.setattr(pace, "_FIRST_BACKOFF_S", 0.01)
    monkeypatch.setenv("EGOBENCH_JOURNAL", str(tmp_path / "journal"))

    def make(**values):
        return EndpointSettings(**{"base_url": server.url, "model": "m", "max_retries": 2, "timeout_s": 5.0, **values})

    return make


@pytest.fixture
def questions(tiny_clip):
    """``questions(3, frames=2)``: questions q0, q1, q2 of one clip each."""
    from egobench_tasks.asking.prompts import ClipFrames, Text
    from egobench_tasks.frames.lazy import FrameList, FrameRequest
    from egobench_tasks.frames.spec import FrameSpec, Sampling
    from egobench_tasks.hosts.endpoint.questions import EndpointQuestion

    path, sha256 = tiny_clip

    def make(count, frames=2):
        request = FrameRequest(str(path), sha256, FrameSpec(sampling=Sampling.BUDGET, count=frames))
        return [
            EndpointQuestion(
                question_id=f"q{index}",
                task="egogears:multi|0",
                prompt=f"question {index}",
                segments=(Text(f"question {index}\n"), Text("\nCLIP_1\n"), ClipFrames(0), Text("end")),
                frames=FrameList((request,)),
                budget_tokens=2048,
            )
            for index in range(count)
        ]

    return make


@pytest.fixture
def ask():
    """``ask(settings, questions)``: a whole run; returns (answers by question id, unanswered)."""
    import asyncio

    from egobench_tasks.hosts.endpoint.questions import EndpointAnswers

    def run(settings, questions):
        answers = EndpointAnswers(settings)
        unanswered = asyncio.run(answers.ask(questions))
        return {question.question_id: answers.find(question) for question in questions}, unanswered

    return run


FORKING = """
import json, os, sys
from pathlib import Path
from egobench_tasks import cli
from egobench_tasks.errors import EgobenchError
from egobench_tasks.hosts.lighteval import endpoint  # imported once, for all runs
from egobench_tasks.hosts.lighteval.endpoint_run import run_endpoint
from egobench_tasks.hosts.lighteval.merge import merge_runs

def egobench():
    try:
        cli.main()
    except SystemExit as ended:
        return ended.code or 0

def call(job):
    os.environ.update(job["environment"])
    os.chdir(job["folder"])
    output = os.open("output.txt", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(output, 1)
    os.dup2(output, 2)
    try:
        if job["run"] == "egobench":
            sys.argv = ["egobench", *job["arguments"]]
            return egobench()
        if job["run"] == "merge":
            return merge_runs([Path(run) for run in job["runs"]], Path(job["out"]))
        return run_endpoint(Path(job["config"]), job["tasks"], job["arguments"], dry_run=job.get("dry_run", False))
    except EgobenchError as error:
        print(f"egobench: {error}", file=sys.stderr)
        return error.exit_code

for line in sys.stdin:
    job, processes = json.loads(line), []
    for _ in range(job.get("copies", 1)):
        processes.append(os.fork())
        if processes[-1] == 0:
            code = call(job)
            sys.stdout.flush()
            os._exit(code)
    print(processes[0], flush=True)
    codes = [os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) for process in processes]
    print(max(codes, key=abs), flush=True)
"""


class Runs:
    """Real processes that run and merge, forked from one that has imported lighteval already: seconds saved each."""

    def __init__(self, environment):
        self._parent = subprocess.Popen(
            [sys.executable, "-c", FORKING], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        self.folder = None
        self.environment = {}

    def start(self, **job):
        """Start a job, in ``copies`` processes; returns the first's id. `wait` must follow."""
        job = {"folder": str(self.folder), "environment": self.environment, "arguments": [], **job}
        self._parent.stdin.write(json.dumps(job) + "\n")
        self._parent.stdin.flush()
        return int(self._parent.stdout.readline())

    def wait(self):
        """The exit code of the job that was started last; the furthest from 0 of several processes."""
        return int(self._parent.stdout.readline())

    def printed(self):
        """What has been printed since this was last asked for."""
        path = self.folder / "output.txt"
        text = path.read_text()
        path.unlink()
        return text

    def run(self, config, *arguments, tasks="egogears", dry_run=False, **environment):
        """``egobench run endpoint CONFIG TASKS ARGUMENTS…``: its exit code and what it printed."""
        return self._finish(
            run="endpoint",
            config=str(config),
            tasks=tasks,
            arguments=[str(argument) for argument in arguments],
            dry_run=dry_run,
            environment={**self.environment, **environment},
        )

    def egobench(self, *arguments, **environment):
        """``egobench ARGUMENTS…``: its exit code and what it printed."""
        return self._finish(
            run="egobench",
            arguments=[str(argument) for argument in arguments],
            environment={**self.environment, **environment},
        )

    def merge(self, *runs, out):
        """``egobench merge RUNS… --out OUT``."""
        return self._finish(run="merge", runs=[str(run) for run in runs], out=str(out))

    def _finish(self, **job):
        self.start(**job)
        code = self.wait()
        return code, self.printed()

    def close(self):
        self._parent.stdin.close()
        self._parent.wait(timeout=30)


@pytest.fixture(scope="session")
def forking():
    started = Runs(dict(os.environ))
    yield started
    started.close()


@pytest.fixture
def runs(forking, sample_folder, tmp_path):
    """`Runs` in a folder and with a journal of the test's own, over the sample benchmark."""
    forking.folder = tmp_path
    forking.environment = {
        "EGOGEARS_DATA": str(sample_folder / "egogears"),
        "EGOBENCH_JOURNAL": str(tmp_path / "journal"),
        "COLUMNS": "200",
    }
    return forking


@pytest.fixture
def config(server, tmp_path):
    """``config(concurrency=1, …)``: a settings file for the scripted server."""

    def write(**values):
        path = tmp_path / "endpoint.yaml"
        settings = {"base_url": server.url, "model": "m", "max_retries": 1, "timeout_s": 20, **values}
        path.write_text(json.dumps(settings))  # JSON is YAML
        return path

    return write


@pytest.fixture
def oracle_server(server):
    """The scripted server, answering as the sample's oracle does, from the message alone."""
    from PIL import Image

    from dataset_scripts.sample.oracle import answer_message

    def script(request, n):
        parts = [
            part if isinstance(part, str) else Image.open(io.BytesIO(part)).convert("RGB") for part in parts_of(request)
        ]
        return Say(completion(answer_message(parts)))

    server.script = script
    return server
