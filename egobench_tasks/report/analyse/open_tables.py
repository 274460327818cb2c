"""EgoTempo's tables: categories, settings, durations; what has no verdict or was lost stands beside every figure."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pandas as pd

from egobench_tasks.benchmarks import EGOTEMPO
from egobench_tasks.report.analyse import open_pairs, published
from egobench_tasks.report.analyse.clusters import clusters
from egobench_tasks.report.analyse.defaults import DEFAULTS, defaults_of
from egobench_tasks.report.analyse.estimates import share
from egobench_tasks.report.analyse.overall import MARK, RUN, THIS_REPORT, not_comparable
from egobench_tasks.report.analyse.tables import ORIGIN, PUBLISHED, Column, Kind, Table, table
from egobench_tasks.report.read.open_outcomes import CODES, JUDGED, OpenSetting, OpenState, Order, read_setting
from egobench_tasks.report.read.open_results import OpenSummary
from egobench_tasks.runs.record import RunRecord
from egobench_tasks.scoring.intervals import wilson_interval

Anchors = Mapping[str, str]
_NO_ANCHOR: Anchors = MappingProxyType({})

_SETTING = Column("setting", "Setting", Kind.TEXT)
_QUESTIONS = Column("questions", "Questions", Kind.COUNT)
_MISSING = (
    Column("unanswered", "Unanswered", Kind.COUNT),
    Column("unjudged", "No verdict", Kind.COUNT),
    Column("lost", "Lost", Kind.COUNT),
)
_UNDECIDED = Column("undecided", "Without verdict", Kind.COUNT)
_ACCURACY = Column("accuracy", "Accuracy %", Kind.PERCENT, 1, "low", "high", "clustered_low", "clustered_high")
_RESTS_ON = (
    "Unanswered by the model is wrong. Answers without a verdict, and questions that were lost (no clip, a failed "
    "request), are neither right nor wrong: left out of the rate, counted beside it (without verdict: both). "
    "Clustered: allows for questions on one video."
)
_SOURCE = (
    f"Published: {published.EGOTEMPO_SOURCE}; harness: {published.EGOTEMPO_HARNESS}, judge: {published.EGOTEMPO_JUDGE}."
)


def open_runs_table(summaries: Sequence[OpenSummary], records: Mapping[str, Sequence[RunRecord]]) -> Table:
    """What was run and judged: a row a run and setting, and all that its figures rest on."""
    rows = [
        {
            "run": one.label,
            "setting": one.setting,
            "mark": one.mark,
            "judge": one.judge,
            "wording": one.wording,
            "questions": one.questions,
            "categories": one.categories,
            "judged": one.judged,
            "unanswered": one.unanswered,
            "unjudged": one.unjudged,
            "lost": one.lost,
            "prompt": one.inputs.prompt,
            "frames": one.inputs.frames,
            "defaults": defaults_of(records.get(one.label, ())),
        }
        for one in summaries
    ]
    columns = [
        RUN,
        _SETTING,
        MARK,
        Column("categories", "Categories", Kind.COUNT),
        _QUESTIONS,
        Column("judged", "Judged", Kind.COUNT),
        *_MISSING,
        Column("judge", "Judge", Kind.TEXT),
        Column("wording", "Judge's wording", Kind.TEXT, aside=True),
        Column("prompt", "Prompt", Kind.TEXT, aside=True),
        Column("frames", "Frames", Kind.TEXT, aside=True),
        DEFAULTS,
    ]
    note = (
        "A run is partial while questions are lost: no clip, a failed request, a part that is not there. It is mixed "
        "where its folder holds answers of the same model under other settings, which are read as runs of their own. "
        "Judged: a judge saw the answer and gave a verdict."
    )
    return table("open_runs", "EgoTempo: runs", note, columns, rows)


def open_accuracy(outcomes: pd.DataFrame) -> dict[str, Any]:
    """Return accuracy over the decided outcomes, its 95 % intervals, and the counts of all others.

    ``low``, ``high``: Wilson's; ``clustered_low``, ``clustered_high``: that which allows for questions on one video.
    """
    decided = outcomes.loc[outcomes["decided"], "correct"]
    videos = outcomes["video"].fillna(outcomes["question_id"]).loc[decided.index]
    clustered = share(decided.to_numpy(dtype=float), clusters(videos))
    low, high = wilson_interval(float(decided.sum()), len(decided))
    accuracy = float(decided.mean()) if len(decided) else math.nan
    counts = {
        "questions": len(outcomes),
        "judged": int(outcomes["state"].isin(JUDGED).sum()),
        "unanswered": int((outcomes["state"] == OpenState.UNANSWERED).sum()),
        "unjudged": int((outcomes["state"] == OpenState.NO_VERDICT).sum()),
        "lost": int((outcomes["state"] == OpenState.LOST).sum()),
        "undecided": int((~outcomes["decided"].astype(bool)).sum()),
    }
    bounds = {"low": low, "high": high, "clustered_low": clustered.low, "clustered_high": clustered.high}
    return {**counts, "accuracy": accuracy, **bounds}


def category_average(outcomes: pd.DataFrame) -> float:
    """Return the mean of the ten categories' accuracies, the paper's figure.

    NaN where a category has nothing decided: a mean over fewer categories is another figure.
    """
    by_category = outcomes[outcomes["decided"]].groupby("category_code")["correct"].mean()
    return float(by_category.reindex(list(CODES)).mean(skipna=False))


def category_table(outcomes: pd.DataFrame, unpublished: str | None = None, anchors: Anchors = _NO_ANCHOR) -> Table:
    """Category by setting for every run, the paper's tables below.

    ``unpublished`` says how the dataset differs from the published one, None where it does not; ``anchors``: see
    `open_results.OpenResults`.
    """
    rows = []
    for (run, setting), members in outcomes.groupby(["run", "setting"], sort=False):
        row = {"run": run, "setting": setting, ORIGIN: THIS_REPORT, **open_accuracy(members)}
        row |= {"average": category_average(members), **open_pairs.difference(outcomes, anchors, members)}
        by_category = {code: members[members["category_code"] == code] for code in CODES}
        rows.append(row | {code: open_accuracy(part)["accuracy"] for code, part in by_category.items()})
    rows += [_published(figure) for figure in (*published.EGOTEMPO, *published.EGOTEMPO_CLOSED_FORM)]
    columns = [
        RUN,
        _SETTING,
        *open_pairs.columns(anchors),
        *(Column(code, code, Kind.PERCENT) for code in CODES),
        Column("average", "Average %", Kind.PERCENT),
        _UNDECIDED,
        replace(_ACCURACY, aside=True),
        *(replace(column, aside=True) for column in (_QUESTIONS, *_MISSING)),
        Column(ORIGIN, "From", Kind.TEXT, aside=True),
    ]
    codes = ", ".join(f"{code} {name}" for name, code in EGOTEMPO.category_codes.items())
    note = (
        f"In the paper's order: {codes}. "
        f"Average: mean over the ten categories; accuracy: over all decided questions. {_RESTS_ON} {_SOURCE}"
        f"{_not_comparable(unpublished)}"
    )
    title = "EgoTempo: categories by setting"
    return table("open_categories", title, note, columns, rows, apart=unpublished is not None)


def _published(figure: published.OpenFigure) -> dict[str, Any]:
    about = {"harness": published.EGOTEMPO_HARNESS, "judge": published.EGOTEMPO_JUDGE, "table": figure.table}
    setting = f"{figure.setting}, closed form" if figure.closed_form else figure.setting
    return {"run": figure.model, "setting": setting, ORIGIN: PUBLISHED, "average": figure.accuracy} | (
        about | dict(figure.categories)
    )


def _not_comparable(unpublished: str | None) -> str:
    return not_comparable({} if unpublished is None else {EGOTEMPO.title: unpublished}, EGOTEMPO.title)


def video_gain_table(outcomes: pd.DataFrame) -> Table:
    """What several frames in order add to a single one."""
    rows = []
    for run, members in outcomes.groupby("run", sort=False):
        by_setting = {read_setting(str(name)): part for name, part in members.groupby("setting", sort=False)}
        single = [category_average(part) for setting, part in by_setting.items() if setting.is_single_frame]
        for setting, part in by_setting.items():
            if single and setting.is_video:
                video = category_average(part)
                ratio = video / single[0] if single[0] > 0 else math.nan
                rows.append(
                    {"run": run, "setting": setting.name, "single_frame": single[0], "video": video, "ratio": ratio}
                )
    columns = [
        RUN,
        _SETTING,
        Column("single_frame", "Single frame %", Kind.PERCENT),
        Column("video", "Video %", Kind.PERCENT),
        Column("ratio", "Video / single frame", Kind.RATIO, 2),
    ]
    note = "Averages over the ten categories. A ratio near 1: the questions can be answered from one frame."
    return table("open_video_gain", "EgoTempo: from a single frame to video", note, columns, rows)


def duration_table(outcomes: pd.DataFrame, anchors: Anchors = _NO_ANCHOR) -> Table:
    """Accuracy by the clip's duration; ``anchors`` as of `category_table`."""
    known = outcomes[outcomes["duration"].notna()]
    grouped = known.groupby(["run", "setting", "duration"], sort=False)
    rows = [
        {"run": run, "setting": setting, "duration": duration, **open_accuracy(members)}
        | open_pairs.difference(outcomes, anchors, members)
        for (run, setting, duration), members in grouped
    ]
    # Stable: runs and settings stay in the order given.
    places = {pair: place for place, pair in enumerate(dict.fromkeys((row["run"], row["setting"]) for row in rows))}
    rows.sort(key=lambda row: (places[row["run"], row["setting"]], _low_end(str(row["duration"]))))
    columns = [RUN, _SETTING, Column("duration", "Duration", Kind.TEXT), _QUESTIONS, *_MISSING, _ACCURACY]
    columns += open_pairs.columns(anchors)
    return table("open_durations", "EgoTempo: by clip duration", _RESTS_ON, columns, rows)


