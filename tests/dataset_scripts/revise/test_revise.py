"""A release after its review: what was decided stands in it, what was before stands beside it, and nobody's name."""

import json
import string
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dataset_scripts.egogears.rows import single_record
from dataset_scripts.egotempo.build import build_egotempo
from dataset_scripts.repository.jsonl import Row
from dataset_scripts.revise.apply import apply_reviews
from dataset_scripts.revise.row import revised
from egobench_tasks.data import DatasetLocation, load_rows
from egobench_tasks.errors import InputError
from egobench_tasks.making.log import LogFile
from egobench_tasks.making.review.contents import load_contents
from egobench_tasks.making.review.decision import Action, Content, Decision, Reason, Span, to_record
from egobench_tasks.making.review.outcome import Outcome, Rest, Rule
from egobench_tasks.making.review.settle import Standing, Status

words = st.text(alphabet="abc é", min_size=1, max_size=6).map(lambda text: f"w{text}".strip())


@st.composite
def contents(draw):
    options = draw(st.lists(words, min_size=2, max_size=5, unique=True))
    letters = string.ascii_uppercase[: len(options)]
    right = draw(st.lists(st.sampled_from(letters), min_size=1, unique=True))
    return Content(draw(words), tuple(options), tuple(sorted(right)))


def raw_row(content):
    """A row of upstream's single questions, with evidence for every right option."""
    return {
        "id": "q",
        "question": content.question,
        "options": dict(zip(string.ascii_uppercase, content.options, strict=False)),
        "answer": list(content.answer),
        "question_type": "t",
        "unit": "60s_segment",
        "video": "v",
        "span_sec": [0.0, 60.0],
        "media_file": "videos/q.mp4",
        "evidence": {letter: f"of {content.options[ord(letter) - 65]}" for letter in content.answer},
    }


@settings(deadline=None)
@given(contents(), st.lists(contents(), min_size=1, max_size=3))
def test_however_often_it_is_repaired_the_first_words_and_every_version_stay(first, later):
    row, shown = raw_row(first), first
    for content in later:
        outcome = Outcome("q", Standing.AGREED, Status.REPAIRED, content, None, "wording")
        row, before = revised(row, shown, outcome, [None]), shown
        shown = content
        record = single_record(Row("f", row))
        assert Content(record.question, record.options, record.answer) == content
        last = row["revisions"][-1]
        assert (last["question"], tuple(last["options"].values()), tuple(last["answer"])) == (
            before.question,
            before.options,
            before.answer,
        )
        for letter, text in row["evidence"].items():  # what was said of an option is still said of that option
            assert letter in content.answer and text == f"of {content.options[ord(letter) - 65]}"
    assert (row["id"], row["original_question"]) == ("q", first.question)
    assert (tuple(row["original_options"].values()), tuple(row["original_answer"])) == (first.options, first.answer)
    assert (len(row["revisions"]), row["repair_rounds"]) == (len(later), len(later))


@pytest.mark.parametrize("status", [Status.CONFIRMED, Status.DROPPED, None])
def test_what_is_not_repaired_keeps_its_words(status):
    content = Content("Which?", ("one", "two"), ("A",))
    row = revised(raw_row(content), content, Outcome("q", Standing.AGREED, status), [None])
    said = {name: row.get(name) for name in ("status", "decision", "reasons", "revisions")}
    assert {name: row[name] for name in raw_row(content)} == raw_row(content)
    assert said["status"] == status and said["revisions"] is None
    assert said["reasons"] == (None if status is None else ["review_agreed"])


def test_evidence_names_its_clip_and_seconds():
    content = Content("Which?", ("one", "two"), ("B",))
    outcome = Outcome("q", Standing.SETTLED, Status.REPAIRED, None, Span(1, 2.5, 9.0), "evidence")
    row = revised(raw_row(content), content, outcome, ["CLIP_C", "CLIP_A"])
    assert row["evidence_spans"] == [{"clip": 1, "label": "CLIP_A", "start_s": 2.5, "end_s": 9.0}]
    assert row["evidence"] == {"B": "CLIP_A: 2.5 s to 9.0 s"} and row["evidence_source"] == "human"
    assert row["reasons"] == ["review_settled", "review_evidence"]


@pytest.fixture(scope="module")
def egotempo(tmp_path_factory):
    """Four questions without clips: the annotation file, and the dataset built from it."""
    folder = tmp_path_factory.mktemp("open")
    rows = [
        {
            "question_id": f"uid_{number}.0_{number + 6}.5_{number}",
            "clip_id": f"uid_{number}.0_{number + 6}.5",
            "question_type": "counting actions",
            "question": f" How often, in part {number}? ",
            "answer": "Twice.",
        }
        for number in range(4)
    ]
    (folder / "egotempo_openQA.json").write_text(json.dumps({"info": {"version": "1"}, "annotations": rows}))
    build_egotempo(folder / "egotempo_openQA.json", folder / "egotempo")
    return folder


