"""`lighteval accelerate` called by us: with settings that it cannot read, our tasks alone, and its log at rest."""

from collections.abc import Sequence

from egobench_tasks.errors import InputError
from egobench_tasks.hosts.lighteval.compat import given_settings
from egobench_tasks.hosts.lighteval.offline import load_only_our_tasks
from egobench_tasks.hosts.lighteval.quiet import loggers_kept, quiet
from egobench_tasks.hosts.lighteval.run import TASKS_MODULE
from egobench_tasks.hosts.lighteval.usage import our_errors
from egobench_tasks.hosts.lighteval.vision.settings import FrameVLMConfig


def run_accelerate(settings: FrameVLMConfig, tasks: str, arguments: Sequence[str], *, verbose: bool) -> None:
    """Ask a model every question of the tasks, and score, save and show its answers.

    ``arguments`` are lighteval's own options. Raises ``InputError`` for one that is none, and what the tasks and the
    model raise.
    """
    with loggers_kept():
        from lighteval.__main__ import app as lighteval

    if not verbose:
        quiet()
    load_only_our_tasks()
    ours = ["--vision-model", "--custom-tasks", TASKS_MODULE]
    try:
        with our_errors(), given_settings(settings):
            lighteval(["accelerate", "model_name=settings", tasks, *ours, *arguments], standalone_mode=False)
    except Exception as error:  # click's, which typer brings along under a name of its own
        if hasattr(error, "format_message"):
            raise InputError(f"lighteval accelerate: {error.format_message()}") from None
        raise
