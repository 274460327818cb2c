"""`egobench doctor` before real servers and real folders: a line each, ok or what to do, and the exit code."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from egobench_tasks.commands import doctor_checks
from egobench_tasks.commands.doctor_checks import State


class Server:
    """Counts 100 prompt tokens an image where it ``sees``, and judges everything correct."""

    def __init__(self):
        self.sees, self.status = True, 200
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *arguments):
                pass

            def do_GET(self):
                self.send_error(404)

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                content = body["messages"][-1]["content"]
                n_images = sum(part["type"] != "text" for part in content) if isinstance(content, list) else 0
                said = {"role": "assistant", "content": json.dumps({"pred": "correct", "score": 5, "reason": "same"})}
                reply = {
                    "choices": [{"index": 0, "finish_reason": "stop", "message": said}],
                    "usage": {"prompt_tokens": 7 + 100 * n_images * outer.sees, "completion_tokens": 3},
                }
                self.send_response(outer.status)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                self.wfile.write(json.dumps(reply).encode())

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def close(self):
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def server():
    started = Server()
    yield started
    started.close()


@pytest.fixture
def endpoint(server, tmp_path):
    path = tmp_path / "endpoint.yaml"
    path.write_text(f"base_url: {server.url}\nmodel: m\n")
    return path


def test_an_endpoint_that_sees_is_ok_and_a_blind_or_absent_one_is_not(server, endpoint):
    assert doctor_checks.check_endpoint(endpoint).state is State.OK
    assert "100 tokens a frame" in doctor_checks.check_endpoint(endpoint).seen
    server.sees = False
    blind = doctor_checks.check_endpoint(endpoint)
    assert blind.state is State.WRONG and "ignores images" in blind.seen
    server.status = 401
    assert doctor_checks.check_endpoint(endpoint).state is State.WRONG
    endpoint.write_text("base_url: http://127.0.0.1:9/v1\nmodel: m\n")
    assert "connection" in doctor_checks.check_endpoint(endpoint).seen


def test_a_judge_is_asked_for_a_verdict(server, monkeypatch):
    for name in ("BASE_URL", "MODEL", "CONFIG"):
        monkeypatch.delenv(f"EGOBENCH_JUDGE_{name}", raising=False)
    assert doctor_checks.check_judge().state is State.NOTE
    monkeypatch.setenv("EGOBENCH_JUDGE_BASE_URL", server.url)
    monkeypatch.setenv("EGOBENCH_JUDGE_MODEL", "j")
    judge = doctor_checks.check_judge()
    assert judge.state is State.OK and "j at http://127.0.0.1" in judge.seen and "right" in judge.seen
    server.status = 500
    assert doctor_checks.check_judge().state is State.WRONG


def test_a_dataset_is_looked_at_whole_and_in_the_store(sample_folder, tmp_path, monkeypatch):
    monkeypatch.setenv("EGOBENCH_CACHE", str(tmp_path / "cache"))
    whole, frames = doctor_checks.check_datasets(str(sample_folder / "egogears"))
    assert whole.state is State.NOTE and "of 567" in whole.seen and "do not compare" in whole.remedy
    assert frames.state is State.NOTE and frames.seen.startswith("0 of ") and "egobench frames" in frames.remedy
    (absent,) = doctor_checks.check_datasets(str(tmp_path / "absent"))
    assert absent.state is State.WRONG


def test_versions_and_cache(monkeypatch, tmp_path):
    assert {check.state for check in doctor_checks.check_libraries()} <= {State.OK, State.NOTE}
    monkeypatch.setattr(doctor_checks, "library_versions", lambda names: dict.fromkeys(names, "0.1"))
    wrong = [check for check in doctor_checks.check_libraries() if check.state is State.WRONG]
    assert {"lighteval", "av"} <= {check.name for check in wrong}
    assert all(check.remedy.startswith("pip install '") for check in wrong)
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("EGOBENCH_CACHE", str(tmp_path / "file" / "x"))
    assert doctor_checks.check_cache().state is State.WRONG


def test_the_worst_line_is_the_exit_code(commands, endpoint, server):
    code, text = commands("egobench", "doctor", "--endpoint", endpoint)
    assert code == 0 and "answers and sees" in text and "Traceback" not in text
    server.sees = False
    code, text = commands("egobench", "doctor", "--endpoint", endpoint, "--json")
    assert code == 1
    assert {check["state"] for check in json.loads(text) if check["name"] == "endpoint"} == {"wrong"}
