"""Commands that read runs: judging, reports, comparisons, and the floor of guessing."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from egobench_tasks import __version__
from egobench_tasks.errors import EgobenchError, InputError
from egobench_tasks.extras import needs_extra
from egobench_tasks.stopping import ending_on_sigterm

_LISTED_FIRST = (
    "The dataset's page shows scores once the Hub has the benchmark on its list, which its staff keeps: the dataset's "
    "eval.yaml must be there, and its evaluation_framework must be a name that they list."
)

app = typer.Typer()
baseline_app = typer.Typer(no_args_is_help=True, help="What guessing scores: the floor under every model's figure.")
app.add_typer(baseline_app, name="baseline")


@app.command()
def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN…", help="Runs' --output-dir, journals, or Inspect logs.")],
    out: Annotated[Path, typer.Option(help="The folder to write into.")] = Path("report"),
    formats: Annotated[str, typer.Option("--format", help="Any of html, md, csv, json.")] = "html,md,csv,json",
    against: Annotated[
        Path | None, typer.Option(metavar="RUN", help="Each run's difference from this one, everywhere.")
    ] = None,
    price_in: Annotated[float | None, typer.Option(help="Of a million prompt tokens, for what probes cost.")] = None,
    price_out: Annotated[float | None, typer.Option(help="Of a million new tokens, for what probes cost.")] = None,
    browse_url: Annotated[
        str | None, typer.Option(metavar="URL", help="Where `egobench browse` answers: question ids lead there.")
    ] = None,
) -> None:
    """Tables, figures and one page on runs: where a model fails, and how sure that is."""
    with needs_extra("report", "a report"):
        from egobench_tasks.report.analyse.budgets import Price
        from egobench_tasks.report.show.write import Format, write_report

    known = {form.value: form for form in Format}
    names = [name.strip() for name in formats.split(",")]
    if unknown := [name for name in names if name not in known]:
        raise InputError(f"--format: unknown {unknown}; known are {sorted(known)}")
    for path in write_report(
        runs,
        out,
        [known[name] for name in names],
        against=against,
        price=Price(price_in, price_out),
        browse_url=browse_url,
    ):
        print(path)


@app.command()
def compare(
    first: Annotated[Path, typer.Argument(metavar="RUN_A")], second: Annotated[Path, typer.Argument(metavar="RUN_B")]
) -> None:
    """Two runs over the same questions, side by side: differences with their intervals."""
    from rich.console import Console

    with needs_extra("report", "a comparison"):
        from egobench_tasks.report.show.compare import compare_runs

    Console().print(compare_runs(first, second))


@app.command()
@ending_on_sigterm()
def judge(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run's --output-dir, a journal, or Inspect logs.")],
    model: Annotated[str | None, typer.Option(help="The judge's model (EGOBENCH_JUDGE_MODEL).")] = None,
    base_url: Annotated[str | None, typer.Option(help="The judge's API root (EGOBENCH_JUDGE_BASE_URL).")] = None,
    config: Annotated[Path | None, typer.Option(help="A YAML file with the judge's settings.")] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Ask for every verdict anew; later runs take the new ones, too.")
    ] = False,
    max_unjudged: Annotated[
        float | None, typer.Option(min=0, max=1, help="Exit with 1 above this share of answers without a verdict.")
    ] = None,
) -> None:
    """Complete a run's missing verdicts, or judge it by another judge and print how far the two agree."""
    from rich.console import Console

    from egobench_tasks.judge.settings import load_settings
    from egobench_tasks.judge.store import VerdictStore, default_store_path
    from egobench_tasks.judge.summary import MAX_UNJUDGED_RATE

    with needs_extra("report", "judging a run"):
        from egobench_tasks.report.read.judging import judge_saved
        from egobench_tasks.report.show.judge_table import judged_run_table

    settings = load_settings(config=config, overrides={"model": model, "base_url": base_url})
    if settings is None:
        raise InputError(
            "no judge: give --model and --base-url, or set EGOBENCH_JUDGE_MODEL and EGOBENCH_JUDGE_BASE_URL"
        )
    judged = judge_saved(run, settings, VerdictStore(default_store_path()), fresh=fresh)
    Console().print(judged_run_table(judged))
    limit = MAX_UNJUDGED_RATE if max_unjudged is None else max_unjudged
    overall = judged.overall
    if overall.unjudged_rate > limit:
        raise EgobenchError(
            f"{overall.unjudged_rate:.1%} of the answers have no verdict, more than {limit:.1%}; "
            "run the same command again to ask for them"
        )
    if overall.lost:
        raise EgobenchError(
            f"the run is partial: {overall.lost} of {overall.total} questions have no answer, and that is not the "
            "model's doing (no clip, a failed request). Run the model again: it is asked for those alone"
        )


@baseline_app.command("egogears")
def baseline_egogears(seed: Annotated[int, typer.Option(help="Of the simulated guesses.")] = 0) -> None:
    """Uniform choice among the options: simulated, and in closed form."""
    from rich.console import Console

    with needs_extra("report", "a baseline"):
        from egobench_tasks.report.analyse.baselines import egogears_baseline

    Console().print(egogears_baseline(seed))


@baseline_app.command("egotempo")
def baseline_egotempo(seed: Annotated[int, typer.Option(help="Of the drawn answers.")] = 0) -> None:
    """A random answer of the same category, judged like a model's."""
    from rich.console import Console

    from egobench_tasks.judge.settings import load_settings

    with needs_extra("report", "a baseline"):
        from egobench_tasks.report.analyse.baselines import egotempo_baseline

    Console().print(egotempo_baseline(seed, load_settings()))


@app.command()
def results(
    run: Annotated[Path, typer.Option(metavar="DIR", help="A run's --output-dir.")],
    out: Annotated[Path, typer.Option(help="The model repository's folder to write into.")] = Path(),
    dataset_id: Annotated[
        str | None, typer.Option(metavar="ORG/NAME", help="The benchmark's repository, for a run over a folder.")
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Where the results can be looked at (default: the dataset's page)."),
    ] = None,
    user: Annotated[str | None, typer.Option(metavar="NAME", help="The Hub user who ran the model.")] = None,
    push: Annotated[
        str | None, typer.Option(metavar="ORG/MODEL", help="Offer the files to this model as a pull request.")
    ] = None,
    form: Annotated[Literal["eval-results"], typer.Option("--format", help="The Hub's form.")] = "eval-results",
) -> None:
    """Write a run's scores in the Hub's form for a model repository: .eval_results/*.yaml.

    The dataset's page shows them once the benchmark and the framework that its eval.yaml names are on the Hub's list.
    """
    from egobench_tasks.files import write_atomically

    with needs_extra("report", "writing results"):
        from egobench_tasks.report.show.eval_results import Source, eval_results

    files = eval_results(run, dataset_id=dataset_id, source=Source(source, user))
    if push is not None:
        from dataset_scripts.publish.results import open_pull_request

        print(open_pull_request(files, push, description=f"Measured with egobench {__version__}."))
        print(_LISTED_FIRST)
        return
    for name, text in files.items():
        path = out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with write_atomically(path) as file:
            file.write(text.encode())
        print(path)