def input_rows(outcomes: pd.DataFrame, anchors: Anchors = _NO_ANCHOR) -> list[dict[str, Any]]:
    """Return accuracy by what the model was given: one record a run and setting, published ones after them.

    ``frames`` and ``rate`` are NaN where a setting has none.
    """
    rows = [
        {"run": run, ORIGIN: THIS_REPORT, **_given(read_setting(str(setting))), **open_accuracy(members)}
        | {"average": category_average(members), **open_pairs.difference(outcomes, anchors, members)}
        for (run, setting), members in outcomes.groupby(["run", "setting"], sort=False)
    ]
    rows += [
        {"run": figure.model, ORIGIN: PUBLISHED, **_given(read_setting(figure.setting)), "average": figure.accuracy}
        for figure in published.EGOTEMPO
        if figure.is_model
    ]
    rows.sort(key=lambda row: (row[ORIGIN] == PUBLISHED, str(row["run"]), row["rate"] or 0, row["frames"] or 0))
    return rows


def input_table(outcomes: pd.DataFrame, unpublished: str | None = None, anchors: Anchors = _NO_ANCHOR) -> Table:
    """Accuracy by number of frames and by frame rate; the other arguments as of `category_table`."""
    columns = [
        RUN,
        _SETTING,
        Column("frames", "Frames", Kind.COUNT),
        Column("rate", "Frames a second", Kind.RATIO),
        Column("order", "Order", Kind.TEXT),
        *_MISSING,
        Column("average", "Average %", Kind.PERCENT),
        _ACCURACY,
        *open_pairs.columns(anchors),
        Column(ORIGIN, "From", Kind.TEXT),
    ]
    note = f"{_RESTS_ON} {_SOURCE}{_not_comparable(unpublished)}"
    title = "EgoTempo: by frames and by rate"
    return table("open_inputs", title, note, columns, input_rows(outcomes, anchors), apart=unpublished is not None)


