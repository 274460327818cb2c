"""Canaries: one a benchmark, in cards and reports of builds, and found in whatever holds one."""

import itertools
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from egobench_tasks.benchmarks import BENCHMARKS, EGOGEARS, EGOTEMPO
from egobench_tasks.canary import canaries_in
from egobench_tasks.cli import app
from egobench_tasks.errors import InputError


def call(*texts, said=None):
    return CliRunner().invoke(app, ["canary", *map(str, texts)], input=said, catch_exceptions=True)


def test_every_benchmark_has_a_guid_of_its_own():
    assert [str(uuid.UUID(one.canary, version=4)) for one in BENCHMARKS] == [one.canary for one in BENCHMARKS]
    assert EGOGEARS.canary != EGOTEMPO.canary


@given(before=st.binary(max_size=80), after=st.binary(max_size=80), cuts=st.lists(st.integers(0, 200), max_size=5))
def test_a_canary_is_found_wherever_a_part_ends(before, after, cuts):
    text = before + b"|" + EGOTEMPO.canary.encode() + b"|" + after
    places = sorted({0, *cuts, len(text)})
    parts = [text[start:end] for start, end in itertools.pairwise(places)]
    assert EGOTEMPO in canaries_in(parts)


@pytest.mark.parametrize(
    "form", [str.upper, lambda text: text.replace("-", ""), lambda text: f"{text[:20]}\n{text[20:]}"]
)
def test_a_canary_is_found_as_models_and_mails_write_it(form):
    assert canaries_in([f"it is {form(EGOGEARS.canary)}.".encode()]) == [EGOGEARS]


def test_a_canary_but_for_a_digit_is_none():
    assert canaries_in([EGOGEARS.canary[:-1].encode()]) == []


def test_the_command_says_what_holds_which_and_its_exit_code_says_whether(tmp_path):
    path = tmp_path / "corpus.jsonl"
    path.write_text(f'{{"text": "{EGOGEARS.canary}"}}')
    (tmp_path / "clean.txt").write_text("nothing here")
    done = call(path, tmp_path / "clean.txt", "a text")
    assert done.exit_code == 1
    assert f"corpus.jsonl: holds EgoGears's canary ({EGOGEARS.canary})" in done.output
    assert "clean.txt: no canary" in done.output and "text of 6 characters: no canary" in done.output
    assert call(tmp_path / "clean.txt").exit_code == 0
    assert call(EGOTEMPO.canary).exit_code == 1


def test_standard_input_is_read():
    assert call(said=f"… {EGOTEMPO.canary}").exit_code == call("-", said=EGOTEMPO.canary).exit_code == 1
    assert call(said="nothing").exit_code == 0


@pytest.mark.parametrize("slip", ["corpus.txt", "data/corpus", "../x.parquet"])
def test_a_slip_in_a_files_name_is_not_a_text_without_a_canary(slip):
    done = call(slip)
    assert isinstance(done.exception, InputError) and "no such file" in str(done.exception)


def test_a_folder_is_not_a_text_without_a_canary(tmp_path, monkeypatch):
    """Its bare name was looked at as text, and "no canary" said of a corpus that nobody had read."""
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "part.txt").write_text(EGOGEARS.canary)
    monkeypatch.chdir(tmp_path)
    done = call("corpus")
    assert isinstance(done.exception, InputError) and "corpus: is a folder" in str(done.exception)


def test_a_built_dataset_carries_its_canary(sample_folder):
    for name in ("README.md", "build_report.json"):
        assert canaries_in([(sample_folder / "egogears" / name).read_bytes()]) == [EGOGEARS], name
