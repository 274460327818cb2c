"""Single questions to look at: answers that moved where nothing that matters changed, and that stayed where it did."""

from collections.abc import Iterator, Sequence
from typing import Any

from egobench_tasks.report.analyse.overall import RUN, SPLIT
from egobench_tasks.report.analyse.tables import Column, Kind, Table, table
from egobench_tasks.report.analyse.variants import FULL, Paired, Variants

MAX_EXAMPLES = 5
"""Of one kind, run and probe."""
_NONE = "no answer"
_STAYS = ("reordered", "renamed", "perm1", "perm2", "perm3", "perm4")
_MOVED, _STAYED = "moved, should not have", "stayed, should have moved"
_GUESSED = "right without frames"


def example_table(found: Sequence[Variants]) -> Table:
    """At most `MAX_EXAMPLES` questions a kind, run and probe, in the dataset's order."""
    columns = [
        RUN,
        SPLIT,
        Column("kind", "What happened", Kind.TEXT),
        Column("probe", "Probe", Kind.TEXT),
        Column("question_id", "Question", Kind.QUESTION),
        Column("full", "Answered", Kind.TEXT),
        Column("other", "Answered under the probe", Kind.TEXT),
        Column("gold", "Right", Kind.TEXT),
        Column("of", "Of how many", Kind.COUNT),
        Column("question", "Text", Kind.TEXT),
    ]
    note = (
        f"At most {MAX_EXAMPLES} of each kind. All were answered rightly as the benchmark asks. Letters are the "
        "dataset's. Right without frames: the words gave it away, or it was guessed."
    )
    rows = [row for variants in found for row in _rows(variants)]
    return table("examples", "Answers that moved and should not have, and the reverse", note, columns, rows)


def _rows(variants: Variants) -> Iterator[dict[str, Any]]:
    for probe in variants.ways:
        right = variants.paired([FULL, probe])
        if probe == FULL or right is None:
            continue
        if probe in _STAYS:
            yield from _cases(variants, right, probe, _MOVED, stays=False)
        elif probe == "swapped":
            yield from _cases(variants, right, probe, _STAYED, stays=True)
        elif probe == "blind":
            yield from _cases(variants, right, probe, _GUESSED, stays=True)


def _cases(variants: Variants, found: Paired, probe: str, kind: str, *, stays: bool) -> Iterator[dict[str, Any]]:
    full, other = found.ways
    chosen = (full["exact_set"] > 0) & ((full["predicted"] == other["predicted"]) == stays)
    if probe == "swapped":  # where the exchange is known to leave the right set alone nothing should move
        chosen &= other["implied"] != full["predicted"]
    ids = list(full.index[chosen])
    for question_id in ids[:MAX_EXAMPLES]:
        yield {
            "run": variants.run,
            "config": variants.config,
            "kind": kind,
            "probe": probe,
            "question_id": question_id,
            "full": full.at[question_id, "predicted"],
            "other": other.at[question_id, "predicted"] or _NONE,
            "gold": full.at[question_id, "predicted"],
            "of": len(ids),
            "question": full.at[question_id, "question"],
        }
