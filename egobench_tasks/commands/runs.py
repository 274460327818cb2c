"""Commands that ask models: runs, shards, and lighteval's own start."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

if TYPE_CHECKING:
    from egobench_tasks.asking.catalogue import TaskEntry
    from egobench_tasks.hosts.lighteval.options import LightevalOptions

from egobench_tasks.stopping import ending_on_sigterm

app = typer.Typer()


class RunCommands(TyperGroup):
    """The kinds of runs; `egobench run FILE.yaml` is short for `egobench run file FILE.yaml`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take a first argument that is a YAML file for a run's file."""
        is_file = bool(args) and args[0].endswith((".yaml", ".yml"))
        return super().parse_args(ctx, ["file", *args] if is_file else args)


run_app = typer.Typer(
    cls=RunCommands,
    no_args_is_help=True,
    help="Ask a model every question and score it. `egobench run FILE.yaml` runs what a file says (see `run file`).",
)
app.add_typer(run_app, name="run")

_SHARD = typer.Option(metavar="I/N", help="Ask only part I of N (1/4 … 4/4).")
_FRESH = typer.Option("--fresh", help="Ask everything anew; kept answers stay kept, and later runs take the new ones.")
_REPEATS = typer.Option(metavar="K", help="Ask each question K times; the first answer is what scores.")
_REPORT = typer.Option("--report", help="Write a report of the output folder into its folder `report`.")
VERBOSE = typer.Option("-v", "--verbose", help="Show lighteval's own log and progress bars, too.")
_PASS_ON = {"allow_extra_args": True, "ignore_unknown_options": True}


@run_app.command("transformers", context_settings=_PASS_ON)
@ending_on_sigterm()
def run_transformers(
    context: typer.Context,
    model_args: Annotated[
        str, typer.Argument(help='"model_name=…,batch_size=…", or a YAML file with model_parameters')
    ],
    tasks: Annotated[str, typer.Argument(help="egogears, egogears:single, egotempo_f8, … (all: egobench tasks)")],
    shard: Annotated[str | None, _SHARD] = None,
    fresh: Annotated[bool, _FRESH] = False,
    repeats: Annotated[int | None, _REPEATS] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Answer the first ten questions of each task, and say what all will take.")
    ] = False,
    price_in: Annotated[float | None, typer.Option(help="Of a million prompt tokens, for --dry-run.")] = None,
    price_out: Annotated[float | None, typer.Option(help="Of a million new tokens, for --dry-run.")] = None,
    report: Annotated[bool, _REPORT] = False,
    verbose: Annotated[bool, VERBOSE] = False,
) -> None:
    """Run a transformers model through `lighteval accelerate`; further options go to lighteval.

    Needs no network. Details are saved unless --no-save-details is given. Under several GPUs: accelerate launch -m
    egobench_tasks.cli run transformers …
    """
    _set_variables(shard, fresh, repeats)
    arguments = _with_details(context.args, shard)
    options = _check_all(tasks, arguments, "egobench run transformers MODEL TASKS", accelerates=True)

    from egobench_tasks.hosts.lighteval.accelerate import run_accelerate
    from egobench_tasks.hosts.lighteval.offline import as_task_names
    from egobench_tasks.hosts.lighteval.quiet import quiet
    from egobench_tasks.hosts.lighteval.vision.settings import read_settings

    settings = read_settings(model_args)
    if not verbose:
        quiet()
    if dry_run:
        from egobench_tasks.hosts.lighteval.dry_run import dry_run as estimate

        estimate(settings, as_task_names(tasks), options, (price_in, price_out))
        return
    run_accelerate(settings, as_task_names(tasks), arguments, verbose=verbose)
    _end_run(options, report)


