"""An audit of a dataset by two scripted models: each planted fault is found, and nothing on the sound questions."""

import csv
import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dataset_scripts.egogears.build import build_egogears
from dataset_scripts.sample.release import write_sample_release
from egobench_tasks.cli import app
from egobench_tasks.data import load_rows, parse_location
from egobench_tasks.errors import InputError
from egobench_tasks.making.audit.finding import Rule, read_findings
from egobench_tasks.making.audit.run import audit
from egobench_tasks.making.audit.views import choice_views, statements

GUESSABLE, ONE_FRAME, WRONG_GOLD, LABEL, TWICE, LONGEST, AGAIN, SOUND = range(8)


def plant(rows):
    """Spoil the questions of a raw release, as lists of words and answers go wrong; return what is true of each."""
    rows[AGAIN] |= {name: rows[TWICE][name] for name in ("question", "options", "answer", "clips", "n_select")}
    truth = {row["review_id"]: list(row["answer"]) for row in rows}
    wrong = next(letter for letter in rows[WRONG_GOLD]["options"] if letter not in rows[WRONG_GOLD]["answer"])
    rows[WRONG_GOLD]["answer"] = sorted([wrong, *rows[WRONG_GOLD]["answer"][1:]])
    rows[LABEL]["question"] += " CLIP_9 may help."
    (right,) = rows[LONGEST]["answer"]
    rows[LONGEST]["options"][right] += ", one after the other on the same side of the road"
    return truth


@pytest.fixture(scope="module")
def spoilt(tmp_path_factory):
    """The multi questions of a small sample, some spoilt: their dataset, their rows, and the true answers by id."""
    folder = tmp_path_factory.mktemp("audited")
    write_sample_release(folder / "raw", questions=12, seed=3)
    file = folder / "raw" / "v2" / "runningbench_v2_kept.jsonl"
    raw = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    truth = plant(raw)
    file.write_text("".join(json.dumps(row) + "\n" for row in raw), encoding="utf-8")
    build_egogears(folder / "raw", folder / "egogears", only="multi")
    location = parse_location(str(folder / "egogears"), where="DATASET")
    rows = {row["question_id"]: row for row in load_rows(location, "multi")}
    return location, [rows[row["review_id"]] for row in raw], truth


@pytest.fixture
def server(monkeypatch, tmp_path):
    from tests.hosts.endpoint.conftest import ScriptedServer

    monkeypatch.setenv("EGOBENCH_JOURNAL", str(tmp_path / "journal"))
    scripted = ScriptedServer()
    yield scripted
    scripted.close()


def models(server, folder, **values):
    paths = []
    for name in ("one", "other"):
        settings = {"base_url": server.url, "model": name, "temperature": 0.7, **values}
        paths.append(folder / f"{name}.yaml")
        paths[-1].write_text(json.dumps(settings), encoding="utf-8")
    return paths


class Models:
    """Right, by the truth and not by the gold, on all frames and nowhere else; but for what is planted."""

    def __init__(self, rows, truth):
        self.asked, self.statement = {}, {}
        for number, row in enumerate(rows):
            for view in choice_views(row):
                self.asked[view.asked.segments[0].text] = (number, truth[row["question_id"]], view.facts)
            for option in statements(row):
                is_true = "ABCDEFGH"[option.option] in truth[row["question_id"]]
                self.statement[option.asked.segments[-1].text] = "supported" if is_true else "contradicted"

    def says(self, texts, n_images):
        for text in texts:
            if text in self.statement:
                return {"verdict": self.statement[text]}
        ((number, true, facts),) = (self.asked[text] for text in texts if text in self.asked)
        letters = dict(zip(facts["original_letters"], facts["shown_letters"], strict=True))
        whole = n_images > facts["n_clips"]
        knows = whole or (number == ONE_FRAME and n_images) or (number == GUESSABLE and "(withheld)" not in texts[0])
        said = true if knows else [letter for letter in letters if letter not in true]
        return {"answer": sorted(letters[letter] for letter in said)}


