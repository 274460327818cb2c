"""The dataset's side of a report: every question of a split, and what it can be grouped by."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from egobench_tasks.asking.questions import ChoiceQuestion, choice_question
from egobench_tasks.benchmarks import EGOGEARS
from egobench_tasks.data import DatasetLocation, fingerprint, load_rows
from egobench_tasks.frames.overlap import footage_path, read_footage
from egobench_tasks.report.read.clusters import joined, with_clusters
from egobench_tasks.scoring.scores import chance_exact

ONE_RECORDING, INDEPENDENT_RECORDINGS = "one recording", "independent recordings"
_DURATION_BINS_S = (20.0, 40.0, 60.0, 120.0, 300.0)
# Columns of the dataset that not every config has; null where its makers do not know.
_OPTIONAL_COLUMNS = ("category", "capability", "participant", "recording", "bundle", "speed", "lighting", "route")


@dataclass(frozen=True, slots=True)
class Split:
    """One config of EgoGears.

    ``attributes`` has a row a question, in the dataset's order, with the columns of `attributes_of` and
    `clusters.with_clusters`. ``footage``: by a clip's digest the recording that `egobench overlaps` found it to be of.
    """

    config: str
    location: str
    fingerprint: str
    questions: Mapping[str, ChoiceQuestion]
    attributes: pd.DataFrame
    footage: Mapping[str, str] = field(default_factory=dict)


def load_split(location: DatasetLocation, config: str) -> Split:
    """Load a config's questions; clips are not opened. What `egobench overlaps` found joins clips of one recording."""
    rows = load_rows(location, config)
    questions, attributes = {}, []
    for row in rows:
        question = choice_question(row)
        questions[question.question_id] = question
        attributes.append(attributes_of(question, row, config))
    clips = [question.clips for question in questions.values()]
    footage = read_footage(footage_path(clip.sha256 for members in clips for clip in members))
    clustered = with_clusters(pd.DataFrame(attributes), clips, footage)
    return Split(config, str(location), fingerprint(rows), questions, clustered, footage)


def clustered_together(splits: Mapping[str, Split]) -> dict[str, Split]:
    """Return splits whose clusters are counted across them: a recording that both show is one cluster of both."""
    parts = [
        (split.attributes, [question.clips for question in split.questions.values()], split.footage)
        for split in splits.values()
    ]
    return {
        config: replace(split, attributes=attributes)
        for (config, split), attributes in zip(splits.items(), joined(parts), strict=True)
    }


def attributes_of(question: ChoiceQuestion, row: Mapping[str, Any], config: str) -> dict[str, Any]:
    """Return what a question can be grouped by; None where the dataset does not say.

    ``duration_s`` is of all its clips together.
    """
    n_options, n_select = len(question.options), question.n_select
    duration_s = sum(clip.duration_s for clip in question.clips)
    optional = {name: row.get(name) for name in _OPTIONAL_COLUMNS}
    return {
        "config": config,
        "question_id": question.question_id,
        "question": question.question,
        "unit": question.unit,
        "recordings": _recordings(question.unit, config),
        "question_type": question.question_type,
        **optional,
        "n_options": n_options,
        "n_select": n_select,
        "answer_format": "one answer" if n_select == 1 else "several answers",
        "options_by_answers": f"{n_options} options, {n_select} right",
        "n_clips": len(question.clips),
        "duration_s": duration_s,
        "duration": duration_bin(duration_s),
        "speed_by_lighting": _speed_by_lighting(optional["speed"], optional["lighting"]),
        "chance": chance_exact(n_options, n_select),
    }


def crossed_routes(attributes: pd.DataFrame) -> pd.Series:
    """Return a mask of the questions on routes recorded in every speed and lighting (PROTOCOL 1.4: nine routes).

    A route is a participant's route code; recordings of a participant that carry no code count as
    one route. Speed "walk", a name that gives no pace, is none of the three.
    """
    known = attributes[attributes["participant"].notna() & attributes["speed_by_lighting"].notna()]
    paced = known[known["speed"].isin(["slow_walk", "fast_walk", "run"])]
    route = paced["participant"].astype(str) + "/" + paced["route"].fillna("").astype(str)
    n_combinations = paced["speed_by_lighting"].groupby(route).transform("nunique")
    crossed = pd.Series(False, index=attributes.index)
    crossed.loc[paced.index] = n_combinations == 6
    return crossed


def duration_bin(duration_s: float) -> str:
    """Return the bin of a duration, such as ``20-40 s``: lower end in, upper end out."""
    for low_s, high_s in zip((0.0, *_DURATION_BINS_S), _DURATION_BINS_S, strict=False):
        if duration_s < high_s:
            return f"{low_s:.0f}-{high_s:.0f} s"
    return f"{_DURATION_BINS_S[-1]:.0f} s and more"


def _recordings(unit: str, config: str) -> str | None:
    if config == "single" or unit in EGOGEARS.one_recording_units:
        return ONE_RECORDING
    return INDEPENDENT_RECORDINGS if unit in EGOGEARS.cross_recording_unit_counts else None


def _speed_by_lighting(speed: str | None, lighting: str | None) -> str | None:
    return f"{speed}, {lighting}" if speed and lighting else None
