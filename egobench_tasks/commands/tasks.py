"""The command that lists the tasks: what each shows a model, and about what it costs."""

from typing import TYPE_CHECKING, Annotated

import typer

from egobench_tasks.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from egobench_tasks.asking.catalogue import TaskGroup

app = typer.Typer()


@app.command()
def tasks(
    word: Annotated[str | None, typer.Argument(metavar="[WORD]", help="Only tasks with this in their name.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON list instead of a table.")] = False,
) -> None:
    """Every task: its name, what a model is shown, questions, frames, and about how many tokens the frames are.

    A name runs all its parts; one of them is NAME:PART (egogears:multi, egotempo:counting_actions).
    """
    import json
    from dataclasses import asdict

    from egobench_tasks.asking.catalogue import all_entries, task_groups
    from egobench_tasks.texts import nearest

    groups = task_groups(all_entries())
    found = [group for group in groups if word is None or word.lower() in group.name]
    if not found:
        words = {part for group in groups for part in group.name.split("_")}
        raise InputError(f"no task's name holds {word!r}; {nearest(word or '', words)}")
    print(json.dumps([asdict(group) for group in found], indent=1) if as_json else _table(found))


def _table(groups: "Sequence[TaskGroup]") -> str:
    from egobench_tasks.asking.probes import PROBES_NAME, SET_OF_PROBES

    rows = [("task", "questions", "frames", "image tokens", "a model is shown")]
    rows += [
        (group.name, f"{group.n_questions:,}", f"{group.n_frames:,}", _millions(group.image_tokens), group.shows)
        for group in groups
    ]
    widths = [max(len(row[place]) for row in rows) for place in range(4)]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *(row[place].rjust(widths[place]) for place in (1, 2, 3)), row[4]])
        for row in rows
    ]
    lines += [
        "",
        f"{PROBES_NAME} runs egogears_{', _'.join(SET_OF_PROBES)}.",
        "Questions are those of the published splits; a probe may apply to fewer.",
        "Image tokens are as Qwen2.5-VL counts them; egobench run … --dry-run measures another model's.",
    ]
    return "\n".join(lines)


def _millions(tokens: int) -> str:
    return f"{tokens / 1e6:.1f} M" if tokens else "0"
