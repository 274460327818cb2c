"""Commands that make and check questions."""

from pathlib import Path
from typing import Annotated

import typer

from egobench_tasks.commands.exam import exam_app
from egobench_tasks.commands.groups import SeveralModels
from egobench_tasks.commands.release import DATASET_OR_RELEASE, dataset_or_release
from egobench_tasks.commands.review import review_app
from egobench_tasks.extras import needs_extra
from egobench_tasks.stopping import ending_on_sigterm

app = typer.Typer()
app.add_typer(review_app, name="review")
app.add_typer(exam_app, name="exam")


@app.command(cls=SeveralModels)
@ending_on_sigterm()
def audit(
    dataset: Annotated[str, typer.Argument(help=DATASET_OR_RELEASE)],
    models: Annotated[
        list[Path] | None,
        typer.Option(metavar="CONFIG.yaml …", help="Endpoints' settings: one file a model, one after the other."),
    ] = None,
    out: Annotated[Path, typer.Option(help="The folder to write into.")] = Path("audit"),
    repeats: Annotated[int, typer.Option(min=1, help="How often a model is asked each question in each view.")] = 3,
) -> None:
    """How sound are these questions? Findings from words alone, and from models shown less than all.

    Writes audit.html, audit.md, audit.csv, csv/ and findings.jsonl. Nothing is dropped. Open answers are judged by
    the judge of EGOBENCH_JUDGE_… .
    """
    with needs_extra("making", "an audit"):
        from egobench_tasks.making.audit.run import audit as run
    from egobench_tasks.judge.settings import load_settings

    location = dataset_or_release(dataset)
    findings, written = run(location, models or [], out, repeats=repeats, judge_settings=load_settings())
    n_questions = len({finding.question_id for finding in findings})
    print(f"{len(findings)} findings on {n_questions} questions; nothing was dropped or changed")
    for path in written:
        print(path)
