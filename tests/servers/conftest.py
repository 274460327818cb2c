"""A real HTTP server that answers by a function, and clients of it."""

import asyncio
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest


def completion(content="hello", finish_reason="stop", **message):
    """The body of a chat completion."""
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": content, **message},
        "finish_reason": finish_reason,
    }
    return json.dumps({"choices": [choice], "usage": {"prompt_tokens": 7, "completion_tokens": 3}})


class Server:
    """Calls ``answer(handler, request)`` for every request; ``send`` is the ordinary way to reply in it."""

    completion = staticmethod(completion)

    def __init__(self):
        self.requests, self.paths, self.headers = [], [], []
        self.answer = lambda handler, request: self.send(handler, completion())
        served = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *arguments):
                pass

            def do_POST(self):
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                served.requests.append(request)
                served.paths.append(self.path)
                served.headers.append({name.lower(): value for name, value in self.headers.items()})
                try:
                    served.answer(self, request)
                except OSError:
                    self.close_connection = True

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    @staticmethod
    def send(handler, body, status=200, kind="application/json", **headers):
        data = body if isinstance(body, bytes) else body.encode()
        handler.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(data)), **headers}.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(data)

    def close(self):
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def server():
    made = Server()
    yield made
    made.close()


@pytest.fixture
def complete(server, monkeypatch):
    """``complete(**settings)``: one conversation's reply, and the lines that were told meanwhile."""
    from egobench_tasks.servers import pace
    from egobench_tasks.servers.client import ServerClient
    from egobench_tasks.servers.settings import ServerSettings

    monkeypatch.setattr(pace, "_FIRST_BACKOFF_S", 0.01)

    def run(messages=None, budget_tokens=100, **values):
        told = []

        async def ask():
            settings = ServerSettings(
                **{"base_url": server.url, "model": "m", "max_retries": 1, "timeout_s": 5, **values}
            )
            async with ServerClient(settings, told.append) as client:
                return (await client.complete(messages or [{"role": "user", "content": "hi"}], budget_tokens))[0]

        return asyncio.run(ask()), told

    return run
