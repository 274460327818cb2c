import json
import re

import pytest

from egobench_tasks.asking.catalogue import all_entries, entries_named, task_groups
from egobench_tasks.commands.doctor_checks import pinned_versions
from egobench_tasks.errors import InputError
from egobench_tasks.extras import install_command, needs_extra
from egobench_tasks.texts import some_of


def test_the_catalogue_is_what_lighteval_is_given(monkeypatch, tmp_path):
    from egobench_tasks import tasks

    path = tmp_path / "choices.json"
    path.write_text(json.dumps({"q": ["a", "b", "c"]}))
    monkeypatch.setenv("EGOBENCH_CHOICES", str(path))
    given = [*tasks.choice_tasks(), *tasks._egotempo(), *tasks._egotempo_choice()]
    assert [task.name for task in given] == [entry.name for entry in all_entries()]


def test_a_name_runs_its_parts_each_once():
    names = [entry.name for entry in entries_named("egogears,egogears:multi|0,egogears_swapped")]
    assert names == ["egogears:single", "egogears:multi", "egogears_swapped:multi"]
    assert len(entries_named("probes")) == 12  # seven, two of which ask the multi split alone
    with pytest.raises(InputError, match=r"did you mean egogears_blind\?"):
        entries_named("egogears,egogears_blnd")


def test_a_file_of_names_is_read_as_lighteval_reads_it(tmp_path):
    (tmp_path / "tasks.txt").write_text("# ours\negogears:multi|0\n\n")
    assert [entry.name for entry in entries_named(str(tmp_path / "tasks.txt"))] == ["egogears:multi"]


def test_what_a_task_costs_follows_from_what_it_shows():
    groups = {group.name: group for group in task_groups(all_entries())}
    assert groups["egogears"].n_frames == (567 + 1487) * 64
    assert (groups["egogears_f8"].n_frames, groups["egogears_blind"].image_tokens) == (2054 * 8, 0)
    assert groups["egotempo"].n_frames == pytest.approx(22_897, rel=0.001)  # counted on the annotations
    assert groups["egotempo_f8"].shows == "8 frames" and groups["egotempo_text"].n_frames == 0


def test_the_list_of_tasks(commands):
    code, text = commands("egobench", "tasks", "choice")
    assert code == 0 and len(re.findall(r"^egotempo_choice", text, re.MULTILINE)) == 3
    code, text = commands("egobench", "tasks", "--json")
    assert {"egogears", "egogears_swapped", "egotempo"} <= {group["name"] for group in json.loads(text)}


def test_an_extra_is_installed_the_way_the_package_was(monkeypatch):
    notes = {"editable": '{"dir_info": {"editable": true}, "url": "file:///work%20place/egobench"}', "wheel": None}
    for form, command in (
        ("editable", "pip install -e '/work place/egobench[report]'"),
        ("wheel", "pip install 'egobench[report]'"),
    ):
        noted = type("Distribution", (), {"read_text": lambda self, name, form=form: notes[form]})()
        monkeypatch.setattr("egobench_tasks.extras.metadata.distribution", lambda name, noted=noted: noted)
        assert install_command("report") == command


def test_a_module_of_ours_that_is_missing_is_a_defect():
    with pytest.raises(ModuleNotFoundError), needs_extra("report", "a report"):
        raise ModuleNotFoundError("no", name="egobench_tasks.report.gone")


def test_the_tested_versions_go_with_the_package():
    assert {"lighteval", "torch", "huggingface-hub", "inspect-ai"} <= set(pinned_versions())


def test_many_names_are_three_and_a_number():
    assert (
        some_of(["a"]) == "a" and some_of(list("abc")) == "a, b, c" and some_of(["x"] * 492) == "x, x, x and 489 more"
    )


def test_the_shells_completion_is_there(commands):
    code, text = commands(
        "egobench",
        _EGOBENCH_COMPLETE="complete_bash",
        COMP_WORDS="egobench doc",
        COMP_CWORD="1",
    )
    assert (code, text.split()) == (0, ["doctor"])
