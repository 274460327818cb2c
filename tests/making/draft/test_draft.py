"""Drafting from real footage by a scripted model: candidates, nothing asked twice, a pick among them."""

import json

import pytest
from typer.testing import CliRunner

from egobench_tasks.cli import app
from egobench_tasks.errors import InputError
from egobench_tasks.making.draft.candidate import read_candidates


def test_what_a_model_says_of_real_footage_becomes_candidates_and_nothing_is_asked_twice(draft, run, server, tmp_path):
    said = draft()
    assert "3 questions on 1 clips; 2 replies were asked for again, 0 gave nothing" in " ".join(said.split())
    candidates = read_candidates(tmp_path / "d" / "candidates.jsonl")
    assert [one.kind for one in candidates] == ["OS", "OS", "direction"]
    assert {one.recording for one in candidates} == {"street"}
    assert all(0 <= one.evidence_start_s < one.evidence_end_s <= 9 for one in candidates)
    n_asked = len(server.asked)
    draft()
    assert len(server.asked) == n_asked

    run("sample-quota", tmp_path / "d", "--per-kind", 1, "--out", tmp_path / "picked")
    picked = read_candidates(tmp_path / "picked" / "candidates.jsonl")
    assert [one.kind for one in picked] == ["OS", "direction"]
    assert [path.name for path in (tmp_path / "picked" / "clips").iterdir()] == [candidates[0].clip]


def test_kinds_and_wording_that_are_none_are_refused_before_anything_is_asked(server, videos, tmp_path):
    (tmp_path / "m.yaml").write_text(json.dumps({"base_url": server.url, "model": "m"}))
    (tmp_path / "w.toml").write_text('version = "x"\n')
    base = ["draft", "--clips", videos, "--model", tmp_path / "m.yaml", "--out", tmp_path / "d"]
    for more, says in (
        (["--kinds", "AS,sideways"], "sideways"),
        (["--kinds", ","], "names none"),
        (["--kinds", "AS", "--wording", tmp_path / "w.toml"], "lacks caption"),
    ):
        with pytest.raises(InputError, match=says):
            CliRunner().invoke(app, [str(one) for one in [*base, *more]], catch_exceptions=False)
    assert server.requests == []
    assert not (tmp_path / "d").exists()
