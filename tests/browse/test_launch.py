"""Starting the browser: what it says when it cannot, and where clips play from."""

import sys
from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from egobench_tasks.browse.app import clip_url
from egobench_tasks.browse.launch import launch
from egobench_tasks.data import DatasetLocation
from egobench_tasks.errors import InputError


def test_without_gradio_the_extra_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "gradio", None)
    with pytest.raises(InputError, match=r"needs gradio: pip install 'egobench\[browse\]'"):
        launch(DatasetLocation(str(tmp_path)), [])


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
def test_any_path_survives_in_an_address(name):
    parts = urlsplit(clip_url(f"/videos/{name}"))
    assert (parts.scheme, parts.netloc, parts.query, parts.fragment) == ("", "", "", "")
    assert unquote(parts.path) == f"/gradio_api/file=/videos/{name}"
