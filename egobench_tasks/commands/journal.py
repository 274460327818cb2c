"""Commands on kept answers: which models', how many, when, from where; and removing what is named."""

from typing import Annotated

import typer

from egobench_tasks.errors import InputError

app = typer.Typer()
journal_app = typer.Typer(no_args_is_help=True, help="Answers as they are kept, so that no question is asked twice.")
app.add_typer(journal_app, name="journal")

_NAMES = typer.Argument(metavar="NAME…", help="A model's name, or a key as `journal list` shows it.")


@journal_app.command("list")
def list_kept() -> None:
    """Which models' answers are kept, how many, when they came, and from where."""
    from rich.console import Console
    from rich.table import Table

    from egobench_tasks.runs.kept import read_kept

    table = Table(box=None)
    for heading in ("key", "model", "answers", "first", "last", "from"):
        table.add_column(heading, no_wrap=heading == "key", overflow="fold")
    for kept in read_kept():
        table.add_row(kept.key, kept.name, f"{kept.total:,}", kept.first_utc, kept.last_utc, "\n".join(kept.places))
    Console().print(table)


@journal_app.command()
def show(names: Annotated[list[str], _NAMES]) -> None:
    """What is known of some kept answers: tasks, sessions, servers, and everything that their key is of."""
    import json

    from egobench_tasks.runs.kept import find_kept

    for kept in find_kept(names):
        print(f"{kept.key}: {kept.total:,} answers of {kept.name}, {kept.first_utc} to {kept.last_utc}")
        print(f"  in {kept.folder}")
        for task, count in sorted(kept.tasks.items()):
            print(f"  {task}: {count:,}")
        for stem, session in kept.sessions.items():
            place = f"{session.place}, " if session.place else ""
            confirmed = f", confirmed {len(session.confirmed)} earlier sessions" if session.confirmed else ""
            n_answers = kept.n_answers.get(stem, 0)
            print(f"  {session.started_utc}: {n_answers:,} answers, {place}on {session.host}{confirmed}")
        identities = {json.dumps(session.identity, indent=1, sort_keys=True) for session in kept.sessions.values()}
        for identity in sorted(identities):
            print(identity)


@journal_app.command()
def clear(
    names: Annotated[list[str], _NAMES],
    yes: Annotated[bool, typer.Option("--yes", help="Remove them; without it nothing is.")] = False,
) -> None:
    """Remove some kept answers for good: those named, and no others."""
    from egobench_tasks.runs.kept import clear as remove
    from egobench_tasks.runs.kept import find_kept

    found = find_kept(names)
    for kept in found:
        print(f"{kept.key}: {kept.total:,} answers of {kept.name} from {', '.join(kept.places)}")
    if not yes:
        raise InputError("nothing was removed; --yes removes these")
    remove(found)
