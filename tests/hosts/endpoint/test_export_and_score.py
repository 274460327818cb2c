"""Questions exported, answered elsewhere and scored: as a direct run over the same replies."""

import base64
import hashlib
import json

import pytest
import yaml

from egobench_tasks.errors import InputError
from egobench_tasks.hosts.export import write as writing
from egobench_tasks.hosts.export.manifest import Embed, Form, read_manifest, read_whole
from egobench_tasks.hosts.export.write import Limits
from egobench_tasks.hosts.lighteval.elsewhere import score
from egobench_tasks.hosts.lighteval.export import Order, export, settings_for_export

A = '{"answer": ["A"]}'
TASKS = "egogears,egogears_center,egogears_blind,egogears_optionsonly"
N_TOKENS = 2048
AWKWARD = [
    ({"content": A}, "stop"),
    ({"content": '{"answer": ["B"]}'}, "END_TURN"),
    ({"content": '{"answer": ["C", "A"]}'}, None),
    ({"content": A}, "length"),
    ({"content": f"<think>{A}"}, "stop"),
    ({"content": f"<think>perhaps</think>{A}"}, "eos"),
    ({"content": f"{A}<think>was that right?</think>"}, "stop"),
    ({"content": A, "reasoning_content": "so it is"}, "stop"),
    ({"content": ""}, "stop"),
    ({"content": None}, "max_tokens"),
    ({"content": "no idea \ud83d\u2028 {"}, "stop"),
    ({"content": A}, "content_filter"),
    ({"content": None, "reasoning_content": A}, "stop"),
    ({"content": [{"type": "text", "text": A[:5]}, {"type": "text", "text": A[5:]}]}, "stop"),
    ({"content": A}, "abort"),
]
SMALL = {"jpeg_width_px": 32, "jpeg_quality": 40, "max_tokens": N_TOKENS, "max_tokens_cap": N_TOKENS, "model": "m"}


def reply_to(messages):
    """What the scripted model says: it depends on every word and every byte of every picture."""
    digest = hashlib.sha256(json.dumps(messages, sort_keys=True).encode()).digest()
    return AWKWARD[digest[0] % len(AWKWARD)]


@pytest.fixture
def dataset(sample_folder, tmp_path, monkeypatch):
    monkeypatch.setenv("EGOGEARS_DATA", str(sample_folder / "egogears"))
    monkeypatch.setenv("EGOBENCH_JOURNAL", str(tmp_path / "journal"))
    return sample_folder / "egogears"


def scores_in(folder):
    """Of every question of a run: what was read, why it ended, and what it scored, by task and id."""
    import pyarrow.parquet as pq

    found = {}
    for path in folder.rglob("details_*.parquet"):
        task = path.name.removeprefix("details_").rpartition("_")[0]
        for row in pq.read_table(path).to_pylist():
            said = row["model_response"]
            key = (task, row["doc"]["specific"]["question_id"])
            found[key] = (said["text"], said["reasonings"], said["finish_reason"], row["metric"])
    return found


def lines_of(folder, pattern):
    return [json.loads(line) for path in sorted(folder.glob(pattern)) for line in path.open()]


