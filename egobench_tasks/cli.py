"""The `egobench` command: a thin layer over the packages. Heavy imports wait inside the commands."""

import os
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
    tasks: Annotated[str, typer.Argument(help="egogears, egogears:single, egotempo_f8, …")],
    shard: Annotated[str | None, typer.Option(metavar="I/N", help="Ask only part I of N (1/4 … 4/4).")] = None,
) -> None:
    """Run a transformers model through `lighteval accelerate`; further options go to lighteval.

    Needs no network. Under several GPUs: accelerate launch -m egobench_tasks.cli run transformers …
    """
    from lighteval.__main__ import app as lighteval

    from egobench_tasks.hosts.lighteval_offline import as_task_names, load_only_our_tasks

    _set_shard(shard)
    load_only_our_tasks()
    ours = ["--vision-model", "--custom-tasks", "egobench_tasks.tasks"]
    if shard is not None:
        ours.append("--save-details")  # a shard is merged from its details
    lighteval(["accelerate", model_args, as_task_names(tasks), *ours, *context.args])


@run_app.command("endpoint", context_settings=_PASS_ON)
def run_endpoint(
    context: typer.Context,
    config: Annotated[Path, typer.Argument(metavar="CONFIG.yaml", help="The endpoint's settings.")],
    tasks: Annotated[str, typer.Argument(help="egogears, egotempo_f8, …")],
    shard: Annotated[str | None, typer.Option(metavar="I/N", help="Ask only part I of N (1/4 … 4/4).")] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Count questions, images and tokens; ask nothing.")
    ] = False,
) -> None:
    """Ask a model behind an OpenAI-compatible endpoint; further options go to lighteval."""
    from egobench_tasks.hosts.lighteval_endpoint import run_endpoint as run
    from egobench_tasks.hosts.lighteval_offline import as_task_names

    _set_shard(shard)
    raise typer.Exit(run(config, as_task_names(tasks), context.args, dry_run=dry_run))


@app.command()
def merge(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN…", help="Folders of runs over shards.")],
    out: Annotated[Path, typer.Option(help="Where to write the one run that they make.")],
) -> None:
    """Make one run of several over parts of the questions, scored over all of them."""
    from egobench_tasks.hosts.lighteval_merge import merge_runs

    raise typer.Exit(merge_runs(runs, out))


@app.command()
def frames(
    dataset: Annotated[str, typer.Argument(help="A dataset folder, or ORG/NAME[@REVISION] on the Hub.")],
    workers: Annotated[int, typer.Option(min=1, help="How many processes decode.")] = 1,
    spec: Annotated[
        str | None, typer.Option(help="An EgoTempo setting (f8, fps1) or a spec (uniform,count=8).")
    ] = None,
) -> None:
    """Decode every frame that a dataset's questions will ask for, once, before a run. Goes on where it stopped."""
    from egobench_tasks.data import parse_location
    from egobench_tasks.frames.fill import fill_store
    from egobench_tasks.frames.store import FrameStore
    from egobench_tasks.hosts.frame_requests import dataset_requests, parse_spec

    location = parse_location(dataset, where="DATASET")
    report = fill_store(dataset_requests(location, parse_spec(spec) if spec else None), FrameStore(), workers)
    print(f"{report.decoded} clips decoded, {report.already_there} there already, {len(report.failed)} failed")
    if report.failed:
        raise EgobenchError("these clips do not decode:\n" + "\n".join(f"  {error}" for error in report.failed))


@app.command()
def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN…", help="Runs' --output-dir, journals, or Inspect logs.")],
    out: Annotated[Path, typer.Option(help="The folder to write into.")] = Path("report"),
    formats: Annotated[str, typer.Option("--format", help="Any of html, md, csv, json.")] = "html,md,csv,json",
) -> None:
    """Tables, figures and one page on runs: where a model fails, and how sure that is."""
    from egobench_tasks.report.write import Format, write_report

    known = {form.value: form for form in Format}
    names = [name.strip() for name in formats.split(",")]
    if unknown := [name for name in names if name not in known]:
        raise InputError(f"--format: unknown {unknown}; known are {sorted(known)}")
    for path in write_report(runs, out, [known[name] for name in names]):
        print(path)


@app.command()
def compare(
    first: Annotated[Path, typer.Argument(metavar="RUN_A")], second: Annotated[Path, typer.Argument(metavar="RUN_B")]
) -> None:
    """Two runs over the same questions, side by side: differences with their intervals."""
    from rich.console import Console

    from egobench_tasks.report.compare import compare_runs

    Console().print(compare_runs(first, second))


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


def _set_shard(shard: str | None) -> None:
    """Tell the tasks which part of the questions this process asks."""
    if shard is not None:
        from egobench_tasks.hosts.shards import SHARD_VARIABLE, parse_shard

        os.environ[SHARD_VARIABLE] = str(parse_shard(shard))


if __name__ == "__main__":
    main()
