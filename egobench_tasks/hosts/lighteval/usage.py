"""Our errors on their way through lighteval's command line, and back."""

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


@contextmanager
def our_errors() -> Iterator[None]:
    """Turn what `usage_errors` made back into our `InputError`, where no command line of lighteval's stands between."""
    try:
        yield
    except typer.BadParameter as error:
        raise InputError(error.message) from None