@run_app.command("endpoint", context_settings=_PASS_ON)
@ending_on_sigterm()
def run_endpoint(
    context: typer.Context,
    config: Annotated[Path, typer.Argument(metavar="CONFIG.yaml", help="The endpoint's settings.")],
    tasks: Annotated[str, typer.Argument(help="egogears, egotempo_f8, … (all: egobench tasks)")],
    shard: Annotated[str | None, _SHARD] = None,
    fresh: Annotated[bool, _FRESH] = False,
    repeats: Annotated[int | None, _REPEATS] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Count questions, images and tokens; ask nothing.")
    ] = False,
    report: Annotated[bool, _REPORT] = False,
    verbose: Annotated[bool, VERBOSE] = False,
) -> None:
    """Ask a model behind an OpenAI-compatible endpoint; further options go to lighteval.

    Details are saved unless --no-save-details is given.
    """
    from egobench_tasks.hosts.endpoint.settings import load_endpoint_settings

    _set_variables(shard, fresh, repeats)
    load_endpoint_settings(config).secrets()
    arguments = _with_details(context.args, shard)
    options = _check_all(tasks, arguments, "egobench run endpoint CONFIG TASKS")

    from egobench_tasks.hosts.lighteval.endpoint_run import run_endpoint as run
    from egobench_tasks.hosts.lighteval.offline import as_task_names
    from egobench_tasks.hosts.lighteval.quiet import quiet

    if not verbose:
        quiet()
    exit_code = run(config, as_task_names(tasks), arguments, dry_run=dry_run)
    if not dry_run:
        _end_run(options, report)
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
    """Let the plain `lighteval` command start without a network, in this environment, once and for all.

    With our tasks it then also ends in one message where it would print a traceback for a mistyped argument.
    """
    from egobench_tasks.hosts.lighteval.offline import let_plain_lighteval_start

    written = let_plain_lighteval_start()
    print(f"lighteval starts without a network now: {' and '.join(map(str, written))} are there.")


def _check_all(tasks: str, arguments: Sequence[str], command: str, *, accelerates: bool = False) -> "LightevalOptions":
    """Find what is wrong on a command line, try the output folder, and say what begins; lighteval waits until then.

    ``accelerates``: lighteval itself reads the arguments, too, and knows some options more. Ends the program where the
    arguments ask for help.
    """
    from egobench_tasks import __version__
    from egobench_tasks.asking.catalogue import entries_named
    from egobench_tasks.files import check_output_folder
    from egobench_tasks.hosts.lighteval.options import parse_lighteval_options

    entries = entries_named(tasks)
    options = parse_lighteval_options(arguments, command, others_pass=accelerates)
    if options is None:
        raise typer.Exit
    check_output_folder(options.output_dir)
    check_data(entries)
    n_questions = sum(entry.n_published for entry in entries)
    if _is_first_process():
        print(
            f"egobench {__version__}: {len(entries)} tasks, {n_questions:,} questions as published; "
            f"results go to {options.output_dir}",
            file=sys.stderr,
            flush=True,
        )
    return options


def check_data(entries: "Sequence[TaskEntry]") -> None:
    """Find the tasks' datasets; what is in them shows later. Raises ``InputError`` as `data.locate` does."""
    from egobench_tasks.data import locate

    for benchmark in {entry.benchmark.name: entry.benchmark for entry in entries}.values():
        locate(benchmark)


def _with_details(arguments: Sequence[str], shard: str | None) -> list[str]:
    """lighteval's options with details saved, unless they say otherwise; a shard is merged from its details."""
    return ["--save-details", *arguments] if shard is None else [*arguments, "--save-details"]


def _end_run(options: "LightevalOptions", report: bool) -> None:
    """Write the report that was asked for; end with an error where a judge left too many answers without a verdict."""
    from egobench_tasks.hosts.lighteval.judge import check_verdicts

    if report and _is_first_process():
        from egobench_tasks.extras import needs_extra

        with needs_extra("report", "--report"):
            from egobench_tasks.report.show.write import write_report

        print(write_report([options.output_dir], options.output_dir / "report")[0])
    check_verdicts()


def _is_first_process() -> bool:
    """Whether this process speaks for all of ``accelerate launch``'s."""
    return os.environ.get("RANK", "0") == "0"


def _set_variables(shard: str | None, fresh: bool, repeats: int | None) -> None:
    _set_shard(shard)
    _set_fresh(fresh)
    _set_repeats(repeats)


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
