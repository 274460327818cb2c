"""A review as people do it: two reviewers, a dispute, a third, a new release, a new dataset; with kills between."""

import json
import random
import time

import pytest
from driving import DESKTOP, TABLET, Person, Server

pytestmark = pytest.mark.slow

REPAIRED = "What does the walk pass, in this order?"
PRESSED = (
    "[...document.querySelectorAll('button[aria-pressed=true]')].map((one) => one.dataset.option + one.dataset.seen)"
)
PRESS_FAST = """
let n = 0;
window.pressing = setInterval(
  () => document.dispatchEvent(new KeyboardEvent("keydown", { key: String(1 + (n++ % 3)), bubbles: true })), 5);
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("review")


@pytest.fixture(scope="module")
def browser(start_chromium):
    with start_chromium() as driver:
        yield driver


@pytest.fixture(scope="module")
def rows(sample_folder):
    from egobench_tasks.data import DatasetLocation, load_rows

    location = DatasetLocation(str(sample_folder / "egogears"))
    return [row for config in ("single", "multi") for row in load_rows(location, config)]


@pytest.fixture(scope="module")
def start(sample_folder, home):
    def start_server(reviewer, *more):
        command = ("review", sample_folder / "egogears", "--reviewer", reviewer, "--decisions", home / "reviews", *more)
        return Server(*command, EGOBENCH_CACHE=str(home / "cache"))

    return start_server


def records_of(home, reviewer):
    lines = (home / "reviews" / f"{reviewer}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.endswith("}")]


def mark_all(person, right):
    """Mark every option by keys; the page moves on by itself."""
    for letter in person.run("return [...document.querySelectorAll('[data-row]')].map((one) => one.dataset.row)"):
        person.press("1" if letter in right else "2")


def repair(person):
    """Other words, and where the evidence is: the first clip from its start to 12 s."""
    person.press("r").type("question", REPAIRED).leave_field().press("s")
    person.run("document.querySelector('#em-clips video').currentTime = 12")
    person.press("e", "4")


def test_a_reviewer_whose_server_is_killed_loses_no_decision(start, browser, home, rows):
    """Marks are pressed as fast as keys go; the server dies at some moment; what the page had shown is kept."""
    generator = random.Random(17)
    for question_id in [row["question_id"] for row in rows][1:3]:
        with start("r1") as server:
            person = Person(browser, server.port).resize(DESKTOP).open(f"?question={question_id}")
            person.run(PRESS_FAST)
            person.wait(f"return {PRESSED}.length > 0")
            time.sleep(generator.uniform(0, 0.3))
            server.kill()
            person.run("clearInterval(window.pressing)")
            said = [record for record in records_of(home, "r1") if record["question_id"] == question_id]
            written = [record for record in said if record["kind"] == "mark"]
            assert set(person.run(f"return {PRESSED}")) <= {one["option"] + one["seen"] for one in written}
            person.wait("return document.querySelector('.em-told').textContent.includes('Not saved')")
        with start("r1") as server:
            last = {one["option"]: one["option"] + one["seen"] for one in written}
            person = Person(browser, server.port).open(f"?question={question_id}")
            assert sorted(person.run(f"return {PRESSED}")) == sorted(last.values())


def test_a_third_settles_and_the_repaired_question_is_in_the_dataset(
    start, browser, home, sample_folder, rows, serious_faults
):
    disputed = next(row for row in rows if "videos" in row and row["n_select"] == 1 and row["status"] == "confirmed")
    agreed = rows[0]
    with start("r1", "--blind") as server:
        person = Person(browser, server.port).open(f"?question={disputed['question_id']}")
        browser.get_log("browser")  # what a killed server left
        assert person.texts(".em-gold") == []
        person.press("g")
        assert "mark every option first: A, B" in person.notice
        mark_all(person, disputed["answer"])
        person.press("g")
        assert len(person.texts(".em-gold")) == 1
        marks = person.run(f"return {PRESSED}")
        person.press("1", "2")  # marked without the gold, they stay
        assert person.run(f"return {PRESSED}") == marks
        repair(person)
        assert person.question != disputed["question_id"]
        person.open(f"?question={agreed['question_id']}")
        mark_all(person, agreed["answer"])
        person.press("g", "c")
        assert "2 of 12 decided by r1" in person.texts(".em-head")[0]
        person.press("z")
        assert person.question == agreed["question_id"] and "1 of 12 decided by r1" in person.texts(".em-head")[0]
        person.press("c")
        assert "2 of 12 decided by r1" in person.texts(".em-head")[0]
        took_s = [person.seconds_to_next() for _ in range(5)]
        print(f"next question, clips and all: {sorted(took_s)[2]:.3f} s in the middle of 5")
        assert min(took_s) < 0.3
        person.resize(TABLET)
        assert person.overflow_px() <= 0
        person.press("r")  # with its fields open
        assert person.overflow_px() <= 0
        assert serious_faults(browser) == []
        assert [entry["message"] for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []
    with start("r2") as server:
        person = Person(browser, server.port).open(f"?question={disputed['question_id']}")
        person.press("d", "1").open(f"?question={agreed['question_id']}")
        mark_all(person, agreed["answer"])
        person.press("c")
    with start("r3") as server:
        person = Person(browser, server.port).open()
        assert "1 in dispute" in person.texts(".em-head")[0]
        person.press("t")
        assert person.question == disputed["question_id"]
        (dispute,) = person.texts(".em-dispute")
        assert f"r1: repair, wording: {REPAIRED}" in dispute and "r2: drop, ambiguous" in dispute
        repair(person)
        assert (
            "You settled it: repair"
            in person.open(f"?question={disputed['question_id']}&queue=disputes").texts(".em-decided")[0]
        )
    check_release(home, sample_folder, disputed, agreed)


def run_egobench(*arguments):
    from typer.testing import CliRunner

    from egobench_tasks.cli import app

    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return result.output


def check_release(home, sample_folder, disputed, agreed):
    from datasets import load_dataset

    reviews, new = home / "reviews", home / "release"
    assert "0 in dispute" in run_egobench("review", "disagreements", reviews)
    dataset = sample_folder / "egogears"
    said = run_egobench(
        "review", "apply", dataset, "--decisions", reviews, "--release", sample_folder / "raw", "--out", new
    )
    assert "12 of 12 questions kept: 10 as it was, 1 confirmed, 1 repaired" in said
    run_egobench("build", "egogears", "--source", new, "--out", home / "egogears")
    built = load_dataset(str(home / "egogears"), "multi", split="test", cache_dir=str(home / "hf"))
    built = built.select_columns(["question_id", "question", "options", "status"])
    (row,) = [one for one in built if one["question_id"] == disputed["question_id"]]
    assert (row["question"], row["status"], row["options"]) == (REPAIRED, "repaired", disputed["options"])
    lines = (new / "v2" / "runningbench_v2_kept.jsonl").read_text(encoding="utf-8").splitlines()
    (kept,) = [one for one in map(json.loads, lines) if one["review_id"] == disputed["question_id"]]
    assert kept["original_question"] == kept["revisions"][0]["question"] == disputed["question"]
    assert list(kept["original_options"].values()) == disputed["options"]
    assert kept["evidence_spans"] == [{"clip": 0, "label": disputed["clip_labels"][0], "start_s": 0.0, "end_s": 12.0}]
    single = (new / "single_video_567" / "data" / "single_567_human_eval.jsonl").read_text(encoding="utf-8")
    (confirmed,) = [one for one in map(json.loads, single.splitlines()) if one["id"] == agreed["question_id"]]
    assert confirmed["status"] == "confirmed" and confirmed["reasons"] == ["review_agreed"]
    for path in [*new.rglob("*"), *(home / "egogears").rglob("*")]:
        if path.is_file() and path.suffix not in (".mp4", ".tar"):
            content = path.read_bytes()
            assert b"Example Reviewer" not in content, path
            assert not any(f'"{reviewer}"'.encode() in content for reviewer in ("r1", "r2", "r3")), path
