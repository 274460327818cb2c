"""What an extra's packages are for, and how to install them where this package came from."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from urllib.parse import unquote, urlsplit

from egobench_tasks.errors import InputError

DISTRIBUTION = "egobench"
_OURS = ("egobench_tasks", "dataset_scripts")


@contextmanager
def needs_extra(extra: str, doing: str) -> Iterator[None]:
    """Turn a package that is not there into an ``InputError``: what needs it, and the command that installs it here.

    ``doing`` begins the message (``"a report"``). A module of our own that is not there is a defect, and stays one.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] in _OURS:
            raise
        raise InputError(f"{doing} needs {error.name}, which is not installed: {install_command(extra)}") from error


def install_command(extra: str) -> str:
    """Return the command that installs an extra: from the checkout where this is an editable one, else by name."""
    checkout = _editable_checkout()
    return f"pip install -e '{checkout}[{extra}]'" if checkout else f"pip install '{DISTRIBUTION}[{extra}]'"


def _editable_checkout() -> str | None:
    """The folder that ``pip install -e`` was given, as pip notes it."""
    try:
        noted = json.loads(metadata.distribution(DISTRIBUTION).read_text("direct_url.json") or "{}")
    except (metadata.PackageNotFoundError, ValueError):
        return None
    if not noted.get("dir_info", {}).get("editable"):
        return None
    return unquote(urlsplit(str(noted.get("url", ""))).path) or None
