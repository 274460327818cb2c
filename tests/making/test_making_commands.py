"""The commands of review and exam: what they take, and what they refuse before a page opens."""

import pytest
from typer.testing import CliRunner

from egobench_tasks.cli import app
from egobench_tasks.errors import InputError


def call(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.mark.parametrize(("group", "command"), [("review", "apply"), ("exam", "save")])
def test_the_page_need_not_be_named(group, command):
    listed = call(group, "--help").output
    assert command in listed and "page" in listed
    assert call(group, "page", "--help").output == call(group, "DATASET", "--help").output


def test_names_are_refused_before_anything_is_loaded(tmp_path):
    (tmp_path / "single").mkdir()
    (tmp_path / "single" / "metadata.parquet").touch()
    for arguments in (("review", tmp_path, "--reviewer", "Anna"), ("exam", "--participant", "Anna", tmp_path)):
        result = call(*arguments)
        assert isinstance(result.exception, InputError) and "'Anna' is no id" in str(result.exception)


def test_a_folder_without_reviews_is_named(tmp_path):
    result = call("review", "disagreements", tmp_path)
    assert "holds no review (r1.jsonl)" in str(result.exception)
