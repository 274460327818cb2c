"""Plain `lighteval` before it has read our tasks: mistakes that it ends with a traceback for end as one message.

lighteval 0.13 reads a model's arguments, and opens TASKS as a file, before it imports custom tasks, so that nothing of
ours runs then. `egobench prepare-lighteval` lets this module in when Python starts `lighteval` with our tasks, and at
no other time. Nothing heavy is imported here.
"""

import os
import sys
from types import TracebackType
from typing import Any

from egobench_tasks.hosts.lighteval.vision.names import SETTINGS
from egobench_tasks.texts import nearest

STARTER_NAME = "egobench_lighteval.pth"
STARTER = (
    "import sys; exec(\"if any(word.endswith('lighteval') for word in sys.orig_argv[:3])"
    " and 'egobench_tasks.tasks' in sys.orig_argv:\\n try:\\n  import egobench_tasks.hosts.lighteval.plain as plain\\n"
    '  plain.listen()\\n except ImportError: pass")\n'
)
"""A line that Python runs when it starts, from a file beside the installed packages."""


def listen() -> None:
    """Have errors of the command line told here; Typer hands them on to what it finds when it is imported."""
    os.environ.setdefault("TYPER_STANDARD_TRACEBACK", "1")
    sys.excepthook = _tell


def _tell(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    said = mistake(error)
    if said is None:
        sys.__excepthook__(kind, error, trace)
        return
    print(f"egobench: {said}", file=sys.stderr)
    raise SystemExit(2)


def mistake(error: Any) -> str | None:
    """Return what to say of a user's mistake; None for any other error."""
    if isinstance(error, IsADirectoryError):
        name = error.filename
        return f'{name}: lighteval takes this for the folder of that name, which is here; write "{name}|0"'
    if type(error).__name__ == "ValidationError" and getattr(error, "title", "").endswith("ModelConfig"):
        faults = error.errors()
        if any(fault["type"] == "missing" and fault["loc"] == ("model_name",) for fault in faults):
            return 'no model_name; a model is given as "model_name=FOLDER_OR_NAME,batch_size=4,…"'
        return "; ".join(map(_fault, faults))
    return None


def _fault(fault: Any) -> str:
    name = ".".join(map(str, fault["loc"]))
    if fault["type"] != "extra_forbidden":
        return f"{name}={fault.get('input')}: {fault['msg']}"
    if name in SETTINGS:
        return f"plain lighteval knows no setting {name!r}; egobench run transformers does"
    return f"the model has no setting {name!r}; {nearest(name, SETTINGS)}"
