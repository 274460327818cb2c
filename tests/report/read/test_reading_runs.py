"""What can be wrong with a run, each told in one message; and the other forms a run comes in."""

import json
import shutil
from dataclasses import asdict, replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from planted import RunWriter, Said, memory_run, memory_split, mixed_rows, plant, reply, right, said_by, wrong
from records import record_for

from egobench_tasks.errors import InputError
from egobench_tasks.report.analyse.single_multi import single_multi_table
from egobench_tasks.report.read.choice_results import score_choice_runs, score_runs
from egobench_tasks.report.read.runs import find_runs
from egobench_tasks.runs.journal import Answer, Journal


@pytest.fixture(scope="module")
def good(planted, writer, tmp_path_factory):
    return writer.write(tmp_path_factory.mktemp("good") / "run", "org/model", said_by(planted, right))


@pytest.fixture
def run(good, tmp_path):
    """A copy of a sound run, to be spoilt."""
    return shutil.copytree(good, tmp_path / "run")


def details(run, config="multi"):
    (path,) = run.glob(f"details/**/details_egogears:{config}*.parquet")
    return path


def score(planted, *paths):
    return score_choice_runs(find_runs(paths).choice, lambda benchmark: planted.location)


def test_a_sound_run_reads(planted, run):
    assert score(planted, run).outcomes["exact_set"].mean() == 1.0


@pytest.mark.parametrize("content", [b"", b"no parquet", "cut"])
def test_a_corrupt_parquet_is_named(planted, run, content):
    path = details(run)
    path.write_bytes(path.read_bytes()[:-200] if content == "cut" else content)
    with pytest.raises(InputError, match=r"details_egogears.*cannot be read as parquet.*--save-details"):
        score(planted, run)


@pytest.mark.parametrize("column", ["question_id", "shown_letters"])
def test_details_of_an_older_version_name_what_they_lack(planted, run, column):
    def without(row):
        del row["doc"]["specific"][column]
        return row

    path = details(run)
    pq.write_table(pa.Table.from_pylist([without(row) for row in pq.read_table(path).to_pylist()]), path)
    with pytest.raises(InputError, match=rf"no doc.specific.{column}: these details were saved by another version"):
        score(planted, run)


def test_details_without_questions_are_an_empty_run(planted, run):
    path = details(run)
    pq.write_table(pq.read_table(path).slice(0, 0), path)
    with pytest.raises(InputError, match="holds no questions"):
        score(planted, run)


def test_questions_answered_twice_are_named(planted, run):
    path = details(run)
    table = pq.read_table(path)
    pq.write_table(pa.concat_tables([table, table.slice(3, 2)]), path)
    with pytest.raises(InputError, match="answers questions m0003, m0004 more than once"):
        score(planted, run)


def test_a_folder_without_a_run_says_what_a_run_is(tmp_path):
    with pytest.raises(InputError, match="holds no answers of egobench's tasks"):
        find_runs([tmp_path])
    with pytest.raises(InputError, match="no such folder"):
        find_runs([tmp_path / "absent"])


def test_results_without_details_say_how_to_get_them(run):
    shutil.rmtree(run / "details")
    with pytest.raises(InputError, match="results without details; run again with --save-details"):
        find_runs([run])


def test_a_run_given_twice_is_refused(run):
    with pytest.raises(InputError, match="given twice"):
        find_runs([run, run / ".." / "run"])


@pytest.mark.parametrize(
    "change",
    [
        {"question": "Something else?"},
        {"answer": ["A", "B", "C"]},
        {"options": ["Other", "texts", "here"], "answer": ["A"]},
        {"question_id": "m9999"},
    ],
    ids=["question", "answer", "options", "id"],
)
def test_a_run_over_another_dataset_revision_is_refused(run, tmp_path, change):
    rows = mixed_rows(60, 80)
    rows["multi"][7] |= {**change, "n_select": len(change.get("answer", rows["multi"][7]["answer"]))}
    other = plant(tmp_path / tmp_path.name, rows)  # datasets caches by a folder's name
    with pytest.raises(InputError, match=r"another dataset revision \(fingerprint .*m0007 .*EGOGEARS_DATA"):
        score(other, run)