def sampling_table(outcomes: pd.DataFrame) -> Table:
    """The same input sampled uniformly, at random, and uniformly then shuffled."""
    averages: dict[tuple[str, str], dict[Order, float]] = {}
    for (run, name), members in outcomes.groupby(["run", "setting"], sort=False):
        setting = read_setting(str(name))
        averages.setdefault((str(run), setting.base), {})[setting.order] = category_average(members)
    rows = []
    for (run, base), by_order in averages.items():
        if len(by_order) > 1:
            uniform = by_order.get(Order.UNIFORM, math.nan)
            row: dict[str, Any] = {"run": run, "setting": base}
            row |= {str(order): by_order.get(order, math.nan) for order in Order}
            row |= {f"{order}_loss": row[order] - uniform for order in (Order.RANDOM, Order.SHUFFLED)}
            rows.append(row)
    columns = [
        RUN,
        _SETTING,
        Column("uniform", "Uniform %", Kind.PERCENT),
        Column("random", "Random %", Kind.PERCENT),
        Column("shuffled", "Shuffled %", Kind.PERCENT),
        Column("random_loss", "Random less uniform (points)", Kind.POINTS),
        Column("shuffled_loss", "Shuffled less uniform (points)", Kind.POINTS),
    ]
    note = "Averages over the ten categories. What shuffling loses is what the order of frames was worth."
    return table("open_sampling", "EgoTempo: uniform, random, shuffled", note, columns, rows)


def _given(setting: OpenSetting) -> dict[str, Any]:
    return {"setting": setting.name, "frames": setting.n_frames, "rate": setting.rate_hz, "order": str(setting.order)}


def _low_end(duration: str) -> float:
    return float(duration.split("-")[0].split(" ")[0])
