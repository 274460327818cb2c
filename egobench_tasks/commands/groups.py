"""What commands share: a page's port, groups in which the page need not be named, options that take several files."""

from collections.abc import Iterator, Sequence
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

PAGE = "page"
MODELS = "--models"
_CONFIGURATIONS = (".yaml", ".yml")
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


class SeveralModels(TyperCommand):
    """Takes ``--models a.yaml b.yaml`` for ``--models a.yaml --models b.yaml``: what ends as a configuration does."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """See click's ``Command.parse_args``."""
        return super().parse_args(ctx, list(_named_each(args)))


def _named_each(args: Sequence[str]) -> Iterator[str]:
    in_models, value_is_next = False, False
    for number, word in enumerate(args):
        if word == "--":
            yield from args[number:]
            return
        if word.partition("=")[0] == MODELS:
            in_models, value_is_next = True, word == MODELS
        elif value_is_next:
            value_is_next = False
        elif in_models and word.lower().endswith(_CONFIGURATIONS):
            yield MODELS
        else:
            in_models = False
        yield word
