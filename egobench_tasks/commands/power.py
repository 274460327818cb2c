"""The command that plans a run: what a comparison could show."""

from pathlib import Path
from typing import Annotated

import typer

from egobench_tasks.errors import InputError
from egobench_tasks.extras import needs_extra

app = typer.Typer()


@app.command()
def power(
    runs: Annotated[
        list[Path] | None, typer.Argument(metavar="[RUN_A RUN_B]", help="Two runs at hand, for how runs differ.")
    ] = None,
    config: Annotated[str, typer.Option(help="The config of the runs at hand: single or multi.")] = "multi",
    questions: Annotated[int | None, typer.Option(min=2, help="How many questions (default: the runs').")] = None,
    repeats: Annotated[int, typer.Option(min=1, help="How many answers a question.")] = 1,
    clusters: Annotated[int | None, typer.Option(min=2, help="How many clusters the questions form.")] = None,
    discordance: Annotated[
        float | None, typer.Option(help="Share of questions on which two runs differ, 0 to 1 (default: the runs').")
    ] = None,
    correlation: Annotated[
        float | None, typer.Option(help="Of differences within a cluster, 0 to 1 (default: the runs', or 0).")
    ] = None,
    within: Annotated[
        float | None, typer.Option(help="Variance of the difference within questions (default: of the runs' repeats).")
    ] = None,
    difference: Annotated[
        list[float] | None, typer.Option(help="A true difference in points whose power to print; may be repeated.")
    ] = None,
) -> None:
    """The smallest difference that a comparison of two runs would show, before it is run (80 % power at 5 %)."""
    from rich.console import Console

    with needs_extra("report", "planning"):
        from egobench_tasks.report.analyse.planning import Plan, assuming, plan_of_runs, power_table, scaled
        from egobench_tasks.report.show.terminal import rich_table

    if runs:
        from egobench_tasks.report.read.choice_results import score_choice_runs
        from egobench_tasks.report.read.runs import find_runs

        at_hand = plan_of_runs(score_choice_runs(find_runs(runs).choice), config)
        plan = assuming(scaled(at_hand, questions, clusters), discordance, correlation, within)
    elif questions is None or discordance is None:
        raise InputError("give two runs, or --questions and --discordance (two models of a kind differ on 0.1 to 0.3)")
    else:
        plan = Plan(questions, clusters or questions, discordance, correlation or 0.0, within or 0.0)
    points = [value / 100 for value in difference or (1.0, 2.0, 5.0, 10.0)]
    Console().print(rich_table(power_table(plan, repeats, points)))
