"""EgoTempo's tables: categories, settings, durations; verdicts that are missing stand beside every figure."""

import math
from typing import Any

import pandas as pd

from egobench_tasks.report.analyse import published
from egobench_tasks.report.analyse.overall import RUN, THIS_REPORT
from egobench_tasks.report.analyse.tables import ORIGIN, PUBLISHED, Column, Kind, Table, table
from egobench_tasks.report.read.open_outcomes import CODES, OpenSetting, Order, read_setting
from egobench_tasks.scoring.intervals import wilson_interval

_SETTING = Column("setting", "Setting", Kind.TEXT)
_QUESTIONS = Column("questions", "Questions", Kind.COUNT)
_UNJUDGED = Column("unjudged", "No verdict", Kind.COUNT)
_ACCURACY = Column("accuracy", "Accuracy %", Kind.PERCENT, low="low", high="high")
_RESTS_ON = "Answers without a verdict are neither right nor wrong: left out of the rate, counted beside it."
_SOURCE = f"Published: {published.EGOTEMPO_SOURCE}."


def judged_accuracy(outcomes: pd.DataFrame) -> dict[str, Any]:
    """Return accuracy over the judged outcomes, its Wilson 95 % interval, and how many there are."""
    judged = outcomes.loc[outcomes["judged"], "correct"]
    low, high = wilson_interval(float(judged.sum()), len(judged))
    accuracy = float(judged.mean()) if len(judged) else math.nan
    counts = {"questions": len(outcomes), "judged": len(judged), "unjudged": len(outcomes) - len(judged)}
    return {**counts, "accuracy": accuracy, "low": low, "high": high}


def category_average(outcomes: pd.DataFrame) -> float:
    """Return the mean of the ten categories' accuracies, the paper's figure.

    NaN where a category has no verdict: a mean over fewer categories is another figure.
    """
    by_category = outcomes[outcomes["judged"]].groupby("category_code")["correct"].mean()
    return float(by_category.reindex(list(CODES)).mean(skipna=False))


def category_table(outcomes: pd.DataFrame) -> Table:
    """Category by setting for every run, published averages below."""
    rows = []
    for (run, setting), members in outcomes.groupby(["run", "setting"], sort=False):
        row = {"run": run, "setting": setting, ORIGIN: THIS_REPORT, **judged_accuracy(members)}
        row["average"] = category_average(members)
        by_category = {code: members[members["category_code"] == code] for code in CODES}
        rows.append(row | {code: judged_accuracy(part)["accuracy"] for code, part in by_category.items()})
    rows += [
        {"run": figure.model, "setting": figure.setting, ORIGIN: PUBLISHED, "average": figure.accuracy}
        for figure in published.EGOTEMPO
    ]
    columns = [
        RUN,
        _SETTING,
        _QUESTIONS,
        _UNJUDGED,
        Column("average", "Average %", Kind.PERCENT),
        _ACCURACY,
        *(Column(code, code, Kind.PERCENT) for code in CODES),
        Column(ORIGIN, "From", Kind.TEXT),
    ]
    note = f"Average: mean over the ten categories; accuracy: over all judged answers. {_RESTS_ON} {_SOURCE}"
    return table("open_categories", "EgoTempo: categories by setting", note, columns, rows)


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


def duration_table(outcomes: pd.DataFrame) -> Table:
    """Accuracy by the clip's duration."""
    known = outcomes[outcomes["duration"].notna()]
    grouped = known.groupby(["run", "setting", "duration"], sort=False)
    rows = [
        {"run": run, "setting": setting, "duration": duration, **judged_accuracy(members)}
        for (run, setting, duration), members in grouped
    ]
    # Stable: runs and settings stay in the order given.
    places = {pair: place for place, pair in enumerate(dict.fromkeys((row["run"], row["setting"]) for row in rows))}
    rows.sort(key=lambda row: (places[row["run"], row["setting"]], _low_end(str(row["duration"]))))
    columns = [RUN, _SETTING, Column("duration", "Duration", Kind.TEXT), _QUESTIONS, _UNJUDGED, _ACCURACY]
    return table("open_durations", "EgoTempo: by clip duration", _RESTS_ON, columns, rows)


def input_rows(outcomes: pd.DataFrame) -> list[dict[str, Any]]:
    """Return accuracy by what the model was given: one record a run and setting, published ones after them.

    ``frames`` and ``rate`` are NaN where a setting has none.
    """
    rows = [
        {"run": run, ORIGIN: THIS_REPORT, **_given(read_setting(str(setting))), **judged_accuracy(members)}
        | {"average": category_average(members)}
        for (run, setting), members in outcomes.groupby(["run", "setting"], sort=False)
    ]
    rows += [
        {"run": figure.model, ORIGIN: PUBLISHED, **_given(read_setting(figure.setting)), "average": figure.accuracy}
        for figure in published.EGOTEMPO
        if figure.model not in ("human", "random answer of the category")
    ]
    rows.sort(key=lambda row: (row[ORIGIN] == PUBLISHED, str(row["run"]), row["rate"] or 0, row["frames"] or 0))
    return rows


def input_table(outcomes: pd.DataFrame) -> Table:
    """Accuracy by number of frames and by frame rate."""
    columns = [
        RUN,
        _SETTING,
        Column("frames", "Frames", Kind.COUNT),
        Column("rate", "Frames a second", Kind.RATIO),
        Column("order", "Order", Kind.TEXT),
        _UNJUDGED,
        Column("average", "Average %", Kind.PERCENT),
        _ACCURACY,
        Column(ORIGIN, "From", Kind.TEXT),
    ]
    note = f"{_RESTS_ON} {_SOURCE}"
    return table("open_inputs", "EgoTempo: by frames and by rate", note, columns, input_rows(outcomes))


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
