"""The profile of each model: exact under each way of asking as a dot, with chance."""

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from egobench_tasks.report.show import plots

STYLES = {
    "full": (plots.BLUE, "o"),
    "blind": ("#616e7c", "X"),
    "center": (plots.ORANGE, "^"),
    "shuffled": (plots.VERMILION, "D"),
    "reversed": (plots.PURPLE, "<"),
    "swapped": (plots.GREEN, "s"),
}


@plots.styled
def profile(rows: pd.DataFrame) -> Figure:
    """A line of dots a run and split, one a way of asking, each with its interval; chance as a tick.

    ``rows`` are those of `diagnosis_tables.profile_table` whose ``way`` is in `STYLES`.
    """
    lines = list(dict.fromkeys(zip(rows["config"], rows["run"], strict=True)))
    figure = Figure(figsize=(plots.WIDTH_IN, 0.62 * len(lines) + 1.3), layout="constrained")
    axis = figure.subplots()
    for y, (config, run) in enumerate(reversed(lines)):
        mine = rows[(rows["config"] == config) & (rows["run"] == run)]
        for record in mine.to_dict("records"):
            colour, marker = STYLES[record["way"]]
            # Beside each other, so that intervals at equal rates do not lie on one another.
            level = y + 0.09 * (len(STYLES) / 2 - 0.5 - list(STYLES).index(record["way"]))
            axis.plot([record["low"], record["high"]], [level, level], color=colour, linewidth=1.2, alpha=0.8)
            axis.plot(record["exact_set"], level, color=colour, marker=marker, markersize=6)
        chance = float(mine["chance"].iloc[0])
        axis.plot([chance, chance], [y - 0.36, y + 0.36], color=plots.INK, linewidth=1, linestyle=":")
        axis.axhline(y - 0.5, color=plots.GRID, linewidth=0.6)
    axis.set_yticks(range(len(lines)), [f"{run}, {config}" for config, run in reversed(lines)])
    axis.set_ylim(-0.5, len(lines) - 0.5)
    axis.set_title("Exact by way of asking, clustered 95 %")
    plots.rate_axis(axis.xaxis, axis, "x")
    present = [way for way in STYLES if way in set(rows["way"])]
    handles = [Line2D([], [], color=STYLES[way][0], marker=STYLES[way][1], label=way) for way in present]
    handles.append(Line2D([], [], color=plots.INK, linestyle=":", linewidth=1, label="chance"))
    figure.legend(handles=handles, loc="outside lower left", ncols=len(handles))
    return figure
