"""EgoTempo answered by people: open answers become details that a judge takes, and stand beside a model's."""

import pytest

from egobench_tasks.data import DatasetLocation
from egobench_tasks.errors import InputError
from egobench_tasks.hosts.lighteval.judge_run import item_of
from egobench_tasks.judge.identity import JudgeIdentity
from egobench_tasks.judge.prompt import JudgeItem
from egobench_tasks.judge.verdict import Judgement, Verdict
from egobench_tasks.judge.verdict_files import write_verdicts
from egobench_tasks.making.exam.questions import load_questions
from egobench_tasks.making.exam.run import log_path, save
from egobench_tasks.making.exam.sitting import Given, Terms, to_record
from egobench_tasks.making.log import LogFile

JUDGE = JudgeIdentity("j", "w")


@pytest.fixture
def location(egotempo):
    return DatasetLocation(str(egotempo.folder))


def sit(out, participant, terms, answers):
    log = LogFile(log_path(out, participant))
    log.append(to_record(terms))
    for question_id, text in answers.items():
        given = Given(question_id=question_id, text=text, seconds=3.0, when_utc="2026-01-01T00:00:00Z")
        log.append(to_record(given))


@pytest.mark.slow
def test_open_answers_of_people_are_judged_and_compared(location, tmp_path, monkeypatch):
    monkeypatch.setenv("EGOTEMPO_DATA", location.path)
    questions = load_questions(location)
    assert len(questions.watchable) == len(questions.tasks) - 1  # one has no clip: nobody can be asked it
    terms = Terms(dataset=questions.fingerprint, sample=4, seed=0)
    one, two, three, four = questions.shown(terms)
    sit(tmp_path, "p1", terms, {one: "yes", two: "yes", three: "no", four: "yes"})
    sit(tmp_path, "p2", terms, {one: "yes", two: "no", three: "no", four: "no"})
    for participant in ("p1", "p2"):
        (folder,) = save(location, participant, tmp_path)
        judge_by_word(folder)
    found = report_of([tmp_path / "p1", tmp_path / "p2"])
    correct = {(row["who"], row["what"]): row["correct"] for row in found}
    assert correct["p1", "person"] == pytest.approx(3 / 4) and correct["p2", "person"] == pytest.approx(1 / 4)
    assert correct["people", "mean"] == pytest.approx(1 / 2) and correct["people", "best"] == pytest.approx(3 / 4)
    assert correct["people", "majority"] == pytest.approx((1 + 0.5 + 0 + 0.5) / 4)
    assert {row["questions"] for row in found} == {4}


def judge_by_word(folder):
    """A judge to whom "yes" is right."""
    from egobench_tasks.hosts.lighteval.details import OPEN_TASK, details_files, read_rows

    judged = []
    for file in details_files(folder, OPEN_TASK):
        for row in read_rows(file.path, ["doc.specific", "model_response.text", "model_response.finish_reason"]):
            item = item_of(row["doc"]["specific"], row["model_response"])
            assert isinstance(item, JudgeItem)
            verdict = Verdict(item.prediction == "yes", None, "")
            judged.append((file.task, item, Judgement(verdict, None, "")))
    write_verdicts(folder, JUDGE, judged)


def report_of(runs):
    from egobench_tasks.report.show.write import build_document

    (table,) = [table for table in build_document(runs).tables if table.key == "open_people"]
    return table.rows.to_dict("records")


def test_another_dataset_or_no_exam_is_refused(location, tmp_path):
    with pytest.raises(InputError, match="no exam was begun there"):
        save(location, "p1", tmp_path)
    sit(tmp_path, "p2", Terms(dataset="another"), {})
    with pytest.raises(InputError, match="is of another dataset"):
        save(location, "p2", tmp_path)
