"""Jinja for pages: whatever is filled in is escaped, and a name that is not given is an error."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined


def page_templates(folders: Sequence[Path], filters: Mapping[str, Callable[..., Any]]) -> Environment:
    """Return the templates of some folders, the first that has one counts; ``filters`` by their names."""
    environment = Environment(
        loader=FileSystemLoader(folders),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= filters
    return environment
