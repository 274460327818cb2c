"""A hook of MkDocs: the reference of the command line is made from the commands themselves, by Typer."""

import typer
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from typer.cli import get_docs_for_click

from egobench_tasks.cli import app

_PAGE = "reference/command-line.md"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the page to those that MkDocs found."""
    command = typer.main.get_command(app)
    text = get_docs_for_click(obj=command, ctx=typer.Context(command), name="egobench", title="Command line")
    files.append(File.generated(config, _PAGE, content=text))
    return files
