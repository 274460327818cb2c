"""Probes as lighteval tasks: their names, what they ask, what stands in the details, and what they cost."""

import copy
import dataclasses
import json
from html import escape
from pathlib import Path

import pytest
from datasets import Dataset
from lighteval.tasks.lighteval_task import LightevalTask
from lighteval.tasks.registry import Registry

from egobench_tasks import tasks
from egobench_tasks.asking.probes import PROBES, SET_OF_PROBES, Probe, probe_configs
from egobench_tasks.benchmarks import EGOGEARS
from egobench_tasks.errors import InputError
from egobench_tasks.frames import store as frame_store
from egobench_tasks.hosts.lighteval import vlm as vlm_module
from egobench_tasks.hosts.lighteval.docs import egogears_task
from egobench_tasks.hosts.lighteval.messages import message_parts
from egobench_tasks.hosts.lighteval.usage import Told
from egobench_tasks.report.read.lighteval_reader import find_lighteval_runs


@pytest.fixture
def probe_docs(sample_folder, monkeypatch):
    """``probe_docs("swapped", "multi")``: fresh Docs of one task, as lighteval makes them."""
    monkeypatch.setenv("EGOGEARS_DATA", str(sample_folder / "egogears"))

    def make(probe, config="multi"):
        name = f"egogears_{probe}:{config}" if probe else f"egogears:{config}"
        task = LightevalTask(copy.deepcopy(next(one for one in tasks.TASKS_TABLE if one.name == name)))
        LightevalTask.load_datasets({name: task})
        return task.get_docs()

    return make


@pytest.fixture
def registry(monkeypatch):
    """``registry("probes")``: the names of the tasks that lighteval would run."""
    monkeypatch.setattr(
        Registry, "load_all_task_configs", staticmethod(lambda **_: {task.name: task for task in tasks.TASKS_TABLE})
    )
    return lambda names: sorted(Registry(tasks=names, custom_tasks="egobench_tasks.tasks").task_to_configs)


def test_names_that_plain_lighteval_takes(registry):
    both = ("blind", "center", "shuffled", "perm1", "perm2")
    expected = [f"egogears_{probe}:{config}" for probe in both for config in ("single", "multi")]
    assert registry("probes|0") == sorted([*expected, "egogears_reordered:multi", "egogears_swapped:multi"])
    assert {name.split(":")[0] for name in registry("probes")} == {f"egogears_{probe}" for probe in SET_OF_PROBES}
    assert registry("egogears_swapped|0") == ["egogears_swapped:multi"]
    assert registry("egogears|0") == ["egogears:multi", "egogears:single"]
    with pytest.raises(Told, match="egogears_mirrored"):
        registry("egogears_mirrored|0")


def test_defect_stock_lighteval_takes_one_subtask_for_none(registry):
    names = Registry(tasks="egogears:multi", custom_tasks="egobench_tasks.tasks")._task_superset_dict
    assert "egogears" in names and "egogears_swapped" not in names


@pytest.mark.parametrize("name", PROBES)
def test_every_probe_shapes_its_tasks_name(name):
    plain, probed = (egogears_task("multi", tasks.choice_templates(), probe) for probe in (None, PROBES[name]))
    assert plain.prompt_function.__name__.startswith("egogears(prompt choice-1-")
    assert probed.prompt_function.__name__.startswith(f"egogears(probe {name}, prompt choice-1-")
    frames = probed.prompt_function.inputs.partition("frames ")[2]
    assert (frames == plain.prompt_function.inputs.partition("frames ")[2]) == (PROBES[name].frames is None)


def test_what_a_probe_leaves_out_is_said(probe_docs, caplog):
    n_all, docs = len(probe_docs(None)), probe_docs("swapped")
    assert 0 < len(docs) < n_all
    assert f"egogears_swapped:multi: asks {len(docs)} of {n_all} questions" in caplog.text


def test_a_probe_that_applies_to_nothing_is_an_error_before_anything_is_asked():
    prompt = egogears_task("single", tasks.choice_templates(), PROBES["swapped"]).prompt_function
    clip = {"path": "/c.mp4", "bytes": None}
    row = {
        "question_id": "q",
        "question": "?",
        "options": ["a", "b"],
        "answer": ["A"],
        "unit": "u",
        "question_type": "t",
    }
    rows = Dataset.from_list([{**row, "video": clip, "duration_s": 9.0, "sha256": "0" * 64}])
    with pytest.raises(InputError, match="swapped applies to none of these 1 questions; leave it out"):
        prompt.asked(rows)


