"""Commands by which people answer a benchmark: the page, and saving what was answered before a kill."""

from pathlib import Path
from typing import Annotated

import typer

from egobench_tasks.commands.groups import PORT, PageUnlessNamed
from egobench_tasks.commands.release import DATASET_OR_RELEASE, dataset_or_release

exam_app = typer.Typer(cls=PageUnlessNamed, no_args_is_help=True, help="People answer the benchmark as models do.")

_DATASET = typer.Argument(help=DATASET_OR_RELEASE)
_OUT = typer.Option(help="The folder of people: answers as they come, and each one's run.")


@exam_app.command()
def page(
    dataset: Annotated[str, _DATASET],
    participant: Annotated[
        list[str], typer.Option(metavar="ID", help="Who answers: p1, never a name; may be repeated.")
    ],
    out: Annotated[Path, _OUT] = Path("people"),
    sample: Annotated[int | None, typer.Option(min=1, help="How many questions to draw; without it, all.")] = None,
    seed: Annotated[int, typer.Option(help="Of the draw: the same one asks everybody the same.")] = 0,
    frames: Annotated[bool, typer.Option("--frames", help="Show the frames that models see, not whole clips.")] = False,
    host: Annotated[str, typer.Option(help="Another address than loopback lets everyone on the network in.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, PORT] = 7860,
) -> None:
    """Ask people what models are asked; each one's answers become a run for `report` and `compare`.

    Every answer is on disk at once; the same command goes on. The runs are saved once all have handed in, or with
    Ctrl-C.
    """
    from egobench_tasks.making.exam.run import exam
    from egobench_tasks.making.exam.sitting import Shown, Terms

    terms = Terms(dataset="", shown=Shown.FRAMES if frames else Shown.CLIPS, sample=sample, seed=seed)
    for folder in exam(dataset_or_release(dataset), participant, out, terms, host=host, port=port):
        print(folder)


@exam_app.command()
def save(
    dataset: Annotated[str, _DATASET],
    participant: Annotated[str, typer.Option(metavar="ID", help="Whose answers.")],
    out: Annotated[Path, _OUT] = Path("people"),
) -> None:
    """Save what somebody has answered so far as a run: after a kill, or in the middle."""
    from egobench_tasks.making.exam.run import save as run

    for folder in run(dataset_or_release(dataset), participant, out):
        print(folder)
