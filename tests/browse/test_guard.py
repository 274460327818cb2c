"""What the server refuses."""

import pytest
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient

from egobench_tasks.browse.guard import ReadOnly, is_foreign, is_refused


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/"),
        ("GET", "/gradio_api/file=/data/videos/a.mp4"),
        ("HEAD", "/gradio_api/file=/data/videos/a.mp4"),
        ("GET", "/gradio_api/queue/data"),
        ("POST", "/gradio_api/queue/join"),
    ],
)
def test_looking_is_allowed(method, path):
    assert not is_refused(method, path)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/gradio_api/upload"),
        ("POST", "/gradio_api/upload/"),
        ("POST", "/upload"),
        ("GET", "/gradio_api/file=https://example.org/a.mp4"),
        ("GET", "/gradio_api/file=HTTP://127.0.0.1/"),
        ("GET", "/gradio_api/file/http://127.0.0.1/"),
        ("GET", "/gradio_api/proxy=https://example.org"),
        ("POST", "/gradio_api/component_server"),
        ("PUT", "/"),
        ("DELETE", "/gradio_api/queue/join"),
    ],
)
def test_writing_here_or_fetching_elsewhere_is_not(method, path):
    assert is_refused(method, path)


HERE = "127.0.0.1:7860"


@pytest.mark.parametrize(
    ("host", "origin", "is_open", "refused"),
    [
        (HERE, None, False, False),
        ("localhost:7860", "http://localhost:7860", False, False),
        ("[::1]:7860", "http://[::1]:7860", False, False),
        ("evil.com", None, False, True),
        ("evil.com:7860", "http://evil.com:7860", False, True),
        (HERE, "http://evil.com", False, True),
        (HERE, "http://127.0.0.1:8000", False, True),
        (HERE, "null", False, True),
        ("", None, False, True),
        ("localhost.evil.com", None, False, True),
        ("[::1", None, False, True),
        ("gpu-17:7860", None, True, False),
        ("gpu-17:7860", "http://gpu-17:7860", True, False),
        ("gpu-17:7860", "http://evil.com", True, True),
    ],
)
def test_pages_of_other_sites_get_nothing(host, origin, is_open, refused):
    headers = {"host": host} | ({} if origin is None else {"origin": origin})
    assert is_foreign(headers, is_open=is_open) == refused


@pytest.mark.parametrize("path", ["/", "/gradio_api/queue/join", "/gradio_api/file=/data/a.mp4"])
def test_the_middleware_asks_both_questions(path):
    async def page(scope, receive, send):
        await PlainTextResponse("page")(scope, receive, send)

    client = TestClient(ReadOnly(page), base_url=f"http://{HERE}")
    method = "POST" if "join" in path else "GET"
    assert client.request(method, path).status_code == 200
    assert client.request(method, path, headers={"Host": "evil.com"}).status_code == 403
    assert client.request(method, path, headers={"Origin": "http://evil.com"}).status_code == 403
    assert client.request("PUT", path).status_code == 403
