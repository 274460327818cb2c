"""The `egobench` command: a thin layer over the packages. Heavy imports wait inside the commands."""

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from egobench_tasks import __version__
from egobench_tasks.errors import EgobenchError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="EgoGears and EgoTempo: build the datasets, run models on them, report.",
)
build_app = typer.Typer(no_args_is_help=True, help="Turn a raw release into a dataset repository.")
run_app = typer.Typer(no_args_is_help=True, help="Ask a model every question and score it.")
app.add_typer(build_app, name="build")
app.add_typer(run_app, name="run")

_PASS_ON = {"allow_extra_args": True, "ignore_unknown_options": True}


def main() -> None:
    """Run the command line; errors a user can act on end as one message, without a traceback."""
    try:
        app()
    except EgobenchError as error:
        print(f"egobench: {error}", file=sys.stderr)
        sys.exit(error.exit_code)


@app.callback(invoke_without_command=True)
def _version(version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False) -> None:
    if version:
        print(__version__)
        raise typer.Exit


@build_app.command("egogears")
def build_egogears(
    source: Annotated[Path, typer.Option(help="The raw release, as upstream lays it out.")],
    out: Annotated[Path, typer.Option(help="The dataset folder to make.")],
    only: Annotated[Literal["single", "multi"] | None, typer.Option(help="Build one of the two.")] = None,
    link: Annotated[
        Literal["hard", "copy"], typer.Option(help="Hard-link clips where the file system allows, or copy them.")
    ] = "hard",
    partial: Annotated[bool, typer.Option("--partial", help="Leave out questions whose clips are missing.")] = False,
) -> None:
    """Build EgoGears. A second run changes nothing; an interrupted one goes on."""
    from rich.console import Console

    from dataset_scripts.build_report import print_report
    from dataset_scripts.egogears import build_egogears as build

    print_report(build(source, out, only=only, link=link, partial=partial), Console())


@app.command()
def sample(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where to make DIR/raw and DIR/egogears.")],
    questions: Annotated[int, typer.Option(min=1, help="How many questions, both configs together.")] = 32,
    seed: Annotated[int, typer.Option(help="Another seed, another benchmark.")] = 0,
) -> None:
    """Render a small benchmark in EgoGears' form, whose answers are known, and build it."""
    from dataset_scripts.egogears import build_egogears as build
    from dataset_scripts.sample.release import write_sample_release

    write_sample_release(folder / "raw", questions=questions, seed=seed)
    build(folder / "raw", folder / "egogears", only=None, link="hard", partial=False)


@run_app.command("transformers", context_settings=_PASS_ON)
def run_transformers(
    context: typer.Context,
    model_args: Annotated[str, typer.Argument(help='As for lighteval: "model_name=…,batch_size=…"')],
    tasks: Annotated[str, typer.Argument(help="egogears, egogears:single, egogears:multi")],
) -> None:
    """Run a transformers model through `lighteval accelerate`; further options go to lighteval.

    Needs no network. Under several GPUs: accelerate launch -m egobench_tasks.cli run transformers …
    """
    from lighteval.__main__ import app as lighteval

    from egobench_tasks.hosts.lighteval_offline import as_task_names, load_only_our_tasks

    load_only_our_tasks()
    ours = ["--vision-model", "--custom-tasks", "egobench_tasks.tasks"]
    lighteval(["accelerate", model_args, as_task_names(tasks), *ours, *context.args])


@app.command("prepare-lighteval")
def prepare_lighteval() -> None:
    """Let the plain `lighteval` command start without a network, in this environment, once and for all."""
    from egobench_tasks.hosts.lighteval_offline import let_plain_lighteval_start

    print(f"lighteval starts without a network now: {let_plain_lighteval_start()} is there.")


if __name__ == "__main__":
    main()
