"""An audit of a dataset by two scripted models: each planted fault is found, and nothing on the sound question."""

import json

import pytest

from dataset_scripts.egogears.build import build_egogears
from dataset_scripts.sample.release import write_sample_release
from egobench_tasks.data import load_rows, parse_location
from egobench_tasks.errors import InputError
from egobench_tasks.making.audit.finding import Rule, read_findings
from egobench_tasks.making.audit.run import audit
from egobench_tasks.making.audit.views import choice_views, statements

GUESSABLE, ONE_FRAME, WRONG_GOLD = range(3)


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """The multi questions of a small sample that guessing rarely gets right, and its folder."""
    folder = tmp_path_factory.mktemp("audited")
    write_sample_release(folder / "raw", questions=12, seed=3)
    build_egogears(folder / "raw", folder / "egogears", only="multi")
    location = parse_location(str(folder / "egogears"), where="DATASET")
    return location, list(load_rows(location, "multi"))


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
    """Right on all frames and nowhere else, but for what is planted in the first three questions."""

    def __init__(self, rows):
        self.number, self.statement = {}, {}
        self.views = [choice_views(row) for row in rows]
        for number, (row, views) in enumerate(zip(rows, self.views, strict=True)):
            for view in views:
                self.number[view.asked.segments[0].text] = number
            for option in statements(row):
                self.statement[option.asked.segments[-1].text] = (number, option.option, row)

    def says(self, texts, n_images):
        for text in texts:
            if text in self.statement:
                return {"verdict": self._seen(*self.statement[text])}
        (number,) = {self.number[text] for text in texts if text in self.number}
        views = self.views[number]
        facts = views[0].facts
        right = set(facts["answer"])
        letters = dict(zip(facts["original_letters"], facts["shown_letters"], strict=True))
        whole = n_images > facts["n_clips"]
        knows = whole or (number == ONE_FRAME and n_images) or (number == GUESSABLE and "(withheld)" not in texts[0])
        if number == WRONG_GOLD or not knows:
            right = {letter for letter in letters if letter not in right}
        return {"answer": sorted(letters[letter] for letter in right)}

    def _seen(self, number, option, row):
        is_right = "ABCDEFGH"[option] in row["answer"]
        return "supported" if is_right != (number == WRONG_GOLD) else "contradicted"


@pytest.mark.slow
def test_planted_faults_are_found_and_nothing_on_the_sound_rest(rows, server, tmp_path):
    location, questions = rows
    played = Models(questions)

    def script(request, n):
        parts = server.parts_of(request)
        said = played.says([part for part in parts if isinstance(part, str)], sum(isinstance(p, bytes) for p in parts))
        return server.say(server.completion(json.dumps(said)))

    server.script = script
    findings, written = audit(location, models(server, tmp_path), tmp_path / "audit")
    ids = [row["question_id"] for row in questions]
    found = {(ids.index(finding.question_id), finding.rule) for finding in findings}
    assert found == {
        (GUESSABLE, Rule.GUESSABLE),
        (ONE_FRAME, Rule.ONE_FRAME),
        (WRONG_GOLD, Rule.SUSPECT_GOLD),
        (WRONG_GOLD, Rule.OPTION_CONTRADICTED),
    }
    assert read_findings(tmp_path / "audit" / "findings.jsonl") == findings
    assert {"audit.html", "audit.md", "findings.jsonl"} <= {path.name for path in written}
    assert ids[WRONG_GOLD] in (tmp_path / "audit" / "audit.html").read_text(encoding="utf-8")
    n_asked = len(server.asked)
    assert audit(location, models(server, tmp_path), tmp_path / "audit")[0] == findings
    assert len(server.asked) == n_asked  # a second audit takes what is kept


def test_repeats_that_could_only_say_the_same_are_refused_before_anything_is_asked(rows, server, tmp_path):
    location, _ = rows
    with pytest.raises(InputError, match="temperature"):
        audit(location, models(server, tmp_path, temperature=0.0), tmp_path / "audit")
    assert server.requests == [] and not (tmp_path / "audit").exists()


def test_one_name_for_two_models_is_refused(rows, server, tmp_path):
    location, _ = rows
    twice = models(server, tmp_path, model="m")
    with pytest.raises(InputError, match="given twice"):
        audit(location, twice, tmp_path / "audit")
