"""Starting the browser: what it says when it cannot, and where clips play from."""

import sys
from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient

from egobench_tasks.browse.app import clip_url
from egobench_tasks.browse.launch import launch
from egobench_tasks.browse.report_page import ReportPage
from egobench_tasks.data import DatasetLocation
from egobench_tasks.errors import InputError


def test_without_gradio_the_extra_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "gradio", None)
    with pytest.raises(InputError, match=r"needs gradio, which is not installed: pip install .*\[browse\]'"):
        launch(DatasetLocation(str(tmp_path)), [])


def test_a_report_that_is_not_there_is_named_before_anything_is_loaded(tmp_path):
    with pytest.raises(InputError, match=r"--report: .*holds no report\.html"):
        launch(DatasetLocation(str(tmp_path / "nowhere")), [], report=tmp_path)


def test_the_reports_page_is_served_alone_and_may_fetch_nothing(tmp_path):
    page = tmp_path / "report.html"
    page.write_text("<p>it</p>")
    client = TestClient(ReportPage(PlainTextResponse("the rest"), page=page))
    assert client.get("/report").text == "<p>it</p>"
    assert "default-src 'none'" in client.get("/report/").headers["content-security-policy"]
    assert client.get("/report/../report.html").text == client.get("/").text == "the rest"
    page.unlink()
    assert client.get("/report").status_code == 404


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
def test_any_path_survives_in_an_address(name):
    parts = urlsplit(clip_url(f"/videos/{name}"))
    assert (parts.scheme, parts.netloc, parts.query, parts.fragment) == ("", "", "", "")
    assert unquote(parts.path) == f"/gradio_api/file=/videos/{name}"
