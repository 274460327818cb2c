"""The `egobench` command: a thin layer over the packages; see `commands` for its parts."""

import io
import os
import sys
from typing import Annotated, NoReturn

import typer

from egobench_tasks import __version__
from egobench_tasks.commands import (
    canary,
    data,
    doctor,
    draft,
    elsewhere,
    files,
    journal,
    making,
    power,
    results,
    runs,
    tasks,
)
from egobench_tasks.errors import EgobenchError, machine_trouble

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,  # rich would take [@REVISION] for markup, and costs a tenth of a second
    pretty_exceptions_enable=False,
    help="EgoGears and EgoTempo: build the datasets, run models on them, report.",
)
for part in (data, runs, tasks, doctor, elsewhere, journal, results, power, canary, making, draft):
    app.add_typer(part.app)
runs.run_app.command("file")(files.run_file)


def main() -> None:
    """Run the command line; errors a user can act on end as one message, without a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that cannot show ± must not cost a table
    try:
        app()
    except EgobenchError as error:
        _end(error)
    except BrokenPipeError:  # whoever read the output has seen enough (`| head`)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        trouble = machine_trouble(error)
        if trouble is None:
            raise
        _end(trouble)


def _end(error: EgobenchError) -> NoReturn:
    print(f"egobench: {error}", file=sys.stderr)
    sys.exit(error.exit_code)


@app.callback(invoke_without_command=True)
def _version(version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False) -> None:
    if version:
        print(__version__)
        raise typer.Exit


if __name__ == "__main__":
    main()
