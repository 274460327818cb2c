"""Commands that ask models: runs, shards, and lighteval's own start."""

import os
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated

import typer

from egobench_tasks.stopping import ending_on_sigterm

app = typer.Typer()
run_app = typer.Typer(no_args_is_help=True, help="Ask a model every question and score it.")
app.add_typer(run_app, name="run")

_SHARD = typer.Option(metavar="I/N", help="Ask only part I of N (1/4 … 4/4).")
_FRESH = typer.Option("--fresh", help="Ask everything anew; kept answers stay kept, and later runs take the new ones.")
_REPEATS = typer.Option(metavar="K", help="Ask each question K times; the first answer is what scores.")
_PASS_ON = {"allow_extra_args": True, "ignore_unknown_options": True}


@run_app.command("transformers", context_settings=_PASS_ON)
@ending_on_sigterm()
def run_transformers(
    context: typer.Context,
    model_args: Annotated[
        str, typer.Argument(help='"model_name=…,batch_size=…", or a YAML file with model_parameters')
    ],
    tasks: Annotated[str, typer.Argument(help="egogears, egogears:single, egotempo_f8, …")],
    shard: Annotated[str | None, _SHARD] = None,
    fresh: Annotated[bool, _FRESH] = False,
    repeats: Annotated[int | None, _REPEATS] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Answer the first ten questions of each task, and say what all will take.")
    ] = False,
    price_in: Annotated[float | None, typer.Option(help="Of a million prompt tokens, for --dry-run.")] = None,
    price_out: Annotated[float | None, typer.Option(help="Of a million new tokens, for --dry-run.")] = None,
) -> None:
    """Run a transformers model through `lighteval accelerate`; further options go to lighteval.

    Needs no network. Under several GPUs: accelerate launch -m egobench_tasks.cli run transformers …
    """
    from lighteval.__main__ import app as lighteval

    from egobench_tasks.hosts.lighteval.compat import given_settings
    from egobench_tasks.hosts.lighteval.offline import as_task_names, load_only_our_tasks
    from egobench_tasks.hosts.lighteval.vision.settings import read_settings

    _set_shard(shard)
    _set_fresh(fresh)
    _set_repeats(repeats)
    settings = read_settings(model_args)
    if dry_run:
        from egobench_tasks.hosts.lighteval.dry_run import dry_run as estimate

        raise typer.Exit(estimate(settings, as_task_names(tasks), context.args, (price_in, price_out)))
    load_only_our_tasks()
    _check_output_folder(context.args)
    ours = ["--vision-model", "--custom-tasks", "egobench_tasks.tasks"]
    if shard is not None:
        ours.append("--save-details")  # a shard is merged from its details
    try:
        with given_settings(settings):
            lighteval(["accelerate", "model_name=settings", as_task_names(tasks), *ours, *context.args])
    except SystemExit as ended:
        if ended.code:
            raise
    _check_verdicts()


@run_app.command("endpoint", context_settings=_PASS_ON)
@ending_on_sigterm()
def run_endpoint(
    context: typer.Context,
    config: Annotated[Path, typer.Argument(metavar="CONFIG.yaml", help="The endpoint's settings.")],
    tasks: Annotated[str, typer.Argument(help="egogears, egotempo_f8, …")],
    shard: Annotated[str | None, _SHARD] = None,
    fresh: Annotated[bool, _FRESH] = False,
    repeats: Annotated[int | None, _REPEATS] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Count questions, images and tokens; ask nothing.")
    ] = False,
) -> None:
    """Ask a model behind an OpenAI-compatible endpoint; further options go to lighteval."""
    from egobench_tasks.hosts.lighteval.endpoint import run_endpoint as run
    from egobench_tasks.hosts.lighteval.offline import as_task_names

    _set_shard(shard)
    _set_fresh(fresh)
    _set_repeats(repeats)
    exit_code = run(config, as_task_names(tasks), context.args, dry_run=dry_run)
    _check_verdicts()
    raise typer.Exit(exit_code)


@app.command()
def merge(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN…", help="Folders of runs over shards.")],
    out: Annotated[Path, typer.Option(help="Where to write the one run that they make.")],
) -> None:
    """Make one run of several over parts of the questions, scored over all of them."""
    from egobench_tasks.hosts.lighteval.merge import merge_runs

    raise typer.Exit(merge_runs(runs, out))


@app.command()
def repeat(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run's --output-dir (its newest run), or a run.json.")],
) -> None:
    """Print the command that makes a run again, and what is different here: versions, machine, dataset."""
    from egobench_tasks.hosts.repeat import command_of, differences_here, find_record

    record = find_record(run)
    print(command_of(record))
    differences = differences_here(record)
    print(
        "\n".join(["different here:", *(f"  {line}" for line in differences)] if differences else ["nothing differs"])
    )
    print("kept answers are taken where there are any; --fresh asks everything anew")


@app.command("prepare-lighteval")
def prepare_lighteval() -> None:
    """Let the plain `lighteval` command start without a network, in this environment, once and for all."""
    from egobench_tasks.hosts.lighteval.offline import let_plain_lighteval_start

    print(f"lighteval starts without a network now: {let_plain_lighteval_start()} is there.")


def _check_output_folder(arguments: Sequence[str]) -> None:
    """Try the folder that lighteval will save into, before a night's work and not after it."""
    from egobench_tasks.files import check_output_folder

    named = [value for name, value in pairwise(arguments) if name == "--output-dir"]
    named += [name.partition("=")[2] for name in arguments if name.startswith("--output-dir=")]
    for folder in named:
        check_output_folder(Path(folder))


def _check_verdicts() -> None:
    """End with an error where a judge left too many answers of EgoTempo without a verdict."""
    from egobench_tasks.hosts.lighteval.judge import check_verdicts

    check_verdicts()


def _set_repeats(repeats: int | None) -> None:
    """Tell the hosts how often to ask each question."""
    if repeats is not None:
        from egobench_tasks.runs.repeats import REPEATS_VARIABLE, current_repeats

        os.environ[REPEATS_VARIABLE] = str(repeats)
        current_repeats()


def _set_shard(shard: str | None) -> None:
    """Tell the tasks which part of the questions this process asks."""
    if shard is not None:
        from egobench_tasks.runs.shards import SHARD_VARIABLE, parse_shard

        os.environ[SHARD_VARIABLE] = str(parse_shard(shard))


def _set_fresh(fresh: bool) -> None:
    """Tell the models not to take the answers that are kept."""
    if fresh:
        from egobench_tasks.runs.journal import FRESH_VARIABLE

        os.environ[FRESH_VARIABLE] = "1"
