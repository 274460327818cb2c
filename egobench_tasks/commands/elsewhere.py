"""Commands for models that other programs ask: questions go out as finished messages, answers come back as a run."""

from pathlib import Path
from typing import Annotated, Literal

import typer

app = typer.Typer()


@app.command()
def export(
    named: Annotated[
        str,
        typer.Argument(
            metavar="DATASET_OR_TASKS", help="A folder or ORG/NAME on the Hub; or egogears:multi,probes, egotempo_f8, …"
        ),
    ],
    form: Annotated[
        Literal["messages", "openai-batch", "lmms-eval"], typer.Option("--format", help="What the files are for.")
    ],
    out: Annotated[Path, typer.Option(help="The folder to write into.")],
    tasks: Annotated[str | None, typer.Option(help="Of a dataset, these tasks; all of its own where left out.")] = None,
    embed: Annotated[
        Literal["base64", "files"] | None, typer.Option(help="Frames in the messages, or in files beside them.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="So many questions of each task.")] = None,
    config: Annotated[
        Path | None, typer.Option(metavar="CONFIG.yaml", help="An endpoint's settings, as for `run endpoint`.")
    ] = None,
    model: Annotated[str | None, typer.Option(help="The model's name in the requests of a batch.")] = None,
    jpeg_quality: Annotated[int | None, typer.Option(help="Frames encoded anew, in this quality (1 to 95).")] = None,
    jpeg_width_px: Annotated[int | None, typer.Option(help="Frames scaled to this width.")] = None,
    image_detail: Annotated[
        Literal["auto", "low", "high"] | None, typer.Option(help="The `detail` of every image.")
    ] = None,
) -> None:
    """Write every question as a finished message with its frames, for another program to ask; see `score`.

    What is sent is what `run endpoint` would send. A stopped export goes on when called again. A direct run asks for a
    cut answer again with a larger budget; answers from elsewhere have one attempt.
    """
    from egobench_tasks.hosts.endpoint.settings import EndpointSettings, ImageDetail
    from egobench_tasks.hosts.export.manifest import Embed, Form
    from egobench_tasks.hosts.lighteval.export import Order, settings_for_export
    from egobench_tasks.hosts.lighteval.export import export as run
    from egobench_tasks.servers.reading import file_values

    values = file_values(config, EndpointSettings, "the endpoint's") if config else {}
    given = {
        "model": model,
        "jpeg_quality": jpeg_quality,
        "jpeg_width_px": jpeg_width_px,
        "image_detail": ImageDetail(image_detail) if image_detail else None,
    }
    values |= {name: value for name, value in given.items() if value is not None}
    order = Order(named, Form(form), Embed(embed) if embed else None, tasks, limit)
    manifest = run(order, settings_for_export(values), out)
    n_failed = sum(question.failure is not None for question in manifest.written)
    print(
        f"{len(manifest.written) - n_failed} questions in {len(manifest.parts)} files, export {manifest.digest}: {out}"
    )
    if n_failed:
        raise typer.Exit(1)


@app.command()
def score(
    answers: Annotated[
        list[Path],
        typer.Argument(metavar="ANSWERS.jsonl…", help="Lines of question_id, text, finish_reason; or batch output."),
    ],
    export_folder: Annotated[Path, typer.Option("--export", metavar="DIR", help="The export that was answered.")],
    out: Annotated[Path, typer.Option("--output-dir", help="Where to write the run.")],
    model: Annotated[str | None, typer.Option(help="Who answered; else the name in the export's requests.")] = None,
) -> None:
    """Make a run of the answers that another program got for an export; OpenAI's batch output is taken as it is.

    finish_reason is the server's own word (stop, length, …). An answer that was cut counts as none: what a direct run
    does then, asking again with twice the budget, cannot be done here. lmms-eval's logged samples say nothing of it.
    """
    from egobench_tasks.hosts.lighteval.elsewhere import score as run

    raise typer.Exit(run(answers, export_folder, out, model))