@pytest.mark.slow
def test_answers_from_elsewhere_score_as_a_direct_run_does(dataset, server, settings, tmp_path):
    from egobench_tasks.hosts.lighteval.endpoint_run import run_endpoint

    def script(request, n):
        message, reason = reply_to(request["messages"])
        return server.say(server.completion(finish_reason=reason, usage=False, **message))

    server.script = script
    settings()  # short waits
    config = {"base_url": server.url, "max_retries": 1, **SMALL}
    (tmp_path / "endpoint.yaml").write_text(yaml.safe_dump(config))
    run_endpoint(tmp_path / "endpoint.yaml", TASKS, ["--output-dir", str(tmp_path / "direct"), "--save-details"])
    direct = scores_in(tmp_path / "direct")
    assert len(direct) > 40 and len({reason for _, _, reason, _ in direct.values()}) > 6
    assert {score["exact_set"] for *_, score in direct.values()} == {0.0, 1.0}

    chosen = settings_for_export(SMALL)
    batch = export(Order(TASKS, Form.OPENAI_BATCH), chosen, tmp_path / "batch", Limits(n_requests=15))
    assert [part.n_questions for part in batch.parts][:-1] == [15] * (len(batch.parts) - 1)
    requests = lines_of(tmp_path / "batch", "requests-*.jsonl")
    assert len({request["custom_id"] for request in requests}) == len(requests) == len(direct)
    sent = sorted(json.dumps(request, sort_keys=True) for request in server.asked)
    assert sorted({json.dumps(request["body"], sort_keys=True) for request in requests}) == sorted(set(sent))
    with (tmp_path / "output.jsonl").open("w") as file:
        for request in reversed(requests):
            message, reason = reply_to(request["body"]["messages"])
            body = server.completion(finish_reason=reason, usage=False, **message)
            answer = {"status_code": 200, "request_id": "r", "body": body}
            file.write(
                json.dumps({"id": "b", "custom_id": request["custom_id"], "response": answer, "error": None}) + "\n"
            )
    assert score([tmp_path / "output.jsonl"], tmp_path / "batch", tmp_path / "scored") == 1  # some failed, as directly
    assert scores_in(tmp_path / "scored") == direct

    whole = export(Order(TASKS, Form.MESSAGES, Embed.BASE64), chosen, tmp_path / "messages")
    files = export(Order(TASKS, Form.MESSAGES, Embed.FILES), chosen, tmp_path / "files")
    assert whole.digest == files.digest
    plain = lines_of(tmp_path / "messages", "*.jsonl")
    assert _opened(lines_of(tmp_path / "files", "*.jsonl"), tmp_path / "files") == plain
    told = [(line["id"], *reply_to(line["messages"])) for line in plain]
    in_words = [(name, message, reason) for name, message, reason in told if not isinstance(message["content"], list)]
    with (tmp_path / "answers.jsonl").open("w") as file:
        for name, message, reason in in_words:
            answer = {"id": name, "text": message["content"], "finish_reason": reason}
            file.write(json.dumps({**answer, "reasoning": message.get("reasoning_content")}) + "\n")
    assert score([tmp_path / "answers.jsonl"], tmp_path / "files", tmp_path / "again", model="m") == 1
    again = scores_in(tmp_path / "again")
    given = {name for name, *_ in in_words}
    for (task, question_id), found in again.items():
        was_given = f"{task.partition('|')[0]}/{question_id}" in given
        assert found == direct[task, question_id] if was_given else found[2] == "missing"

    (record,) = [json.loads(path.read_text()) for path in (tmp_path / "scored").rglob("run.json")]
    assert record["elsewhere"]["export"] == batch.digest == record["model"]["identity"]["answered_elsewhere"]["export"]
    assert "cut answer stays cut" in record["elsewhere"]["attempts"] and record["elsewhere"]["n_cut"] > 0


def _opened(lines, folder):
    """The lines of an export with its frames in files, as if they were in the messages."""
    for line in lines:
        for part in line["messages"][0]["content"]:
            if "image_url" in part:
                jpeg = (folder / part["image_url"]["url"]).read_bytes()
                part["image_url"]["url"] = "data:image/jpeg;base64," + base64.b64encode(jpeg).decode()
    return lines


@pytest.fixture
def exported(dataset, tmp_path):
    """A small export of words alone, so that nothing is decoded."""
    out = tmp_path / "exported"
    return out, export(Order("egogears_blind", Form.MESSAGES), settings_for_export({}), out)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda rows: [*rows, rows[0]], "answered more than once: egogears_blind:"),
        (lambda rows: [*rows, {**rows[0], "question_id": "nobody's"}], "to no question of this export: nobody's"),
        (lambda rows: [*rows, {**rows[0], "text": 3}], ":13: text must be text"),
        (lambda rows: [*rows, {**rows[0], "finish_reason": ["stop"]}], "finish_reason must be text"),
        (lambda rows: [*rows, ["stop"]], "is no answer; expected"),
        (lambda rows: [*rows[:-1], "cut"], None),
        (lambda rows: rows, "given twice"),
    ],
)
def test_answers_that_cannot_be_told_apart_are_named(exported, tmp_path, change, says):
    out, manifest = exported
    rows = [{"question_id": one.question_id, "text": A, "finish_reason": "stop"} for one in manifest.written]
    text = "\n".join(json.dumps(row) for row in change(rows))
    if says == "given twice":
        text = text.replace('"text"', '"text": "B", "text"', 1)
    if says is None:
        text, says = text[:-3], ":12: is no JSON"
    (tmp_path / "answers.jsonl").write_text(text)
    with pytest.raises(InputError, match=says):
        score([tmp_path / "answers.jsonl"], out, tmp_path / "run", model="m")
    assert not (tmp_path / "run").exists()