def test_a_revision_with_the_same_questions_is_read_and_said(run, tmp_path):
    rows = mixed_rows(60, 80)
    for row in rows["multi"]:
        row["capability"] = "ordering"
    other = plant(tmp_path / tmp_path.name, rows)  # datasets caches by a folder's name
    results = score(other, run)
    assert results.outcomes["exact_set"].mean() == 1.0
    (notice,) = results.notices
    assert "ran on dataset revision" in notice and "the same in both" in notice


def test_a_prefix_before_a_questions_words_is_another_question(run, tmp_path):
    rows = mixed_rows(60, 80)
    rows["multi"][7]["question"] = rows["multi"][7]["question"].partition(" ")[2]  # what ran has a word before it
    other = plant(tmp_path / tmp_path.name, rows)
    with pytest.raises(InputError, match=r"another dataset revision .*m0007 "):
        score(other, run)


def test_of_words_that_a_run_did_not_keep_nothing_is_said(run, tmp_path):
    def without(row):
        del row["doc"]["specific"]["question"]
        return row

    path = details(run)
    pq.write_table(pa.Table.from_pylist([without(row) for row in pq.read_table(path).to_pylist()]), path)
    rows = mixed_rows(60, 80)
    rows["multi"][7]["question"] = rows["multi"][7]["question"].partition(" ")[2]
    (notice,) = score(plant(tmp_path / tmp_path.name, rows), run).notices
    assert "its options and answers are the same in both" in notice and "questions, options" not in notice
    assert "does not tell whether their wording is" in notice


def test_saved_scores_that_differ_from_their_text_are_reported(planted, run):
    path = details(run)
    rows = pq.read_table(path).to_pylist()
    rows[5]["metric"]["exact_set"] = 0.0
    pq.write_table(pa.Table.from_pylist(rows), path)
    results = score(planted, run)
    assert [task.disagreeing for task in results.tasks] == [(), ("m0005",)]
    assert "the scores saved with 1 answers differ" in "\n".join(results.notices)
    assert results.outcomes["exact_set"].mean() == 1.0  # what counts is computed from the text


def dates_of(run):
    return [path.name for path in (run / "details").rglob("*") if path.is_dir() and path.name[0].isdigit()]


def number(run, *dates):
    for place, date in enumerate(dates, start=1):
        path = run / "runs" / f"{place:04d}" / "run.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(asdict(record_for(place, date))))


@pytest.mark.parametrize("newest_is_good", [True, False])
def test_the_newest_of_several_details_counts_by_its_runs_number_and_is_named(planted, writer, run, newest_is_good):
    (good,) = dates_of(run)
    writer.write(run, "org/model", said_by(planted, wrong))
    (bad,) = set(dates_of(run)) - {good}
    number(run, *((bad, good) if newest_is_good else (good, bad)))  # whatever the dates in the names say
    results = score(planted, run)
    assert bool(results.outcomes["exact_set"].mean() == 1.0) is newest_is_good
    assert sum("has 2 details files; the newest is read" in notice for notice in results.notices) == 2


def test_of_details_that_nothing_puts_in_order_none_is_chosen(planted, writer, run):
    writer.write(run, "org/model", said_by(planted, wrong))
    with pytest.raises(InputError, match=r"no run\.json says when .* local times, which do not tell"):
        find_runs([run])


def test_details_that_say_the_same_need_no_order(planted, writer, run):
    writer.write(run, "org/model", said_by(planted, right))
    assert score(planted, run).outcomes["exact_set"].mean() == 1.0


def resettle(run, config, **changed):
    """Give the one results file's task other settings: ``model`` of the whole file, ``prompt`` and ``frames`` of it."""
    for path in run.glob("results/**/results_*.json"):
        saved = json.loads(path.read_text())
        if f"egogears:{config}|0" in saved["config_tasks"]:
            saved["config_general"]["model_config"] |= changed.get("model", {})
            task = saved["config_tasks"][f"egogears:{config}|0"]
            for old, new in changed.get("inputs", {}).items():
                assert old in task["prompt_function"]
                task["prompt_function"] = task["prompt_function"].replace(old, new)
            path.write_text(json.dumps(saved))


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"model": {"endpoint": {"temperature": 0.9, "thinking": "on"}}}, "endpoint.temperature=0.9"),
        ({"inputs": {"prompt choice": "prompt other"}}, "prompt=other-"),
        ({"inputs": {"count=64": "count=32"}}, "frames=egogears "),
    ],
    ids=["thinking and temperature", "prompts", "frames"],
)
def test_single_asked_one_way_and_multi_another_are_two_runs(planted, writer, tmp_path, changed, says):
    said = said_by(planted, right)
    run = writer.write(tmp_path, "org/model", {"single": said["single"]})
    writer.write(run, "org/model", {"multi": said["multi"]})
    assert score(planted, run).labels == ("model",)  # asked one way they are one run
    resettle(run, "single", **changed)
    results = score(planted, run)
    assert len(results.labels) == 2 and all(label.startswith("model (mixed: ") for label in results.labels)
    assert any(says in label for label in results.labels)
    assert [task.mark for task in results.tasks] == ["mixed", "mixed"]
    assert single_multi_table(results).rows.empty
    assert any("holds several runs of org/model, read apart" in notice for notice in results.notices)


