"""The command that looks for the benchmarks' canaries: has this text, or what wrote it, seen the questions?"""

import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from egobench_tasks.canary import canaries_in, read_parts
from egobench_tasks.errors import InputError

app = typer.Typer()

# What nobody gives as text: a path, a name with an ending. A slip in a file's name must not read as "not found".
_LOOKS_LIKE_A_FILE = re.compile(r"\S*[/\\]\S*|\S+\.[A-Za-z]\w{0,9}")


@app.command()
def canary(
    texts: Annotated[
        list[str] | None, typer.Argument(metavar="TEXT…", help="Files, or the text itself; none, or -: standard input.")
    ] = None,
) -> None:
    """Look for the benchmarks' canaries in training data, or in what a model wrote. Exit code 1 where one is found."""
    n_found = 0
    for text in texts or ["-"]:
        name, parts = _source(text)
        found = canaries_in(parts)
        n_found += len(found)
        said = ", ".join(f"{benchmark.title}'s canary ({benchmark.canary})" for benchmark in found)
        print(f"{name}: {f'holds {said}' if found else 'no canary'}")
    if n_found:
        raise typer.Exit(1)


def _source(text: str) -> tuple[str, Iterable[bytes]]:
    if text == "-":
        return "standard input", sys.stdin.buffer
    if len(text) < 4096 and "\0" not in text:
        if Path(text).is_dir():
            raise InputError(f"{text}: is a folder; name its files, such as {Path(text) / '*'}")
        if Path(text).is_file():
            return text, read_parts(Path(text))
    if _LOOKS_LIKE_A_FILE.fullmatch(text):
        raise InputError(f"{text}: no such file; name files, or give the text itself in quotes")
    return f"text of {len(text):,} characters", [text.encode(errors="replace")]
