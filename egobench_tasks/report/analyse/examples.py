"""Single questions to look at: answers that moved where nothing that matters changed, and that stayed where it did."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from egobench_tasks.asking.probes import PROBES
from egobench_tasks.report.analyse.overall import RUN, SPLIT
from egobench_tasks.report.analyse.tables import Column, Kind, Table, table
from egobench_tasks.report.analyse.variants import FULL, Paired, Variants

MAX_EXAMPLES = 5
"""Of one kind, run and probe."""
_NONE = "no answer"
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
    if any(len(answers) > 1 for variants in found for answers in variants.ways[FULL]["answers"]):
        note += " Of several answers to a question the most frequent counts; where two are as frequent it has none."
    rows = [row for variants in found for row in _rows(variants)]
    return table("examples", "Answers that moved and should not have, and the reverse", note, columns, rows)


def _rows(variants: Variants) -> Iterator[dict[str, Any]]:
    for probe in variants.ways:
        right = variants.paired([FULL, probe])
        if probe == FULL or right is None:
            continue
        if probe in PROBES and PROBES[probe].same_answer:
            yield from _cases(variants, right, probe, _MOVED, stays=False)
        elif probe == "swapped":
            yield from _cases(variants, right, probe, _STAYED, stays=True)
        elif probe == "blind":
            yield from _cases(variants, right, probe, _GUESSED, stays=True)


def _cases(variants: Variants, found: Paired, probe: str, kind: str, *, stays: bool) -> Iterator[dict[str, Any]]:
    full, other = found.ways
    before, after = full["answers"].map(_leading), other["answers"].map(_leading)
    chosen = _is_right(before, full) & after.notna() & ((before == after) == stays)
    if probe == "swapped":  # where the exchange is known to leave the right set alone nothing should move
        chosen &= other["implied"] != before
    ids = list(full.index[chosen])
    for question_id in ids[:MAX_EXAMPLES]:
        yield {
            "run": variants.run,
            "config": variants.config,
            "kind": kind,
            "probe": probe,
            "question_id": question_id,
            "full": _shown(before[question_id], full.at[question_id, "answers"]),
            "other": _shown(after[question_id], other.at[question_id, "answers"]),
            "gold": before[question_id],
            "of": len(ids),
            "question": full.at[question_id, "question"],
        }


def _is_right(leading: pd.Series, way: pd.DataFrame) -> pd.Series:
    """Whether a question's most frequent answer is right."""
    rows = zip(leading, way["answers"], way["rights"], strict=True)
    return pd.Series([(one, 1.0) in zip(answers, rights, strict=True) for one, answers, rights in rows], leading.index)


def _leading(answers: Sequence[str]) -> str | None:
    """The set answered most often, empty for no answer; None where two are as frequent."""
    (first, most), *others = Counter(answers).most_common(2)
    return None if others and others[0][1] == most else first


def _shown(leading: str, answers: Sequence[str]) -> str:
    text = leading or _NONE
    return text if len(answers) == 1 else f"{text} ({answers.count(leading)} of {len(answers)})"