def test_a_new_probe_is_one_entry(monkeypatch, sample_folder, tmp_path):
    """One definition: its tasks are there, the report tells what it does, and the browser shows its message."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "report"))
    from planted import Planted, RunWriter, Said

    from egobench_tasks.browse.html import question_html
    from egobench_tasks.browse.load import load_library
    from egobench_tasks.data import DatasetLocation, fingerprint, load_rows
    from egobench_tasks.report.read.choice_outcomes import score_task
    from egobench_tasks.report.read.choice_questions import load_split
    from egobench_tasks.report.show.write import write_report

    new = Probe(
        name="backwards",
        changes="its clips last first",
        expects="answers the same",
        change=lambda view: dataclasses.replace(view, clips=view.clips[::-1]) if len(view.clips) > 1 else None,
        multi_only=True,
        same_answer=True,
    )
    monkeypatch.setitem(PROBES, new.name, new)
    assert [task.name for task in tasks.choice_tasks()][-1] == "egogears_backwards:multi"

    location = DatasetLocation(str(sample_folder / "egogears"))
    rows = load_rows(location, "multi")
    writer = RunWriter(Planted(location, {"multi": list(rows)}, {"multi": fingerprint(rows)}))
    said = {row["question_id"]: Said('{"answer": ["A"]}') for row in rows}
    asked = {key: value for key, value in said.items() if key in writer._docs("backwards:multi")}
    asked |= {key: Said('{"answer": ["B"]}') for key in list(asked)[::4]}
    same = sum(asked[key] == said[key] for key in asked) / len(asked)
    writer.write(tmp_path / "run", "m", {"multi": said, "backwards:multi": asked})
    (run,) = find_lighteval_runs(tmp_path / "run")
    assert [(task.probe, task.config) for task in run.probes] == [("backwards", "multi")]
    assert {one.question_id for one in score_task(run.probes[0], load_split(location, "multi"))} == set(asked)

    write_report([tmp_path / "run"], tmp_path / "report", find_dataset=lambda _: location)
    tables = json.loads((tmp_path / "report/report.json").read_text())["tables"]
    (profile,) = [row for row in tables["profile"]["rows"] if row["way"] == new.name]
    assert (profile["shown"], profile["questions"]) == (new.changes, len(asked))
    assert profile["not_asked"] == len(rows) - len(asked)
    (stated,) = [row for row in tables["statements"]["rows"] if row["statement"] == "Indifference to backwards"]
    assert (stated["value"], stated["questions"]) == (same, len(asked))
    told = f"{100 * same:.1f} % ({100 * stated['low']:.1f} to {100 * stated['high']:.1f}) of its answers stay the same"
    for form in ("report.html", "report.md"):
        assert f"{told} with {new.changes}" in (tmp_path / "report" / form).read_text()

    library = load_library(location, [tmp_path / "run"])
    page = library.page(next(iter(asked)), new.name)
    assert [clip.label for clip in page.shown] == list(writer.planted.row(page.entry.question_id)["clip_labels"])[::-1]
    assert new.name in page.probes and new.changes in page.probe_note
    assert page.answers[0].chosen == {"B"}
    html = question_html(page, lambda path: path)
    assert f'data-probe="{new.name}"' in html and new.changes in html and escape(page.message[:40]) in html


def test_details_say_what_was_done(probe_docs):
    (doc, *_) = probe_docs("shuffled")
    facts = doc.specific
    assert (facts["probe"], facts["probe_seed"]) == ("shuffled", facts["question_id"])
    assert "frames in the order " in doc.query
    row = json.loads(json.dumps(facts))
    assert sorted(row["segments"][2]["order"]) == list(range(doc.images.requests[0].spec.count))


def test_a_full_set_decodes_no_frame_twice(probe_docs, vlm, monkeypatch, tmp_path):
    """All questions of the sample, with the tiny model: the probes decode the central frames, and nothing that the
    benchmark's own questions did."""
    monkeypatch.setenv("EGOBENCH_CACHE", str(tmp_path / "cache"))
    decoded, decode = [], frame_store.decode_jpegs

    def counting(path, spec):
        decoded.append(spec.sampling.value)
        return decode(path, spec)

    monkeypatch.setattr(frame_store, "decode_jpegs", counting)
    monkeypatch.setattr(vlm_module, "EGOGEARS", dataclasses.replace(EGOGEARS, max_new_tokens_cap=8))

    def docs_of(probe):
        configs = EGOGEARS.rows if probe is None else probe_configs(PROBES[probe])
        return [doc for config in configs for doc in probe_docs(probe, config)]

    def ask(probe):
        docs = docs_of(probe)
        for doc in docs:
            doc.generation_size = 8
        assert len(model.greedy_until(docs)) == len(docs) > 0
        return {(request.sha256, request.spec.key()) for doc in docs for request in doc.images.requests}

    model = vlm()
    asked = set().union(*(ask(probe) for probe in (None, *SET_OF_PROBES)))
    assert len(decoded) == len(asked)
    shared = {key for key in asked if "budget" in key[1]}
    assert sorted(decoded) == sorted(["budget"] * len(shared) + ["central"] * (len(asked) - len(shared)))
    for probe in (name for name in PROBES if PROBES[name].frames is None):
        for doc in docs_of(probe):
            if asked.issuperset((request.sha256, request.spec.key()) for request in doc.images.requests):
                message_parts(doc)
    assert len(decoded) == len(asked)
