"""What commands with a page share: its port, and groups in which the page need not be named."""

from typing import Any

import typer
from typer.core import TyperGroup

PAGE = "page"
PORT = typer.Option(min=1, max=65_535, help="The port of the page.")


class PageUnlessNamed(TyperGroup):
    """Takes ``egobench review DATASET …`` for ``egobench review page DATASET …``: the page is what most calls want.

    A dataset folder that is named as a command is given as ``./apply``.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """See click's ``Group.parse_args``."""
        if args and args[0] not in self.commands and args[0] != "--help":
            args = [PAGE, *args]
        return super().parse_args(ctx, args)
