"""The `egobench` command: a thin layer over the packages. Heavy imports wait inside the commands."""

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from egobench_tasks import __version__
from egobench_tasks.errors import EgobenchError, InputError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="EgoGears and EgoTempo: build the datasets, run models on them, report.",
)
build_app = typer.Typer(no_args_is_help=True, help="Turn a raw release into a dataset repository.")
run_app = typer.Typer(no_args_is_help=True, help="Ask a model every question and score it.")
baseline_app = typer.Typer(no_args_is_help=True, help="What guessing scores: the floor under every model's figure.")
app.add_typer(build_app, name="build")
app.add_typer(run_app, name="run")
app.add_typer(baseline_app, name="baseline")

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


@build_app.command("egotempo")
def build_egotempo(
    annotations: Annotated[Path, typer.Option(help="Upstream's annotation file, egotempo_openQA.json.")],
    out: Annotated[Path, typer.Option(help="The dataset folder to make.")],
    videos: Annotated[
        Path | None, typer.Option(help="Ego4D videos (VIDEO_UID.mp4) or trimmed clips (CLIP_ID.mp4).")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="How many videos to cut at once.")] = 1,
    trim: Annotated[bool, typer.Option(help="Cut full videos to the questions' windows, or link them whole.")] = True,
) -> None:
    """Build EgoTempo; questions whose clips are missing keep their place. A second run changes nothing."""
    from rich.console import Console

    from dataset_scripts.build_report import print_report
    from dataset_scripts.egotempo import build_egotempo as build
    from dataset_scripts.egotempo import download_command, missing_uids_file

    print_report(build(annotations, out, videos=videos, workers=workers, trim=trim), Console())
    if missing_uids_file(out).exists():
        print("Fetch the missing videos (needs an Ego4D licence, and: pip install 'egobench[ego4d]'):")
        print(f"  {download_command(out, videos or Path('videos'))}")


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


@app.command()
def judge(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run's --output-dir, with details saved.")],
    model: Annotated[str | None, typer.Option(help="The judge's model (EGOBENCH_JUDGE_MODEL).")] = None,
    base_url: Annotated[str | None, typer.Option(help="The judge's API root (EGOBENCH_JUDGE_BASE_URL).")] = None,
    config: Annotated[Path | None, typer.Option(help="A YAML file with the judge's settings.")] = None,
    max_unjudged: Annotated[
        float | None, typer.Option(min=0, max=1, help="Exit with 1 above this share of answers without a verdict.")
    ] = None,
) -> None:
    """Complete a run's missing verdicts, or judge it by another judge and print how far the two agree."""
    from rich.console import Console

    from egobench_tasks.hosts.judge_run import judge_run
    from egobench_tasks.hosts.judge_table import judged_run_table
    from egobench_tasks.judge.settings import load_settings
    from egobench_tasks.judge.store import VerdictStore, default_store_path
    from egobench_tasks.judge.summary import MAX_UNJUDGED_RATE

    settings = load_settings(config=config, overrides={"model": model, "base_url": base_url})
    if settings is None:
        raise InputError(
            "no judge: give --model and --base-url, or set EGOBENCH_JUDGE_MODEL and EGOBENCH_JUDGE_BASE_URL"
        )
    judged = judge_run(run, settings, VerdictStore(default_store_path()))
    Console().print(judged_run_table(judged, settings.model))
    limit = MAX_UNJUDGED_RATE if max_unjudged is None else max_unjudged
    if judged.overall.unjudged_rate > limit:
        raise EgobenchError(
            f"{judged.overall.unjudged_rate:.1%} of the answers have no verdict, more than {limit:.1%}; "
            "run the same command again to ask for them"
        )


@baseline_app.command("egogears")
def baseline_egogears(seed: Annotated[int, typer.Option(help="Of the simulated guesses.")] = 0) -> None:
    """Uniform choice among the options: simulated, and in closed form."""
    from rich.console import Console

    from egobench_tasks.baseline_tables import egogears_baseline

    Console().print(egogears_baseline(seed))


@baseline_app.command("egotempo")
def baseline_egotempo(seed: Annotated[int, typer.Option(help="Of the drawn answers.")] = 0) -> None:
    """A random answer of the same category, judged like a model's."""
    from rich.console import Console

    from egobench_tasks.baseline_tables import egotempo_baseline
    from egobench_tasks.judge.settings import load_settings

    Console().print(egotempo_baseline(seed, load_settings()))


@app.command("prepare-lighteval")
def prepare_lighteval() -> None:
    """Let the plain `lighteval` command start without a network, in this environment, once and for all."""
    from egobench_tasks.hosts.lighteval_offline import let_plain_lighteval_start

    print(f"lighteval starts without a network now: {let_plain_lighteval_start()} is there.")


if __name__ == "__main__":
    main()