def test_a_failure_in_a_batch_counts_only_without_an_answer_beside_it(exported):
    from egobench_tasks.hosts.export.answers import read_answers

    out, manifest = exported
    name, other = manifest.written[0].id, manifest.written[1].id
    path = out.parent / "output.jsonl"
    failed = {"response": {"status_code": 500, "body": {}}, "error": None}
    answered = {"response": {"status_code": 200, "body": {"choices": [{"message": {"content": A}}]}}, "error": None}
    rows = [
        {"custom_id": name, **failed},
        {"custom_id": name, **answered},
        {"custom_id": name, **failed},
        {"custom_id": other, "response": None, "error": {"code": "batch_expired"}},
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    found = read_answers([path], manifest)
    assert found[name].reply.text == A and found[name].reply.finish_reason == "not_given"
    assert found[other].reply is None and "batch_expired" in found[other].failure


def test_a_request_larger_than_a_file_may_be_is_refused_with_the_remedy(dataset, tmp_path):
    with pytest.raises(InputError, match="--jpeg-quality or --jpeg-width-px"):
        export(
            Order("egogears_center", Form.OPENAI_BATCH),
            settings_for_export({"model": "m"}),
            tmp_path / "out",
            Limits(n_bytes=1000),
        )
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["export.json"]


def test_a_stopped_export_goes_on_and_counts_as_none_before_its_end(dataset, tmp_path, monkeypatch):
    order, settings = Order("egogears_blind", Form.OPENAI_BATCH), settings_for_export({"model": "m"})
    fives = Limits(n_requests=5)
    whole = export(order, settings, tmp_path / "whole", fives)
    stock, made = writing.question_message, []

    def stop_at_the_eighth(*arguments):
        made.append(arguments)
        if len(made) == 8:
            raise KeyboardInterrupt
        return stock(*arguments)

    monkeypatch.setattr(writing, "question_message", stop_at_the_eighth)
    with pytest.raises(KeyboardInterrupt):
        export(order, settings, tmp_path / "out", fives)
    assert len(read_manifest(tmp_path / "out").written) == 5
    with pytest.raises(InputError, match="unfinished"):
        read_whole(tmp_path / "out")
    assert export(order, settings, tmp_path / "out", fives) == whole
    assert len(made) == 8 + len(whole.written) - 5
    for part in whole.parts:
        assert (tmp_path / "out" / part.name).read_bytes() == (tmp_path / "whole" / part.name).read_bytes()
    n_made = len(made)
    assert export(order, settings, tmp_path / "out", fives) == whole and len(made) == n_made
    with pytest.raises(InputError, match="another export: other model"):
        export(order, settings_for_export({"model": "other"}), tmp_path / "out")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("mine")
    with pytest.raises(InputError, match="no export's"):
        export(order, settings, tmp_path / "mine")


def test_a_question_of_several_tasks_needs_its_id(dataset, tmp_path):
    from egobench_tasks.hosts.export.answers import read_answers

    order = Order("egogears_blind:multi,egogears_optionsonly:multi", Form.MESSAGES)
    manifest = export(order, settings_for_export({}), tmp_path / "out")
    one = manifest.written[0]
    path = tmp_path / "answers.jsonl"
    path.write_text(json.dumps({"question_id": one.question_id, "text": A}))
    with pytest.raises(InputError, match="several tasks here"):
        read_answers([path], manifest)
    for named in ({"question_id": one.question_id, "task": one.task}, {"id": one.id}):
        path.write_text(json.dumps({**named, "text": A}))
        assert list(read_answers([path], manifest)) == [one.id]


def test_lmms_evals_folder_opens_its_frames_without_this_package(dataset, tmp_path):
    order = Order("egogears:single", Form.LMMS_EVAL, limit=1)
    manifest = export(order, settings_for_export({"jpeg_width_px": 32}), tmp_path / "out")
    (task,) = (tmp_path / "out").glob("*.yaml")
    assert task.stem == f"egobench_{manifest.digest[:8]}"
    utils = {"__file__": str(tmp_path / "out" / "utils.py")}
    source = (tmp_path / "out" / "utils.py").read_text()
    assert "egobench_tasks" not in source
    exec(source, utils)
    (doc,) = lines_of(tmp_path / "out", "questions-*.jsonl")
    (turn,) = utils["doc_to_messages"](doc)
    assert sum(part["type"] == "image" for part in turn["content"]) == 64
    assert {part["url"].width for part in turn["content"] if part["type"] == "image"} == {32}
    with pytest.raises(InputError, match="frames as files"):
        export(Order("egogears", Form.LMMS_EVAL, Embed.BASE64), settings_for_export({}), tmp_path / "other")
