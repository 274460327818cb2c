"""Imports point one way, heavy libraries stay in their rooms. A new folder needs a line here, a new file none."""

import ast
import configparser
import graphlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("egobench_tasks", "dataset_scripts")

ROOMS = [
    "egobench_tasks.cli",
    "egobench_tasks.commands",
    "dataset_scripts.sample",
    "dataset_scripts.publish",
    "dataset_scripts.check",
    "dataset_scripts.drafts",
    "dataset_scripts.revise",
    "dataset_scripts.egogears",
    "dataset_scripts.egotempo",
    "dataset_scripts.repository",
    "dataset_scripts",
    "egobench_tasks.making",
    "egobench_tasks.browse",
    "egobench_tasks.report.show",
    "egobench_tasks.report.analyse",
    "egobench_tasks.report.read",
    "egobench_tasks.report",
    "egobench_tasks.tasks",
    "egobench_tasks.hosts.inspect",
    "egobench_tasks.hosts.lighteval",
    "egobench_tasks.hosts.export",
    "egobench_tasks.hosts.endpoint",
    "egobench_tasks.hosts",
    "egobench_tasks.asking",
    "egobench_tasks.judge",
    "egobench_tasks.runs",
    "egobench_tasks.frames",
    "egobench_tasks.data",
    "egobench_tasks.servers",
    "egobench_tasks.scoring",
    "egobench_tasks.canary",
    "egobench_tasks.benchmarks",
    "egobench_tasks.documents",
    "egobench_tasks.locks",
    "egobench_tasks.malloc",
    "egobench_tasks.files",
    "egobench_tasks.extras",
    "egobench_tasks.cache",
    "egobench_tasks.texts",
    "egobench_tasks.stopping",
    "egobench_tasks.errors",
    "egobench_tasks",
]
"""From the command line down to what everything rests on; a room imports itself and what stands below it."""

HEAVY = {
    "accelerate": {"egobench_tasks.hosts.lighteval"},
    "av": {"egobench_tasks.frames", "dataset_scripts.egotempo", "dataset_scripts.repository", "dataset_scripts.sample"},
    "gradio": {"egobench_tasks.browse", "egobench_tasks.making"},
    "inspect_ai": {"egobench_tasks.hosts.inspect", "egobench_tasks.report.read"},
    "lighteval": {
        "egobench_tasks.hosts.lighteval",
        "egobench_tasks.tasks",
        "egobench_tasks.commands",
        "dataset_scripts.sample",
    },
    "httpx": {"egobench_tasks.servers", "dataset_scripts.publish"},
    "matplotlib": {"egobench_tasks.report.show"},
    "pandas": {"egobench_tasks.report.read", "egobench_tasks.report.analyse", "egobench_tasks.report.show"},
    "rapidfuzz": {"egobench_tasks.making"},
    "scipy": {"egobench_tasks.report.read", "egobench_tasks.report.analyse"},
    "torch": {"egobench_tasks.hosts.lighteval", "dataset_scripts.sample"},
    "transformers": {"egobench_tasks.hosts.lighteval", "dataset_scripts.sample"},
}
"""What takes long to import, and the only rooms that may."""

STANDARD_LIBRARY_ALONE = ("egobench_tasks.scoring", "egobench_tasks.benchmarks", "egobench_tasks.errors")


def modules_of(root: Path) -> dict[str, Path]:
    """Every module of the two packages under ``root``, by its dotted name."""
    found = {}
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports_of(path: Path, modules: dict[str, Path]) -> Iterator[str]:
    """Every module that a file imports, at its top or inside a function."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in modules else str(node.module)


def room_of(module: str) -> str | None:
    """The most specific room that holds a module; a bare package holds its ``__init__`` alone."""
    holders = [room for room in ROOMS if module == room or (room not in PACKAGES and module.startswith(f"{room}."))]
    return max(holders, key=len, default=None)


def faults_of(root: Path) -> list[str]:
    """Every import that runs upwards, every heavy one out of its room, and every module without a room."""
    modules, faults = modules_of(root), []
    for module, path in modules.items():
        room = room_of(module)
        if room is None:
            faults.append(f"{module}: stands in no room of ROOMS")
            continue
        for imported in imports_of(path, modules):
            top = imported.partition(".")[0]
            if top in PACKAGES:
                target = room_of(imported)
                if target is None or ROOMS.index(target) < ROOMS.index(room):
                    faults.append(f"{module}: imports {imported}, which stands above it")
            elif top in HEAVY and room not in HEAVY[top]:
                faults.append(f"{module}: imports {top}, which belongs in {', '.join(sorted(HEAVY[top]))}")
            elif room in STANDARD_LIBRARY_ALONE and top not in sys.stdlib_module_names:
                faults.append(f"{module}: imports {top}; this room has the standard library alone")
    return faults


def test_imports_point_one_way():
    assert faults_of(ROOT) == []


def test_no_module_imports_itself_by_way_of_others():
    modules = modules_of(ROOT)
    graph = {name: {one for one in imports_of(path, modules) if one in modules} for name, path in modules.items()}
    graphlib.TopologicalSorter(graph).prepare()  # raises CycleError, which names the circle


@pytest.mark.parametrize(
    ("module", "line", "fault"),
    [
        ("egobench_tasks/asking/choice.py", "from egobench_tasks.hosts.lighteval import docs", "stands above it"),
        ("egobench_tasks/runs/journal.py", "import egobench_tasks.judge.client", "stands above it"),
        ("egobench_tasks/report/read/runs.py", "    from egobench_tasks.report import show", "stands above it"),
        ("egobench_tasks/data.py", "from egobench_tasks import cli", "stands above it"),
        ("egobench_tasks/browse/html.py", "from dataset_scripts.sample import oracle", "stands above it"),
        ("egobench_tasks/asking/options.py", "import torch", "belongs in"),
        ("egobench_tasks/scoring/answers.py", "import regex", "standard library alone"),
        ("egobench_tasks/attic/old.py", "", "stands in no room"),
    ],
)
def test_a_planted_wrong_import_is_found(tmp_path, module, line, fault):
    for name, path in modules_of(ROOT).items():
        is_package = path.name == "__init__.py"
        copy = tmp_path.joinpath(*name.split("."), *(["__init__.py"] if is_package else [])).with_suffix(".py")
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    planted = tmp_path / module
    planted.parent.mkdir(exist_ok=True)
    indented = line.startswith(" ")
    old = planted.read_text(encoding="utf-8") if planted.exists() else ""
    planted.write_text(old + ("\n\ndef late():\n" if indented else "\n") + f"{line}\n", encoding="utf-8")
    (found,) = faults_of(tmp_path)
    assert found.startswith(module.removesuffix(".py").replace("/", ".")) and fault in found


def test_every_room_is_installed():
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    listed = set(config["options"]["packages"].split())
    folders = {name for name, path in modules_of(ROOT).items() if path.name == "__init__.py"}
    assert listed - {"dataset_scripts.card_templates"} == folders


def test_every_folder_says_what_lives_there():
    for name, path in modules_of(ROOT).items():
        if path.name == "__init__.py":
            says = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
            assert says and says.count("\n") == 0 and says.endswith("."), f"{name} needs one sentence"