def test_other_weights_under_one_name_are_two_runs(planted, writer, tmp_path):
    said = said_by(planted, right)
    run = writer.write(tmp_path, "org/model", {"single": said["single"]})
    (first,) = dates_of(run)
    writer.write(run, "org/model", {"multi": said["multi"]})
    (second,) = set(dates_of(run)) - {first}
    number(run, first, second)
    assert len(find_runs([run]).choice) == 1
    for place, weights in ((1, "aaaa"), (2, "bbbb")):
        identity = {"sources": {"model_name": {"commit": weights}}}
        record = record_for(place, (first, second)[place - 1], identity=identity)
        (run / "runs" / f"{place:04d}" / "run.json").write_text(json.dumps(asdict(record)))
    names = [found.name for found in find_runs([run]).choice]
    assert sorted(names) == [f"model (mixed: sources.model_name.commit={one})" for one in ("aaaa", "bbbb")]


def test_runs_of_one_model_are_told_apart_by_their_folders(run, tmp_path):
    second = shutil.copytree(run, tmp_path / "b" / "run")
    third = shutil.copytree(run, tmp_path / "c" / "run")
    names = [found.name for found in find_runs([run, second, third]).choice]
    assert names[1:] == ["model (b/run)", "model (c/run)"]
    assert len(set(names)) == 3


def test_two_models_in_one_folder_are_two_runs(planted, writer, run):
    writer.write(run, "other/model", {"multi": said_by(planted, wrong)["multi"]})
    assert [found.name for found in find_runs([run]).choice] == ["org/model", "other/model"]


def test_a_model_without_a_finish_reason_stopped_normally(planted, run):
    path = details(run)
    rows = pq.read_table(path).to_pylist()
    for row in rows:
        del row["model_response"]["finish_reason"]
    pq.write_table(pa.Table.from_pylist(rows), path)
    assert score(planted, run).outcomes["exact_set"].mean() == 1.0


def answer(question_id, text, **more):
    return Answer(f"key-{question_id}-{more}", question_id, "egogears:multi|0", "prompt", text, "stop", **more)


def journal_of(folder, planted, n, speak=right):
    journal = Journal(folder)
    for row in planted.rows["multi"][:n]:
        journal.append(answer(row["question_id"], speak(row).text))
    journal.close()
    return journal


def test_the_journal_of_a_killed_run_is_read_as_a_partial_one(planted, tmp_path):
    journal_of(tmp_path / "journal", planted, 30)
    (file,) = (tmp_path / "journal").glob("*.jsonl")
    file.write_bytes(file.read_bytes()[:-20])  # the kill came in the middle of a line
    results = score(planted, tmp_path / "journal")
    assert results.labels == ("journal (partial)",)
    assert results.outcomes["exact_set"].sum() == 29
    assert results.tasks[0].unfinished == 51
    assert any("journal of an unfinished run" in notice for notice in results.notices)


def test_of_attempts_with_growing_budgets_the_largest_counts(planted, tmp_path):
    row = planted.rows["multi"][0]
    journal = Journal(tmp_path)
    journal.append(replace(answer(row["question_id"], right(row).text, budget_tokens=4096)))
    journal.append(replace(answer(row["question_id"], "", budget_tokens=2048), finish_reason="length"))
    journal.close()
    assert score(planted, tmp_path).outcomes["exact_set"].sum() == 1


def test_a_journal_of_two_settings_is_refused(planted, tmp_path):
    journal_of(tmp_path, planted, 2)
    journal = Journal(tmp_path)
    journal.append(replace(answer("m0001", "{}"), key="other", prompt="another prompt"))
    journal.close()
    with pytest.raises(InputError, match="answers question m0001 under several settings"):
        score(planted, tmp_path)


