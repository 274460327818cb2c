"""Who a judge is: name, settings, wording, and what its server says; where its verdicts on a run lie."""

import json
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from egobench_tasks.errors import InputError
from egobench_tasks.judge.identity import JudgeIdentity, from_record, judge_identity, served_identity, to_record
from egobench_tasks.judge.prompt import JudgeItem, prompt_fingerprint
from egobench_tasks.judge.settings import JudgeSettings
from egobench_tasks.judge.verdict import Judgement, NoVerdict, Verdict
from egobench_tasks.judge.verdict_files import read_verdict_files, verdicts_path, write_verdicts

JUDGE = JudgeIdentity("j", "judge-1-abc")
SETTINGS = JudgeSettings(base_url="http://127.0.0.1:1/v1", model="j")
ITEM = JudgeItem("q1", "What is on the shelf?", "A jar.", "A jar of honey.")
RIGHT = Judgement(Verdict(True, 4.0, "ok"), None, "{…}")
LATE = Judgement(None, NoVerdict.TIMEOUT, "")


def test_where_and_how_often_a_judge_is_asked_makes_no_other_judge():
    elsewhere = replace(SETTINGS, base_url="http://other/v1", timeout_s=9, max_retries=1, concurrency=1, max_tokens=99)
    assert judge_identity(elsewhere) == judge_identity(SETTINGS) == JudgeIdentity("j", prompt_fingerprint())


def test_a_label_makes_another_judge_and_stands_in_its_name():
    labelled = judge_identity(replace(SETTINGS, label="June"))
    assert labelled.digest != judge_identity(SETTINGS).digest
    assert labelled.name == "j (label=June)"
    assert from_record(json.loads(json.dumps(to_record(labelled)))) == labelled


@pytest.fixture
def models():
    """``models(body)``: the address of a server that says ``body`` of its models."""
    servers = []

    def start(body: str) -> str:
        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *arguments):
                pass

            def do_GET(self):
                self.send_response(200)
                self.end_headers()
                self.wfile.write(body.encode())

        servers.append(HTTPServer(("127.0.0.1", 0), Handler))
        threading.Thread(target=servers[-1].serve_forever, args=(0.02,), daemon=True).start()
        return f"http://127.0.0.1:{servers[-1].server_port}/v1"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize(
    ("body", "served"),
    [
        ('{"data": [{"id": "other"}, {"id": "j", "root": "/models/x", "parent": null}]}', "/models/x"),
        ('{"data": [{"id": "j", "root": "adapter", "parent": "base"}]}', "adapter, on base"),
        ('{"data": [{"id": "j", "root": "j"}]}', None),
        ('{"data": [{"id": "k", "root": "/models/x"}]}', "/models/x"),
        ('{"data": [{"id": "k", "root": "/models/x"}, {"id": "l"}]}', None),
        ('{"data": 3}', None),
        ("[]", None),
        ("<html>", None),
    ],
)
def test_what_a_server_says_stands_behind_a_name_is_part_of_the_judge(models, body, served):
    settings = replace(SETTINGS, base_url=models(body))
    assert served_identity(settings) == replace(judge_identity(settings), served=served)


def test_a_server_that_is_not_there_says_nothing():
    assert served_identity(SETTINGS).served is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("j-x", "j/x"),
        ("j/x", "j//x"),
        ("J", "j"),
        (JUDGE, replace(JUDGE, wording="judge-2-abc")),
        (JUDGE, replace(JUDGE, configured=(("label", "June"),))),
        (replace(JUDGE, served="/a"), replace(JUDGE, served="/b")),
    ],
)
def test_two_judges_never_share_a_file(tmp_path, one, other):
    judges = [judge if isinstance(judge, JudgeIdentity) else replace(JUDGE, model=judge) for judge in (one, other)]
    names = [verdicts_path(tmp_path, judge).name.casefold() for judge in judges]  # some file systems fold case
    assert names[0] != names[1]


@pytest.mark.parametrize("model", ["../../x", "..", "/", "ü ü", "." * 300])
def test_a_judges_name_does_not_lead_out_of_its_folder(tmp_path, model):
    path = verdicts_path(tmp_path, replace(JUDGE, model=model))
    assert path.parent == tmp_path / "verdicts" and not path.name.startswith(".")


def test_verdicts_are_read_back_by_the_answers_they_are_of(tmp_path):
    other = replace(ITEM, prediction="A cup.")
    write_verdicts(tmp_path, JUDGE, [("egotempo:x", ITEM, RIGHT), ("egotempo:x", other, LATE)])
    (file,) = read_verdict_files(tmp_path)
    assert file.judge == JUDGE
    assert (file.of(ITEM), file.of(other)) == (RIGHT.verdict, None)
    assert file.of(replace(ITEM, question_id="q2")) == RIGHT.verdict
    for field in ("question", "gold", "prediction"):
        assert file.of(replace(ITEM, **{field: "other"})) is None


def test_a_reason_with_half_a_surrogate_pair_is_written_and_read(tmp_path):
    odd = Judgement(Verdict(True, 4.0, "\ud83d"), None, "\ud83d")
    write_verdicts(tmp_path, JUDGE, [("egotempo:x", ITEM, odd)])
    assert read_verdict_files(tmp_path)[0].of(ITEM) == odd.verdict


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"judge": "j", "prompt": "p", "verdicts": []}', "does not say of which answers"),
        ("{}", "does not say of which answers"),
        ("[]", "cannot be read as verdicts"),
        ('{"schema": 2, "judge": {}, "verdicts": []}', "cannot be read as verdicts"),
        ('{"schema": 2, "verdicts": [{}]}', "cannot be read as verdicts"),
        ("{", "cannot be read as verdicts"),
    ],
)
def test_a_file_that_is_no_verdicts_or_does_not_say_of_what_is_refused(tmp_path, text, says):
    (tmp_path / "verdicts").mkdir()
    (tmp_path / "verdicts" / "j.json").write_text(text)
    with pytest.raises(InputError, match=rf"j\.json: {says}.*egobench judge"):
        read_verdict_files(tmp_path)
