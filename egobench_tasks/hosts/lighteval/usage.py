"""How our errors speak to lighteval's command line."""

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from egobench_tasks.errors import InputError


@contextmanager
def usage_errors() -> Iterator[None]:
    """Turn our `InputError` into what lighteval's command line prints as one message, exit code 2."""
    try:
        yield
    except InputError as error:
        raise typer.BadParameter(str(error)) from error
