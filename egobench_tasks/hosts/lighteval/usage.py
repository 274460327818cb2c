"""Our errors on their way through lighteval's command line: one message, an exit code, no traceback."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import typer

from egobench_tasks.errors import EgobenchError

_our_command = ContextVar("_our_command", default=False)


class Told(typer.Exit):
    """An error of ours that was told on standard error: lighteval's command line ends with its exit code."""

    def __init__(self, error: EgobenchError) -> None:
        super().__init__(error.exit_code)
        self.error = error

    def __str__(self) -> str:
        return str(self.error)


@contextmanager
def usage_errors() -> Iterator[None]:
    """Tell an error of ours and end lighteval's command line; within `our_errors` leave it as it is.

    Typer would put a message of ours in a box of its own, in lines cut at the terminal's width.
    """
    try:
        yield
    except EgobenchError as error:
        if _our_command.get():
            raise
        print(f"egobench: {error}", file=sys.stderr)
        raise Told(error) from error


@contextmanager
def our_errors() -> Iterator[None]:
    """Let our errors pass: a command of ours called lighteval, and tells them itself."""
    before = _our_command.set(True)
    try:
        yield
    finally:
        _our_command.reset(before)
