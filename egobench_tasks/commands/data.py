"""Commands that make, check and show datasets."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from egobench_tasks.commands.groups import PORT
from egobench_tasks.errors import EgobenchError
from egobench_tasks.extras import install_command

app = typer.Typer()
build_app = typer.Typer(no_args_is_help=True, help="Turn a raw release into a dataset repository.")
app.add_typer(build_app, name="build")


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

    from dataset_scripts.egogears.build import build_egogears as build
    from dataset_scripts.repository.build_report import print_report

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

    from dataset_scripts.egotempo.build import build_egotempo as build
    from dataset_scripts.egotempo.build import download_command, missing_uids_file
    from dataset_scripts.repository.build_report import print_report

    print_report(build(annotations, out, videos=videos, workers=workers, trim=trim), Console())
    if missing_uids_file(out).exists():
        print(f"Fetch the missing videos (needs an Ego4D licence, and: {install_command('ego4d')}):")
        print(f"  {download_command(out, videos or Path('videos'))}")


@app.command()
def sample(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where to make DIR/raw and DIR/egogears.")],
    questions: Annotated[int, typer.Option(min=1, help="How many questions, both configs together.")] = 32,
    seed: Annotated[int, typer.Option(help="Another seed, another benchmark.")] = 0,
) -> None:
    """Render a small benchmark in EgoGears' form, whose answers are known, and build it."""
    from rich.console import Console

    from dataset_scripts.egogears.build import build_egogears as build
    from dataset_scripts.repository.build_report import print_report
    from dataset_scripts.sample.release import write_sample_release

    write_sample_release(folder / "raw", questions=questions, seed=seed)
    print_report(build(folder / "raw", folder / "egogears"), Console())


@app.command()
def frames(
    dataset: Annotated[str, typer.Argument(help="A dataset folder, or ORG/NAME[@REVISION] on the Hub.")],
    workers: Annotated[int, typer.Option(min=1, help="How many processes decode.")] = 1,
    spec: Annotated[
        str | None,
        typer.Option(help="A probe of EgoGears (f8), a setting of EgoTempo (fps1) or a spec (uniform,count=8)."),
    ] = None,
) -> None:
    """Decode every frame that a dataset's questions will ask for, once, before a run. Goes on where it stopped."""
    from egobench_tasks.asking.frame_requests import dataset_requests
    from egobench_tasks.data import parse_location
    from egobench_tasks.frames.fill import fill_store
    from egobench_tasks.frames.store import FrameStore

    location = parse_location(dataset, where="DATASET")
    report = fill_store(dataset_requests(location, spec), FrameStore(), workers)
    print(f"{report.decoded} clips decoded, {report.already_there} there already, {len(report.failed)} failed")
    if report.failed:
        raise EgobenchError("these clips do not decode:\n" + "\n".join(f"  {error}" for error in report.failed))


@app.command()
def overlaps(
    dataset: Annotated[str, typer.Argument(help="EgoGears: a folder, or ORG/NAME[@REVISION] on the Hub.")],
    workers: Annotated[int, typer.Option(min=1, help="How many processes decode.")] = 1,
) -> None:
    """Find clips of one recording by their frames, so that a report's intervals allow for questions that share it.

    Clips of both splits are compared: footage that a single and a multi question show is of one recording.
    """
    from collections import Counter

    from egobench_tasks.asking.frame_requests import choice_requests, named_recordings
    from egobench_tasks.data import parse_location
    from egobench_tasks.frames.fill import fill_store
    from egobench_tasks.frames.overlap import SPEC, find_footage, footage_path, hash_clips, write_footage
    from egobench_tasks.frames.store import FrameStore

    location, store = parse_location(dataset, where="DATASET"), FrameStore()
    by_config = choice_requests(location, SPEC)
    requests = [request for members in by_config.values() for request in members]
    if failed := fill_store(requests, store, workers).failed:
        raise EgobenchError("these clips do not decode:\n" + "\n".join(f"  {error}" for error in failed))
    found = find_footage(hash_clips(requests, store), named_recordings(location))
    splits = {config: found.of(request.sha256 for request in members) for config, members in by_config.items()}
    for config, part in splits.items():
        path = footage_path(part.recordings)
        write_footage(path, part)
        sizes = Counter(part.recordings.values())
        print(
            f"{config}: {len(part.recordings)} clips, {len(part.pairs)} pairs that overlap, {len(sizes)} stretches "
            f"of footage, the largest of {max(sizes.values())} clips; kept in {path}"
        )
    if len(splits) > 1:
        shared = set.intersection(*(set(part.recordings.values()) for part in splits.values()))
        print(f"{' and '.join(splits)}: {len(shared)} stretches of footage stand in both")


@app.command()
def check(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A dataset folder.")],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON list instead of lines.")] = False,
) -> None:
    """List every fault that loading, the Hub or a reader would stumble over; exit code 1 on errors."""
    from dataset_scripts.check.finding import as_json as findings_json
    from dataset_scripts.check.finding import as_lines, errors_of
    from dataset_scripts.check.folder import check_folder

    findings = check_folder(folder)
    print(findings_json(findings) if as_json else as_lines(findings) or f"{folder}: sound")
    if errors_of(findings):
        raise typer.Exit(1)


@app.command()
def publish(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A dataset folder.")],
    repo_id: Annotated[str, typer.Option(metavar="ORG/NAME", help="The repository on the Hub.")],
    private: Annotated[bool, typer.Option("--private", help="Only those with access may see it.")] = False,
    gated: Annotated[
        Literal["auto", "manual"] | None, typer.Option(help="Readers ask for access; given at once, or by hand.")
    ] = None,
    tag: Annotated[str | None, typer.Option(help="Name the commit, v1.0; a tag never moves.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check, and say what would be sent.")] = False,
    may_share_ego4d_clips: Annotated[
        bool, typer.Option("--i-may-share-ego4d-clips", help="EgoTempo's clips go to a private repository.")
    ] = False,
) -> None:
    """Check a dataset, send it to the Hub, compare what lies there, and load it back. Goes on where it stopped."""
    from dataset_scripts.publish.send import publish as run

    print(
        run(
            folder,
            repo_id,
            private=private,
            gated=gated,
            tag=tag,
            dry_run=dry_run,
            may_share_ego4d_clips=may_share_ego4d_clips,
        )
    )


@app.command()
def browse(
    dataset: Annotated[str, typer.Argument(help="A dataset folder, or ORG/NAME[@REVISION] on the Hub.")],
    run: Annotated[list[Path] | None, typer.Option(metavar="RUN", help="A run to show; may be repeated.")] = None,
    host: Annotated[str, typer.Option(help="Another address than loopback lets everyone on the network look.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, PORT] = 7860,
    report: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The report to link to, as `egobench report` wrote it.")
    ] = None,
) -> None:
    """Look through questions, clips, the frames a model saw, and what models answered. Read-only."""
    from egobench_tasks.browse.launch import launch
    from egobench_tasks.data import parse_location

    launch(parse_location(dataset, where="DATASET"), run or [], host=host, port=port, report=report)
