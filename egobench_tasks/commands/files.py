"""The command that runs what a file says: `egobench run FILE.yaml`. `cli` puts it beside the other kinds of runs."""

from pathlib import Path
from typing import Annotated

import typer

from egobench_tasks.commands.runs import VERBOSE
from egobench_tasks.stopping import ending_on_sigterm


@ending_on_sigterm()
def run_file(
    config: Annotated[Path, typer.Argument(metavar="FILE.yaml", help="Models, tasks, probes, judge, output, report.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Each model's --dry-run; nothing is scored.")] = False,
    report: Annotated[bool, typer.Option("--report", help="Write one report of all models at the end.")] = False,
    verbose: Annotated[bool, VERBOSE] = False,
) -> None:
    """Run what a file says, one model after another; one that fails does not lose the others.

    All of the file is checked before anything starts.
    """
    from egobench_tasks.commands.run_file import read_plan
    from egobench_tasks.commands.run_plan import run_plan

    raise typer.Exit(run_plan(read_plan(config, dry_run=dry_run, report=report, verbose=verbose)))
