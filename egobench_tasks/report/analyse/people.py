"""People beside models on the same questions: each person, all of them together, each model (EgoTempo, table 7)."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from egobench_tasks.report.analyse.clusters import clusters
from egobench_tasks.report.analyse.consistency import majority_exact
from egobench_tasks.report.analyse.estimates import Estimate, mean, share
from egobench_tasks.report.analyse.overall import QUESTIONS, SPLIT
from egobench_tasks.report.analyse.tables import Column, Kind, Table, table
from egobench_tasks.report.read.open_outcomes import open_frame
from egobench_tasks.report.read.people import ChoicePeople, OpenPeople

_WHO = Column("who", "Who", Kind.TEXT)
_WHAT = Column("what", "What", Kind.TEXT)
_SHOWN = Column("shown", "Shown", Kind.TEXT)
_TOGETHER = (
    "People, mean: what one of them scores on average. Majority: the answer that most of them gave; answers as "
    "frequent count in part. Best: the person who scores highest here, which flatters the more people there are. "
)


def choice_people_table(people: ChoicePeople) -> Table:
    """EgoGears: exact accuracy with clustered intervals, on the questions that every person was asked."""
    rows: list[dict[str, Any]] = []
    results = people.results
    for config in () if results is None else results.configs:
        rows += _choice_rows(people, config, results.of(config))  # type: ignore[union-attr]
    columns = [
        _WHO,
        _WHAT,
        SPLIT,
        Column("exact", "Exact %", Kind.PERCENT, 2, low="low", high="high"),
        Column("jaccard", "Jaccard %", Kind.PERCENT, 2),
        Column("chance", "Chance %", Kind.PERCENT, 2),
        QUESTIONS,
        Column("answered", "Answered", Kind.COUNT),
        Column("seconds", "Seconds a question", Kind.RATIO, 1),
        _SHOWN,
    ]
    note = (
        f"{_TOGETHER}All on the questions that every person was asked, models too; clustered 95 % intervals over "
        "questions, not over people. Seconds: the median time that a question was looked at before it was answered."
    )
    return table("people", "People and models on the same questions", note, columns, rows)


def _choice_rows(people: ChoicePeople, config: str, outcomes: pd.DataFrame) -> list[dict[str, Any]]:
    by_run = {str(run): part.set_index("question_id") for run, part in outcomes.groupby("run", sort=False)}
    persons = {label: by_run[label] for label in people.persons if label in by_run}
    first = next(iter(by_run.values()))
    found = clusters(first["cluster"])
    about = {"config": config, "questions": len(first), "chance": float(first["chance"].mean())}

    def row(who: str, what: str, estimate: Estimate, **more: Any) -> dict[str, Any]:
        return {"who": who, "what": what, "exact": estimate.value, "low": estimate.low, "high": estimate.high} | (
            about | more
        )

    def single(label: str, what: str, part: pd.DataFrame) -> dict[str, Any]:
        person = people.persons.get(label)
        return row(
            person.participant if person else label,
            what,
            share(part["exact_set"].to_numpy(dtype=float), found),
            jaccard=float(part["jaccard"].mean()),
            answered=int((part["answered"] > 0).sum()),
            seconds=float(part["seconds"].median()) if person else math.nan,
            shown=person.shown if person else None,
        )

    right = np.column_stack([part.loc[first.index, "exact_set"].to_numpy(dtype=float) for part in persons.values()])
    sets = [part.loc[first.index, "predicted"].tolist() for part in persons.values()]
    majority = [majority_exact(row, exact) for row, exact in zip(zip(*sets, strict=True), right, strict=True)]
    best = int(right.mean(axis=0).argmax())
    return [
        *(single(label, "person", part) for label, part in persons.items()),
        row("people", "mean", mean(right.mean(axis=1), found)),
        row("people", "majority", mean(np.array(majority), found)),
        row("people", "best", share(right[:, best], found)),
        *(single(label, "model", part) for label, part in by_run.items() if label not in persons),
    ]


def open_people_table(people: OpenPeople) -> Table:
    """EgoTempo: judged right of those decided, on the questions that every person was asked, by judge."""
    rows: list[dict[str, Any]] = []
    for judge in dict.fromkeys(people.judges.values()):
        names = [name for name in people.outcomes if people.judges[name] == judge]
        if any(name in people.persons for name in names):
            rows += _open_rows(people, judge, names)
    columns = [
        _WHO,
        _WHAT,
        Column("setting", "Setting", Kind.TEXT),
        Column("correct", "Correct %", Kind.PERCENT, 1, low="low", high="high"),
        QUESTIONS,
        Column("decided", "Decided", Kind.COUNT),
        Column("judge", "Judge", Kind.TEXT),
        _SHOWN,
    ]
    note = (
        f"{_TOGETHER}Answers differ in words, so the majority is right where more than half of the people are, by the "
        "judge, and counts half where half are. Of questions that the judge decided; intervals over questions."
    )
    return table("open_people", "People and models on the same questions of EgoTempo", note, columns, rows)


def _open_rows(people: OpenPeople, judge: str, names: Sequence[str]) -> list[dict[str, Any]]:
    frames = {
        (name, str(setting)): part.set_index("question_id")
        for name in names
        for setting, part in open_frame(people.outcomes[name]).groupby("setting", sort=False)
    }

    def row(who: str, what: str, correct: pd.Series, video: pd.Series, **more: Any) -> dict[str, Any]:
        decided = correct.notna().to_numpy()
        estimate = mean(correct[decided].to_numpy(dtype=float), clusters(video[decided]))
        figures = {"correct": estimate.value, "low": estimate.low, "high": estimate.high}
        counts = {"questions": len(correct), "decided": int(decided.sum())}
        return {"who": who, "what": what, "judge": judge, "setting": None, **figures, **counts, **more}

    persons = {key: frame for key, frame in frames.items() if key[0] in people.persons}
    first = next(iter(persons.values()))
    wide = pd.DataFrame({key[0]: frame["correct"] for key, frame in persons.items()}).reindex(first.index)
    whole = wide.where(wide.notna().all(axis=1))
    rates = whole.mean(axis=1)
    majority = rates.map(lambda rate: rate if math.isnan(rate) else float(rate > 0.5) + 0.5 * float(rate == 0.5))
    best = whole.mean().idxmax() if whole.notna().any().any() else wide.columns[0]
    video = first["video"]
    rows = [
        row(
            people.persons[name].participant,
            "person",
            frame["correct"],
            frame["video"],
            shown=people.persons[name].shown,
        )
        for (name, _), frame in persons.items()
    ]
    rows += [
        row("people", "mean", rates, video),
        row("people", "majority", majority, video),
        row("people", "best", whole[best], video),
    ]
    models = {key: frame for key, frame in frames.items() if key not in persons}
    return rows + [
        row(name, "model", frame["correct"], frame["video"], setting=setting)
        for (name, setting), frame in models.items()
    ]