@pytest.mark.slow
def test_each_planted_fault_is_found_on_its_question_and_nothing_on_the_sound_rest(spoilt, server, tmp_path):
    location, rows, truth = spoilt
    played = Models(rows, truth)

    def script(request, n):
        parts = server.parts_of(request)
        said = played.says([part for part in parts if isinstance(part, str)], sum(isinstance(p, bytes) for p in parts))
        return server.say(server.completion(json.dumps(said)))

    server.script = script
    out = tmp_path / "audit"
    command = ["audit", location.path, "--out", out, "--models", *models(server, tmp_path)]
    said = CliRunner().invoke(app, [str(word) for word in command], catch_exceptions=False)
    assert said.exit_code == 0, said.output
    findings = read_findings(out / "findings.jsonl")
    ids = [row["question_id"] for row in rows]
    assert {(ids.index(finding.question_id), finding.rule) for finding in findings} == {
        (GUESSABLE, Rule.GUESSABLE),
        (ONE_FRAME, Rule.ONE_FRAME),
        (WRONG_GOLD, Rule.SUSPECT_GOLD),
        (WRONG_GOLD, Rule.OPTION_CONTRADICTED),
        (LABEL, Rule.LEAK_LABEL),
        (LONGEST, Rule.LONGEST_IS_RIGHT),
        (AGAIN, Rule.DUPLICATE),
    }
    (duplicate,) = (finding for finding in findings if finding.rule is Rule.DUPLICATE)
    assert duplicate.related == (ids[TWICE],)
    check_tables(out, ids, findings)
    n_asked = len(server.asked)
    assert CliRunner().invoke(app, [str(word) for word in command]).exit_code == 0
    assert read_findings(out / "findings.jsonl") == findings
    assert len(server.asked) == n_asked  # a second audit takes what is kept
    audit(location, [], out)  # of words alone: what models said before is no part of it
    assert {path.name for path in (out / "csv").iterdir()} == {"rules.csv", "findings.csv", "right_options.csv"}
    left = (out / "audit.csv").read_text() + (out / "findings.jsonl").read_text() + (out / "audit.html").read_text()
    assert not any(rule in left for rule in (Rule.GUESSABLE, Rule.SUSPECT_GOLD))


def read_table(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def check_tables(out, ids, findings):
    """The page, and the tables beside it for programs."""
    assert ids[WRONG_GOLD] in (out / "audit.html").read_text(encoding="utf-8")
    listed = read_table(out / "audit.csv")
    assert [(row["question_id"], row["rule"], row["message"]) for row in listed] == [
        (one.question_id, one.rule, one.message) for one in findings
    ]
    assert json.loads(listed[0]["evidence"]) == findings[0].evidence
    replies = {(row["question_id"], row["model"]): row for row in read_table(out / "csv" / "replies.csv")}
    assert len(replies) == 2 * len(ids)
    for model in ("one", "other"):
        row = replies[ids[GUESSABLE], model]
        assert (row["words"], row["options"], row["one_frame"], row["full"]) == ("3 of 3", "0 of 3", "3 of 3", "3 of 3")
        assert replies[ids[WRONG_GOLD], model]["full_right"] == "0"
        assert replies[ids[SOUND], model]["says"] == replies[ids[SOUND], model]["gold"]
    how_many = {row["who"]: int(row["questions"]) for row in read_table(out / "csv" / "by_how_many.csv")}
    assert how_many == {"every model": 7, "no model": 1}
    options = [row for row in read_table(out / "csv" / "options.csv") if row["question_id"] == ids[WRONG_GOLD]]
    against = [row for row in options if row["is_right"] == "right" and row["contradicted"] == "one, other"]
    assert len(against) == 1
    views = {(row["model"], row["view"]): float(row["accuracy"]) for row in read_table(out / "csv" / "views.csv")}
    assert views["one", "one frame"] == pytest.approx(2 / 8) and views["one", "full"] == pytest.approx(7 / 8)


def test_repeats_that_could_only_say_the_same_are_refused_before_anything_is_asked(spoilt, server, tmp_path):
    location, *_ = spoilt
    with pytest.raises(InputError, match="temperature"):
        audit(location, models(server, tmp_path, temperature=0.0), tmp_path / "audit")
    assert server.requests == [] and not (tmp_path / "audit").exists()


def test_one_name_for_two_models_is_refused(spoilt, server, tmp_path):
    location, *_ = spoilt
    twice = models(server, tmp_path, model="m")
    with pytest.raises(InputError, match="given twice"):
        audit(location, twice, tmp_path / "audit")


@pytest.mark.parametrize(
    ("words", "taken"),
    [
        (["D", "--models", "a.yaml", "b.yml"], (["a.yaml", "b.yml"], "D")),
        (["--models", "a.yaml", "D"], (["a.yaml"], "D")),
        (["--models=a.yaml", "b.yaml", "--out", "c.yaml", "D"], (["a.yaml", "b.yaml"], "D")),
        (["--models", "a", "--models", "b", "D"], (["a", "b"], "D")),
        (["--models", "a.yaml", "--", "b.yaml"], (["a.yaml"], "b.yaml")),
    ],
)
def test_models_are_named_one_after_the_other_or_each_by_its_own_option(words, taken, monkeypatch):
    from egobench_tasks.making.audit import run

    got = []
    monkeypatch.setattr(
        run, "audit", lambda location, models, *more, **named: got.append((location, models)) or ([], [])
    )
    monkeypatch.setattr("egobench_tasks.commands.release.parse_location", lambda text, **named: text)
    result = CliRunner().invoke(app, ["audit", *words], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    assert [([str(path) for path in models], location) for location, models in got] == [taken]


def test_every_table_of_an_audit_is_one_that_the_next_audit_removes():
    from egobench_tasks.making.audit import document, model_tables, word_tables

    text = "".join(
        Path(module.__file__).read_text(encoding="utf-8") for module in (document, model_tables, word_tables)
    )
    assert set(re.findall(r'\btable\(\s*"(\w+)"', text)) == set(document.TABLES)
