"""The command that says whether a run would work here, and what to do where not."""

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer()


@app.command()
def doctor(
    dataset: Annotated[
        str | None, typer.Argument(metavar="[DATASET]", help="A folder, or ORG/NAME[@REVISION]; else those found here.")
    ] = None,
    endpoint: Annotated[
        list[Path] | None, typer.Option(metavar="FILE.yaml", help="An endpoint's settings; may be repeated.")
    ] = None,
    config: Annotated[
        Path | None, typer.Option(metavar="FILE.yaml", help="A run's file (egobench run FILE.yaml), checked whole.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON list instead of lines.")] = False,
) -> None:
    """Python, libraries, GPU, dataset, frames, judge, endpoint, cache, terminal: each line ok, or what to do.

    Exit code 1 where something is wrong. Servers are asked one tiny question each.
    """
    import json
    from dataclasses import asdict

    from egobench_tasks.commands import doctor_checks as checks

    found = [
        checks.check_python(),
        *checks.check_libraries(),
        *checks.check_video_packages(),
        checks.check_gpu(),
        *checks.check_datasets(dataset),
        checks.check_judge(),
        *map(checks.check_endpoint, endpoint or []),
        *([] if config is None else [checks.check_run_file(config)]),
        checks.check_cache(),
        checks.check_terminal(),
    ]
    if as_json:
        print(json.dumps([asdict(check) for check in found], indent=1))
    else:
        width = max(len(check.name) for check in found)
        for check in found:
            todo = f": {check.remedy}" if check.remedy else ""
            print(f"{check.state:5}  {check.name:{width}}  {check.seen}{todo}")
    if any(check.state is checks.State.WRONG for check in found):
        raise typer.Exit(1)
