"""Commands by which people check questions: the page, where reviewers differ, and what becomes of it."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from egobench_tasks.commands.groups import PORT, PageUnlessNamed
from egobench_tasks.commands.release import DATASET_OR_RELEASE, dataset_or_release
from egobench_tasks.errors import InputError

review_app = typer.Typer(cls=PageUnlessNamed, no_args_is_help=True, help="People confirm, repair or drop questions.")

_DATASET = typer.Argument(help=DATASET_OR_RELEASE)
_DECISIONS = typer.Option(help="The folder of reviews: a file a reviewer.")
_HOST = typer.Option(help="Another address than loopback lets everyone on the network in.")


@review_app.command()
def page(
    dataset: Annotated[str, _DATASET],
    reviewer: Annotated[str, typer.Option(metavar="ID", help="Who reviews: an id such as r1, never a name.")],
    decisions: Annotated[Path, _DECISIONS] = Path("reviews"),
    findings: Annotated[
        Path | None, typer.Option(metavar="FINDINGS.jsonl", help="An audit's: its questions come first.")
    ] = None,
    blind: Annotated[bool, typer.Option("--blind", help="Show the gold once all options are marked.")] = False,
    host: Annotated[str, _HOST] = "127.0.0.1",
    port: Annotated[int, PORT] = 7860,
) -> None:
    """Watch clips, mark options, confirm, repair or drop. Decisions are on disk at once; goes on where it stopped."""
    from egobench_tasks.making.review.run import review

    location = dataset_or_release(dataset)
    review(location, reviewer, decisions, findings=findings, blind=blind, host=host, port=port)


@review_app.command()
def disagreements(
    decisions: Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder of reviews.")] = Path("reviews"),
) -> None:
    """How far reviewers agree beyond chance, and the questions that wait for a third."""
    from rich.console import Console

    from egobench_tasks.making.review.folder import read_reviews
    from egobench_tasks.making.review.report import agreement_table, disputes_table

    reviews = read_reviews(decisions)
    console = Console()
    console.print(agreement_table(reviews))
    console.print(disputes_table(reviews))


@review_app.command()
def apply(
    dataset: Annotated[str, _DATASET],
    release: Annotated[Path, typer.Option(metavar="RAW", help="The raw release that the dataset was built from.")],
    out: Annotated[Path, typer.Option(metavar="NEW_RELEASE", help="The release to make; must not exist yet.")],
    decisions: Annotated[Path, _DECISIONS] = Path("reviews"),
    at_least: Annotated[int, typer.Option(min=1, help="How many reviewers a question must have.")] = 1,
    undecided: Annotated[
        Literal["keep", "drop"], typer.Option(help="Questions with fewer: kept as they were, or dropped.")
    ] = "keep",
    unsettled: Annotated[
        Literal["keep", "drop"], typer.Option(help="Questions in dispute: kept as they were, or dropped.")
    ] = "drop",
) -> None:
    """Write a new release in upstream's layout of what was decided, for `egobench build`; originals stay beside."""
    from dataset_scripts.revise.apply import apply_reviews
    from egobench_tasks.making.review.outcome import Rest, Rule

    rule = Rule(at_least, Rest(undecided), Rest(unsettled))
    applied = apply_reviews(dataset_or_release(dataset), decisions, release, out, rule)
    print(applied)
    if not applied.n_kept:
        raise InputError(f"{out}: no question is left")  # it is written all the same: what was dropped stands in it
