"""lighteval on a machine without a network.

lighteval 0.13 imports all its own tasks before it looks at ours; one of them downloads a file at
import, and the program ends there. Nothing here imports lighteval before it must.
"""

import importlib.util
import sysconfig
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from egobench_tasks.errors import EgobenchError
from egobench_tasks.files import write_atomically
from egobench_tasks.hosts.lighteval.plain import STARTER, STARTER_NAME

if TYPE_CHECKING:
    from lighteval.tasks.lighteval_task import LightevalTaskConfig

_DOWNLOADED_FILE = Path("tasks", "tasks", "tinyBenchmarks.pkl")


def load_only_our_tasks() -> None:
    """For this process, make lighteval's registry hold the custom tasks alone (and start seconds sooner)."""
    from lighteval.tasks.registry import Registry

    def load_all_task_configs(
        custom_tasks: str | Path | ModuleType | None = None, load_multilingual: bool = False
    ) -> dict[str, "LightevalTaskConfig"]:
        return Registry._extract_configs(Registry.create_custom_tasks_module(custom_tasks))

    Registry.load_all_task_configs = staticmethod(load_all_task_configs)


def as_task_names(tasks: str) -> str:
    """Return lighteval's TASKS argument so that it cannot be taken for a folder of that name.

    lighteval opens TASKS as a file of task names if anything by that name exists, and ends with a
    traceback if it is a folder: ``egogears`` would fail just where the dataset lies. ``egogears|0``
    means the same and is no path.
    """
    if Path(tasks).is_file():
        return tasks
    return ",".join(task if "|" in task else f"{task}|0" for task in tasks.split(","))


def let_plain_lighteval_start() -> tuple[Path, Path]:
    """Put an empty file where lighteval would download one, and `plain`'s starter beside the packages; return both.

    The import only asks whether the file is there. The task that wants its content (tinyBenchmarks)
    cannot run without a network in any case. Raises ``EgobenchError`` where the folder is read-only.
    """
    package = importlib.util.find_spec("lighteval")
    if package is None or package.submodule_search_locations is None:
        raise EgobenchError("lighteval is not installed in this environment")
    path = Path(package.submodule_search_locations[0]) / _DOWNLOADED_FILE
    starter = Path(sysconfig.get_path("purelib")) / STARTER_NAME
    try:
        path.touch(exist_ok=True)
        with write_atomically(starter) as file:
            file.write(STARTER.encode())
    except OSError as error:
        raise EgobenchError(
            f"{error.filename}: cannot be written ({error.strerror}); use `egobench run`, which needs no such file"
        ) from error
    return path, starter
