"""The `egobench` command: a thin layer over the packages; see `commands` for its parts."""

import sys
from typing import Annotated

import typer

from egobench_tasks import __version__
from egobench_tasks.commands import data, journal, power, results, runs
from egobench_tasks.errors import EgobenchError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="EgoGears and EgoTempo: build the datasets, run models on them, report.",
)
for part in (data, runs, journal, results, power):
    app.add_typer(part.app)


def main() -> None:
    """Run the command line; errors a user can act on end as one message, without a traceback."""
    try:
        app()
    except EgobenchError as error:
        print(f"egobench: {error}", file=sys.stderr)
        sys.exit(error.exit_code)


@app.callback(invoke_without_command=True)
def _version(version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False) -> None:
    if version:
        print(__version__)
        raise typer.Exit


if __name__ == "__main__":
    main()
