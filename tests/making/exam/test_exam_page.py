"""An exam as people sit it: answers, a kill, a link to one's own place, and a run beside two models."""

import json
import random

import pytest
from driving import DESKTOP, TABLET, Person, Server
from sample_runs import HASTY, THINKER, write_sample_runs
from typer.testing import CliRunner

pytestmark = pytest.mark.slow

N = 10
TICKED = "return document.querySelectorAll('form.em input:checked').length"


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    return tmp_path_factory.mktemp("exam") / "people"


@pytest.fixture(scope="module")
def start(sample_folder, people):
    def start_server(*more):
        command = ("exam", sample_folder / "egogears", "--sample", N, "--seed", 3, "--out", people, *more)
        return Server(*command, EGOBENCH_CACHE=str(people.parent / "cache"))

    return start_server


def answers_of(people, participant):
    lines = (people / f"{participant}.jsonl").read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines if line.endswith("}")]
    return {one["question_id"]: json.loads(one["text"])["answer"] for one in records if one["kind"] == "given"}


def answers_left(people, participant):
    from egobench_tasks.making.exam.run import log_path, sitting_in

    return len(sitting_in(log_path(people, participant)).answers)


def answer(person, right):
    """Answer the question on show by its letters: the right ones, or as many others."""
    from selenium.webdriver.common.keys import Keys

    assert person.run(TICKED) == 0  # what was ticked in the question before is not ticked in this one
    letters = person.run("return [...document.querySelectorAll('[data-row]')].map((one) => one.dataset.row)")
    wrong = [letter for letter in letters if letter not in right]
    chosen = right if random.Random(person.question).random() < 0.5 else [*wrong, *right][: len(right)]
    person.press(*(letter.lower() for letter in chosen), Keys.ENTER)
    return sorted(chosen)


def test_a_persons_exam_is_a_run_beside_two_models(start, start_chromium, people, sample_folder, serious_faults):
    from selenium.webdriver.common.keys import Keys

    runs = write_sample_runs(sample_folder / "egogears", people.parent / "runs")
    rows = {row["question_id"]: row for row in runs.rows}
    said, scored = {}, {}

    def shown_right(question_id):
        from egobench_tasks.asking.options import shuffle_options

        letters = "ABCDEFGH"[: len(rows[question_id]["options"])]
        order = shuffle_options(question_id, letters)
        return [shown for shown, original in order.items() if original in rows[question_id]["answer"]]

    with start_chromium() as browser:
        with start("--participant", "p1", "--participant", "p2") as server:
            assert "/?participant=p2" in server.printed + server.process.stdout.readline()
            person = Person(browser, server.port).resize(DESKTOP).open()
            assert "Open the link that you were given" in person.texts("form.em")[0]
            person.open("?participant=p1")
            for _ in range(4):
                question_id = person.question
                said[question_id] = answer(person, shown_right(question_id))
            last = person.question
            said[last] = answer(person, shown_right(last))
            person.press("z")
            assert person.question == last and answers_left(people, "p1") == 4
            del said[last]
            before = person.question
            assert person.run("return new URL(location).searchParams.get('number')") == "5"
            server.kill()
        with start("--participant", "p1") as server:
            person = Person(browser, server.port).open("?participant=p1")
            assert person.question == before  # one's own place, after a kill
            browser.get_log("browser")  # what the killed server left
            assert "Open the link" in Person(browser, server.port).open("?participant=p9").texts("form.em")[0]
            person.open("?participant=p1&number=2")
            assert person.question == list(said)[1] and person.run(TICKED) == len(said[person.question])
            person.open("?participant=p1")
            page = person.run("return document.querySelector('#em-main').innerHTML")
            assert not any(word in page for word in ("★", "em-gold", "is_gold", "right answer"))
            person.press(Keys.ENTER)
            assert "Choose" in person.notice and person.question == before
            while len(said) < N:
                question_id = person.question
                said[question_id] = answer(person, shown_right(question_id))
            person.resize(TABLET)
            assert person.overflow_px() <= 0
            assert serious_faults(browser) == []
            person.press(Keys.HOME)
            assert person.texts(".em-done") == ["Handed in. Thank you: you may close this page."]
            assert [one["message"] for one in browser.get_log("browser")] == []
            server.process.wait(120)
    assert answers_of(people, "p1") == said
    scored = {one: said[one] == sorted(shown_right(one)) for one in said}
    check_report(people, runs, rows, scored)


def check_report(people, runs, rows, scored):
    out, environment = people.parent / "report", {"EGOGEARS_DATA": runs.location.path}
    command = ["report", str(people / "p1"), *map(str, runs.paths), "--out", str(out), "--format", "json,html"]

    from egobench_tasks.cli import app

    result = CliRunner().invoke(app, command, env=environment)
    assert result.exit_code == 0, result.output
    report = json.loads((out / "report.json").read_text(encoding="utf-8"))
    table = report["tables"]["people"]["rows"]
    n_right = {"single": 0, "multi": 0}
    n_asked = dict(n_right)
    for question_id, is_right in scored.items():
        config = "multi" if "videos" in rows[question_id] else "single"
        n_right[config] += is_right
        n_asked[config] += 1
    for config in ("single", "multi"):
        part = {(row["who"], row["what"]): row for row in table if row["config"] == config}
        assert {row["questions"] for row in part.values()} == {n_asked[config]}
        assert part["p1", "person"]["exact"] == pytest.approx(n_right[config] / n_asked[config])
        for what in ("mean", "majority", "best"):
            assert part["people", what]["exact"] == pytest.approx(n_right[config] / n_asked[config])
        assert {who for who, what in part if what == "model"} == {THINKER, HASTY}
        assert part["p1", "person"]["seconds"] > 0 and part["p1", "person"]["shown"] == "clips"
    assert "p1" not in {row["run"] for row in report["tables"]["overall"]["rows"]}
    compared = CliRunner().invoke(app, ["compare", str(people / "p1"), str(runs.paths[0])], env=environment)
    assert compared.exit_code == 0 and f"multi: {n_asked['multi']} questions" in compared.output, compared.output
