import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from egobench_tasks.errors import EgobenchError
from egobench_tasks.hosts.lighteval import offline
from egobench_tasks.hosts.lighteval.offline import as_task_names


def test_a_task_name_is_never_taken_for_the_datasets_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "egogears").mkdir()
    assert as_task_names("egogears") == "egogears|0"
    assert as_task_names("egogears:single,egogears:multi|0") == "egogears:single|0,egogears:multi|0"


def test_a_file_of_task_names_stays_one(tmp_path):
    (tmp_path / "tasks.txt").write_text("egogears|0\n")
    assert as_task_names(str(tmp_path / "tasks.txt")) == str(tmp_path / "tasks.txt")


def test_defect_lighteval_opens_a_folder_by_a_tasks_name(tmp_path, monkeypatch):
    from lighteval.tasks.registry import Registry

    monkeypatch.chdir(tmp_path)
    (tmp_path / "egogears").mkdir()
    with pytest.raises(IsADirectoryError):
        Registry(tasks="egogears")


def test_only_our_tasks_are_imported():
    code = (
        "import sys; from egobench_tasks.hosts.lighteval.offline import load_only_our_tasks as only; only()\n"
        "from lighteval.tasks.registry import Registry\n"
        "names = set(Registry.load_all_task_configs(custom_tasks='egobench_tasks.tasks'))\n"
        "assert {'egogears:single', 'egogears:multi'} <= names, names\n"
        "assert not [name for name in sys.modules if name.startswith('lighteval.tasks.tasks')]\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_the_file_that_lets_plain_lighteval_start_is_where_it_looks(tmp_path, monkeypatch):
    package = Path(importlib.util.find_spec("lighteval").submodule_search_locations[0])
    path, starter = offline.let_plain_lighteval_start()
    assert starter.read_text().startswith("import sys; ")
    assert path.is_file()
    source = (package / "tasks" / "tasks" / "tiny_benchmarks.py").read_text()
    assert path.parent == package / "tasks" / "tasks"
    assert f'"{path.name}"' in source  # else lighteval looks elsewhere now, or no more


def test_a_read_only_environment_is_told_of_egobench_run(tmp_path, monkeypatch):
    monkeypatch.setattr(offline, "_DOWNLOADED_FILE", Path("no", "such", "folder", "file"))
    with pytest.raises(EgobenchError, match="egobench run"):
        offline.let_plain_lighteval_start()