def write_reviews(folder, shown, **decisions):
    """``decisions``: by reviewer, ``{question id: fields of a decision}``."""
    for reviewer, by_id in decisions.items():
        for question_id, fields in by_id.items():
            decision = Decision(
                question_id=question_id,
                shown=shown[question_id].digest,
                reviewer=reviewer,
                when_utc="2026-01-01T00:00:00Z",
                **{"action": Action.REPAIR, "reason": Reason.OTHER, "note": "asked Example Reviewer", **fields},
            )
            LogFile(folder / f"{reviewer}.jsonl").append(to_record(decision))


def test_egotempos_file_is_revised_and_builds_again(egotempo, tmp_path):
    location = DatasetLocation(str(egotempo / "egotempo"))
    _, _, shown = load_contents(location)
    one, two, three, four = shown
    thrice = Content("How often, in part 0?", (), ("Thrice.",))
    write_reviews(
        tmp_path / "reviews",
        shown,
        r1={one: {"content": thrice}, two: {"action": Action.DROP}, three: {"action": Action.CONFIRM}},
        r2={one: {"content": thrice}, three: {"action": Action.DROP}},
    )
    applied = apply_reviews(location, tmp_path / "reviews", egotempo, tmp_path / "new", Rule(unsettled=Rest.KEEP))
    assert (applied.of(Standing.DISPUTED), applied.of(Standing.UNDECIDED), applied.n_kept) == ([three], [four], 3)
    assert "1 in dispute, kept as they were: " + three in str(applied)
    new = json.loads((tmp_path / "new" / "egotempo_openQA.json").read_text())
    assert [row["question_id"] for row in new["annotations"]] == [one, three, four] and new["info"] == {"version": "1"}
    assert [(row["question_id"], row["status"]) for row in new["dropped"]] == [(two, "dropped")]
    assert (new["annotations"][0]["status"], new["annotations"][0]["original_answer"]) == ("rekeyed", "Twice.")
    assert "status" not in new["annotations"][1] and "status" not in new["annotations"][2]
    for path in (tmp_path / "new").iterdir():
        assert not any(name in path.read_text() for name in ("Example Reviewer", "r1", "r2"))
    build_egotempo(tmp_path / "new" / "egotempo_openQA.json", tmp_path / "built")
    rows = load_rows(DatasetLocation(str(tmp_path / "built")), "default")
    assert rows["answer"] == ["Thrice.", "Twice.", "Twice."]


def test_another_release_than_the_reviewed_one_is_refused_and_nothing_written(egotempo, tmp_path):
    location = DatasetLocation(str(egotempo / "egotempo"))
    _, _, shown = load_contents(location)
    write_reviews(tmp_path / "reviews", shown, r1={next(iter(shown)): {"action": Action.CONFIRM}})
    other = json.loads((egotempo / "egotempo_openQA.json").read_text())
    other["annotations"][2]["answer"] = "Never."
    (tmp_path / "other.json").write_text(json.dumps(other))
    with pytest.raises(InputError, match=r"annotation 2: question .* not in the same words"):
        apply_reviews(location, tmp_path / "reviews", tmp_path / "other.json", tmp_path / "new", Rule())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other.json", "reviews"]
    (tmp_path / "new").mkdir()
    with pytest.raises(InputError, match="is there already"):
        apply_reviews(location, tmp_path / "reviews", egotempo, tmp_path / "new", Rule())
    with pytest.raises(InputError, match="holds no review"):
        apply_reviews(location, tmp_path / "none", egotempo, tmp_path / "new2", Rule())


KILLED = """
import os, sys
from pathlib import Path
from dataset_scripts.revise import apply, egotempo
from egobench_tasks.data import DatasetLocation
from egobench_tasks.making.review.outcome import Rule
revise = egotempo.revise
def half(release, building, *more):
    revise(release, building, *more)
    if sys.argv[5] == "killed":
        os.kill(os.getpid(), 9)
    print("there", flush=True)
    sys.stdin.readline()
egotempo.revise = half
dataset, reviews, release, out = sys.argv[1:5]
apply.apply_reviews(DatasetLocation(dataset), Path(reviews), Path(release), Path(out), Rule())
"""


def test_what_a_killed_apply_left_is_removed_by_the_next_and_what_a_running_one_builds_is_not(egotempo, tmp_path):
    location, reviews, out = DatasetLocation(str(egotempo / "egotempo")), tmp_path / "reviews", tmp_path / "n[e]w"
    _, _, shown = load_contents(location)
    write_reviews(reviews, shown, r1={next(iter(shown)): {"action": Action.CONFIRM}})
    command = [sys.executable, "-c", KILLED, location.path, reviews, egotempo, out]
    assert subprocess.run([*command, "killed"], check=False).returncode == -9
    assert [path.suffix for path in tmp_path.iterdir() if path != reviews] == [".tmp"]
    running = subprocess.Popen([*command, "waits"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert running.stdout.readline() == "there\n"
    (building,) = (path for path in tmp_path.iterdir() if path != reviews)  # the running one's: the other is gone
    apply_reviews(location, reviews, egotempo, tmp_path / "other", Rule())
    assert building.is_dir()
    with pytest.raises(InputError, match="holds no review"):
        apply_reviews(location, tmp_path / "none", egotempo, out, Rule())
    running.communicate("go on\n", timeout=60)
    assert running.returncode == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["n[e]w", "other", "reviews"]
    assert json.loads((out / "review.json").read_text())["statuses"] == {"as it was": 3, "confirmed": 1}
