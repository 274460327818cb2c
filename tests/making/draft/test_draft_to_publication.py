"""From a model's proposals on real footage to what may be published: audit, people at the page, new datasets."""

import json

import pytest
from datasets import load_dataset
from driving import DESKTOP, Person, Server

from dataset_scripts.publish.send import publish
from egobench_tasks.errors import InputError
from egobench_tasks.making.draft.candidate import read_candidates

pytestmark = pytest.mark.slow

REPAIRED = "A row of bikes, left of the street."


def build(run, release, videos, out):
    run("build", "egotempo", "--annotations", release / "egotempo_openQA.json", "--videos", videos,
        "--out", out / "egotempo")  # fmt: skip
    return out / "egotempo"


def build_choice(run, release, out):
    run("build", "egogears", "--source", release, "--only", "single", "--out", out / "egogears")
    return out / "egogears"


def dry_run(folder, **more):
    return str(publish(folder, "org/name", dry_run=True, **more))


def confirm_one(browser, tmp_path, dataset, decisions):
    """As r1, see the gold's options in the clips as it says, and confirm the question that comes first."""
    command = ("review", dataset, "--reviewer", "r1", "--decisions", decisions)
    with Server(*command, "--findings", tmp_path / "audit" / "findings.jsonl") as server:
        person = Person(browser, server.port).resize(DESKTOP).open()
        for row in person.run("return [...document.querySelectorAll('[data-row]')].map((one) => one.className)"):
            person.press("1" if "em-gold" in row else "2")
        question_id = person.question
        person.press("c")
        return question_id


def test_drafts_are_audited_reviewed_and_published_only_once_a_person_has_decided(draft, run, start_chromium, tmp_path):
    draft()
    candidates = {one.question_id: one for one in read_candidates(tmp_path / "d" / "candidates.jsonl")}
    opened = build(run, tmp_path / "d", tmp_path / "d" / "clips", tmp_path)
    choice = build_choice(run, tmp_path / "d", tmp_path)
    assert "findings on" in run("audit", opened, "--out", tmp_path / "audit")
    with pytest.raises(InputError, match="2 questions are drafts that no person has confirmed"):
        dry_run(opened)
    with pytest.raises(InputError, match="1 question is a draft that no person has confirmed"):
        dry_run(choice)

    with start_chromium() as browser:
        confirmed = confirm_one(browser, tmp_path, opened, tmp_path / "reviews")
        apply = ("review", "apply", opened, "--decisions", tmp_path / "reviews", "--release", tmp_path / "d")
        run(*apply, "--out", tmp_path / "half")
        half = build(run, tmp_path / "half", tmp_path / "d" / "clips", tmp_path / "half-built")
        with pytest.raises(InputError, match="1 question is a draft"):  # the other one: nobody looked at it
            dry_run(half)
        with Server("review", opened, "--reviewer", "r1", "--decisions", tmp_path / "reviews") as server:
            person = Person(browser, server.port).open()
            repaired = person.question
            assert repaired != confirmed
            person.press("r").type("answer", REPAIRED).leave_field().press("2")
        confirm_one(browser, tmp_path, choice, tmp_path / "reviews-choice")
    said = run(*apply, "--out", tmp_path / "whole")
    assert "2 of 2 questions kept: 1 confirmed, 1 rekeyed" in said
    whole = build(run, tmp_path / "whole", tmp_path / "d" / "clips", tmp_path / "whole-built")
    answers = {row["question_id"]: row["answer"] for row in load(whole, "test")}
    assert answers == {confirmed: candidates[confirmed].answer, repaired: REPAIRED}
    kept = {row["question_id"]: row for row in release_rows(tmp_path / "whole")}
    assert {question_id: row["status"] for question_id, row in kept.items()} == {
        confirmed: "confirmed",
        repaired: "rekeyed",
    }
    assert kept[repaired]["original_answer"] == candidates[repaired].answer and kept[repaired]["drafted_by"] == "m"
    with pytest.raises(InputError, match="Ego4D clips"):
        dry_run(whole)  # confirmed, and still not to be passed on: clips laid out as EgoTempo's count as Ego4D's
    assert dry_run(whole, private=True, may_share_ego4d_clips=True).startswith("would publish")

    run("review", "apply", choice, "--decisions", tmp_path / "reviews-choice", "--release", tmp_path / "d",
        "--out", tmp_path / "choice")  # fmt: skip
    rebuilt = build_choice(run, tmp_path / "choice", tmp_path / "choice-built")
    (row,) = load(rebuilt, "single")
    assert row["options"][0] == "To the left"
    (kept,) = (
        (tmp_path / "choice" / "single_video_567" / "data" / "single_567_human_eval.jsonl").read_text().splitlines()
    )
    assert json.loads(kept)["status"] == "confirmed"
    assert dry_run(rebuilt).startswith("would publish")


def load(folder, config):
    data = load_dataset("parquet", data_files=str(folder / config / "metadata.parquet"), split="train")
    return list(data)


def release_rows(folder):
    return json.loads((folder / "egotempo_openQA.json").read_text(encoding="utf-8"))["annotations"]