def write_inspect_log(path, planted, said, **metadata):
    from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalSample, EvalSpec, write_eval_log
    from inspect_ai.model import ModelOutput

    from egobench_tasks.asking.choice import show_choice
    from egobench_tasks.asking.prompts import load_choice_templates

    samples = []
    for row in planted.rows["multi"]:
        one = said(row)
        if one is not None:
            reason = {"length": "max_tokens"}.get(one.finish_reason, one.finish_reason)
            output = ModelOutput.from_content("mock/model", one.text, stop_reason=reason)
            facts = show_choice(row, load_choice_templates(), 64, 4).facts()
            samples.append(
                EvalSample(id=row["question_id"], epoch=1, input="", target="", metadata=facts, output=output)
            )
    spec = EvalSpec(
        created="2026-11-30T05:15:00+00:00",
        task="egobench_tasks/egogears_multi",
        dataset=EvalDataset(sample_ids=[row["question_id"] for row in planted.rows["multi"]]),
        model="mock/model-9b",
        config=EvalConfig(),
        metadata=metadata,
    )
    write_eval_log(EvalLog(eval=spec, samples=samples, status="success"), str(path))


def test_an_inspect_log_gives_what_the_same_answers_give_elsewhere(planted, writer, tmp_path):
    def speak(row):
        number = int(row["question_id"][1:])
        if number % 7 == 0:
            return Said('{"answer": ["A"]}', "length")
        return None if number % 11 == 0 else (right if number % 3 else wrong)(row)

    write_inspect_log(tmp_path / "log.eval", planted, speak, prompt="p", frames="f", dataset="d")
    writer.write(tmp_path / "same", "same", {"multi": said_by(planted, speak)["multi"]})
    results = score(planted, tmp_path / "log.eval", tmp_path / "same")
    assert results.labels == ("model-9b (partial)", "same (partial)")
    assert results.tasks[0].settings.frames == "f"
    first, second = (results.outcomes[results.outcomes["run"] == label] for label in results.labels)
    for column in ("state", "exact_set", "jaccard", "predicted"):
        assert list(first[column]) == list(second[column])
    assert set(first["state"]) == {"answered", "truncated", "missing"}


def test_a_file_that_is_no_inspect_log_is_named(tmp_path):
    (tmp_path / "broken.eval").write_bytes(b"PK nothing")
    with pytest.raises(InputError, match=r"broken\.eval: cannot be read as an Inspect log"):
        find_runs([tmp_path / "broken.eval"])


def test_a_broken_results_file_is_named(run):
    (path,) = run.glob("results/**/results_*.json")
    path.write_text(json.dumps({"config_tasks": {}}))
    with pytest.raises(InputError, match="cannot be read as lighteval's results of egogears:"):
        find_runs([run])


def test_a_run_shuffled_otherwise_is_scored_by_the_order_it_saved(tmp_path):
    """The options' order is what the run recorded, so an older shuffle still scores right."""
    from egobench_tasks.report.read.responses import Response, Shown, TaskRun

    rows = mixed_rows(0, 4)["multi"]
    split = memory_split("multi", rows)
    run = memory_run("m", {"multi": {}})
    question = next(iter(split.questions.values()))
    backwards = question.letters[::-1]
    shown = Shown(question.letters, backwards, question.answer)
    chosen = [
        letter for letter, original in zip(question.letters, backwards, strict=True) if original in question.answer
    ]
    response = Response(question.question_id, json.dumps({"answer": chosen}), "stop", shown)
    task = TaskRun("multi", tmp_path, run.tasks[0].settings, lambda: [response])
    results = score_runs([replace(run, tasks=(task,))], lambda config: split)
    assert results.outcomes["exact_set"].tolist() == [1.0, 0.0, 0.0, 0.0]
    assert results.outcomes["predicted"][0] == "".join(sorted(question.answer))
    assert reply(rows[0], "A").text  # the shuffle of today is another one


def test_frames_of_another_number_show_in_the_settings(planted, tmp_path):
    other = RunWriter(planted, n_frames=32).write(tmp_path / "run", "m", {"multi": said_by(planted, right)["multi"]})
    assert "count=32" in score(planted, other).tasks[0].settings.frames
