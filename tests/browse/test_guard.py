"""What the server refuses."""

import pytest

from egobench_tasks.browse.guard import is_refused


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
