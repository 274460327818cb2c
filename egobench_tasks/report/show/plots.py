"""The report's figures: vector graphics that read in print and without colour vision.

Series differ by shape as well as colour (Okabe and Ito's palette); no figure depends on a screen,
a font of the machine's, or the date.
"""

import functools
import io
import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from egobench_tasks.report.analyse.terms import in_words

BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILION = "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00"
INK, _MUTED, GRID = "#1f2933", "#616e7c", "#d9e0e6"
_SERIES = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY)
_MARKERS = ("o", "s", "^", "D", "v", "P")
_SPLIT_STYLE: dict[Any, Any] = {"single": (BLUE, "o"), "multi": (VERMILION, "s")}
_OTHER_SPLIT = (GREEN, "^")
_STYLE: dict[Any, Any] = {
    "svg.fonttype": "path",
    "svg.hashsalt": "egobench",
    "pdf.fonttype": 42,  # text that can be selected and searched; publishers refuse type 3
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.edgecolor": _MUTED,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
}
WIDTH_IN = 8.0
# Beside a table on one screen.
_LEADERBOARD_WIDTH_IN = 6.6
_MAX_NAME_CHARS = 34
_MAX_LEGEND_CHARS = 44
# What a character of a label takes at the size of slopes' labels, on the wide side.
_CHAR_IN = 0.075
# Beyond this many lines nobody tells them apart by style.
MAX_SERIES = len(_SERIES)


@dataclass(frozen=True, slots=True)
class Plot:
    """A figure as SVG text and as a PDF file, with what it shows in words for those who do not see it."""

    key: str
    title: str
    alt: str
    svg: str
    pdf: bytes


def to_plot(key: str, title: str, alt: str, figure: Figure) -> Plot:
    """Render a figure; the same figure gives the same bytes on any day."""
    with mpl.rc_context(_STYLE):
        svg, pdf = io.StringIO(), io.BytesIO()
        figure.savefig(svg, format="svg", metadata={"Date": None, "Creator": None})
        figure.savefig(pdf, format="pdf", metadata={"CreationDate": None, "Creator": None, "Producer": None})
    return Plot(key, title, alt, svg.getvalue(), pdf.getvalue())


Drawing = Callable[..., Figure]


def styled(draw: Drawing) -> Drawing:
    """Draw under this module's style, whatever the user's own settings of matplotlib are."""

    @functools.wraps(draw)
    def styled(*args: Any, **kwargs: Any) -> Figure:
        with mpl.rc_context():
            mpl.rcdefaults()
            mpl.rcParams.update(_STYLE)
            return draw(*args, **kwargs)

    return styled


@styled
def leaderboard(overall: pd.DataFrame, measure: str = "exact, Wilson") -> Figure:
    """Accuracy of runs on each split with its interval, chance as a tick, best first.

    ``overall`` has the columns run, config, exact_set, low, high, chance; published rows have no interval. Splits come
    as ``overall`` has them.
    """
    configs = list(dict.fromkeys(overall["config"]))
    panels = [overall[overall["config"] == config].sort_values("exact_set", kind="stable") for config in configs]
    heights = [len(panel) for panel in panels]
    height_in = 0.24 * sum(heights) + 0.75 * len(panels)
    figure, axes = _new_figure(height_in, rows=len(panels), ratios=heights, width_in=_LEADERBOARD_WIDTH_IN)
    for axis, config, panel in zip(axes, configs, panels, strict=True):
        colour, marker = _SPLIT_STYLE.get(config, _OTHER_SPLIT)
        for y, row in enumerate(panel.to_dict("records")):
            published = math.isnan(row["low"])
            if not published:
                axis.plot([row["low"], row["high"]], [y, y], color=colour, linewidth=2, solid_capstyle="butt")
                axis.plot(row["chance"], y, marker="|", color=_MUTED, markersize=9)
            face = "white" if published else colour
            axis.plot(row["exact_set"], y, marker=marker, color=colour, markerfacecolor=face, markersize=6)
        names = [
            f"{_cut(run)} ◊" if math.isnan(low) else _cut(run)
            for run, low in zip(panel["run"], panel["low"], strict=True)
        ]
        axis.set_yticks(range(len(panel)), names)
        axis.set_ylim(-0.7, len(panel) - 0.3)
        axis.set_title(f"{config}: {measure}, 95 %" + (", ◊ published" if panel["low"].isna().any() else ""))
        rate_axis(axis.xaxis, axis, "x")
    return figure


@styled
def heat_map(values: pd.DataFrame, label: str) -> Figure:
    """Rates of runs (rows) by groups (columns), each cell with its number; empty where there is none."""
    figure, (axis,) = _new_figure(0.3 * len(values) + 1.9)
    matrix = values.to_numpy(dtype=float)
    top = max(0.5, float(np.nanmax(matrix, initial=0)))
    axis.imshow(matrix, cmap="Blues", vmin=0, vmax=top, aspect="auto")
    for (row, column), value in np.ndenumerate(matrix):
        if not math.isnan(value):
            ink = "white" if value > 0.55 * top else INK
            axis.text(column, row, f"{100 * value:.0f}", ha="center", va="center", color=ink, fontsize=8)
    axis.set_xticks(range(values.shape[1]), [_wrapped(in_words(str(name))) for name in values.columns])
    axis.set_yticks(range(len(values)), [_cut(str(name)) for name in values.index])
    axis.tick_params(length=0)
    axis.spines[:].set_visible(False)
    axis.set_title(label)
    return figure


@styled
def lines(series: dict[str, pd.DataFrame], x_label: str, log_x: bool = False, dashed: Collection[str] = ()) -> Figure:
    """Accuracy along an input. Each series has the columns x, accuracy and, if known, low and high.

    x is a number, or a name: names keep their order. At most `MAX_SERIES` series; those in
    ``dashed`` are other people's.
    """
    # Long names take a line each.
    legend_columns = 2 if max(map(len, series), default=0) <= _MAX_LEGEND_CHARS else 1
    figure, (axis,) = _new_figure(3.5 + 0.19 * math.ceil(len(series) / legend_columns))
    names = list(dict.fromkeys(x for points in series.values() for x in points["x"] if isinstance(x, str)))
    place = {name: index for index, name in enumerate(names)}
    for index, (label, points) in enumerate(series.items()):
        # Beside each other, so that intervals at the same x do not lie on one another.
        shift = (index - (len(series) - 1) / 2) * 0.06 if names else 0.0
        x = [place[value] + shift if names else float(value) for value in points["x"]]
        colour, marker = _SERIES[index], _MARKERS[index]
        style: dict[str, Any] = {"color": colour, "marker": marker, "linestyle": "--" if label in dashed else "-"}
        axis.plot(x, points["accuracy"], **style, linewidth=1.4, markersize=5, label=label)
        if "low" in points:
            low, high = (pd.to_numeric(points[name]) for name in ("low", "high"))  # None where published
            axis.vlines(x, low, high, color=colour, linewidth=1, alpha=0.8)
    if names:
        axis.set_xticks(range(len(names)), names)
    elif log_x:
        values = sorted({float(x) for points in series.values() for x in points["x"]})
        axis.set_xscale("log", base=2)
        axis.set_xticks(values, [f"{value:g}" for value in values])
        axis.minorticks_off()
    axis.set_xlabel(x_label)
    rate_axis(axis.yaxis, axis, "y")
    figure.legend(loc="outside lower left", ncols=legend_columns)
    return figure


@styled
def slopes(rates: pd.DataFrame, low_label: str = "single", high_label: str = "multi") -> Figure:
    """A line a run from its rate on single to its rate on multi, named at both ends."""
    label_in = _CHAR_IN * (max(len(str(run)) for run in rates.index) + 8)
    width_in = max(WIDTH_IN, 2 * label_in + 2.5)
    figure, (axis,) = _new_figure(max(3.5, 0.24 * len(rates) + 1.2), width_in=width_in)
    top = max(0.1, float(rates.to_numpy().max()) * 1.08)
    gap = top / max(14, 1.05 * len(rates))
    left, right = _spread(rates[low_label].tolist(), gap), _spread(rates[high_label].tolist(), gap)
    for index, row in enumerate(rates.to_dict("records")):
        run = rates.index[index]
        rises = row[high_label] > row[low_label]
        colour, style = (BLUE, "--") if rises else (VERMILION, "-")
        axis.plot([0, 1], [row[low_label], row[high_label]], color=colour, linestyle=style, marker="o", markersize=4)
        for x, side, y, align in ((0, low_label, left[index], "right"), (1, high_label, right[index], "left")):
            outward = -0.04 if align == "right" else 0.04
            axis.plot([x, x + outward * 0.8], [row[side], y], color=GRID, linewidth=0.8, zorder=0)
            text = f"{run}  {100 * row[side]:.1f}" if align == "right" else f"{100 * row[side]:.1f}  {run}"
            axis.text(x + outward, y, text, ha=align, va="center", fontsize=8)
    low = min(0.0, *left, *right)
    axis.set_ylim(low - gap, max(top, *left, *right) + gap)
    margin = label_in / (width_in - 2 * label_in)
    axis.set_xlim(-margin, 1 + margin)
    axis.set_xticks([0, 1], [low_label, high_label])
    axis.set_yticks([])
    axis.spines[:].set_visible(False)
    axis.set_title("Exact %, solid: drops, dashed: rises")
    return figure


@styled
def confusions(matrices: dict[str, pd.DataFrame]) -> Figure:
    """Chosen letter (across) by right letter (down) for each run, as shares of a row, counts in the cells."""
    n_columns = min(3, len(matrices))
    n_rows = math.ceil(len(matrices) / n_columns)
    figure = Figure(figsize=(WIDTH_IN, 2.75 * n_rows + 0.4), layout="constrained")
    axes = figure.subplots(n_rows, n_columns, squeeze=False).ravel()
    for axis in axes[len(matrices) :]:
        axis.remove()
    for axis, (run, counts) in zip(axes, matrices.items(), strict=False):
        _confusion(axis, run, counts)
    return figure


def _confusion(axis: Axes, run: str, counts: pd.DataFrame) -> None:
    totals = counts.sum(axis=1).to_numpy(dtype=float)[:, None]
    shares = np.divide(counts.to_numpy(dtype=float), totals, out=np.zeros(counts.shape), where=totals > 0)
    axis.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="equal")
    for (row, column), count in np.ndenumerate(counts.to_numpy()):
        if count:
            ink = "white" if shares[row, column] > 0.55 else INK
            axis.text(column, row, str(count), ha="center", va="center", fontsize=6, color=ink)
    axis.set_xticks(range(counts.shape[1]), list(counts.columns))
    axis.set_yticks(range(counts.shape[0]), list(counts.index))
    axis.tick_params(length=0)
    axis.set_xlabel("chosen")
    axis.set_ylabel("right")
    axis.set_title(_wrapped(run, 28), fontsize=8)


def _new_figure(
    height_in: float, rows: int = 1, ratios: Sequence[int] | None = None, width_in: float = WIDTH_IN
) -> tuple[Figure, Sequence[Axes]]:
    figure = Figure(figsize=(width_in, height_in), layout="constrained")
    axes = figure.subplots(rows, 1, squeeze=False, height_ratios=ratios).ravel()
    return figure, list(axes)


def rate_axis(scale: Any, axis: Axes, which: str) -> None:
    """A rate's axis starts at 0 and is labelled in per cent."""
    scale.set_major_formatter(PercentFormatter(xmax=1, decimals=0, symbol=" %"))
    axis.grid(axis=which, color=GRID, linewidth=0.8)  # type: ignore[arg-type]
    axis.set_axisbelow(True)
    if which == "x":
        axis.set_xlim(left=0)
    else:
        axis.set_ylim(bottom=0)


def _spread(values: Sequence[float], gap: float) -> list[float]:
    """Move labels apart until each is ``gap`` from the next, keeping their order and their middle."""
    order = sorted(range(len(values)), key=lambda index: values[index])
    placed = [values[index] for index in order]
    for _ in range(200):
        moved = False
        for lower in range(len(placed) - 1):
            overlap = gap - (placed[lower + 1] - placed[lower])
            if overlap > 1e-9:
                placed[lower] -= overlap / 2
                placed[lower + 1] += overlap / 2
                moved = True
        if not moved:
            break
    return [y for _, y in sorted(zip(order, placed, strict=True))]


def _cut(name: str) -> str:
    """A long name without its middle: its maker and size stand at the start, its mark at the end."""
    half = _MAX_NAME_CHARS // 2
    return name if len(name) <= _MAX_NAME_CHARS else f"{name[: half - 1]}…{name[-half:]}"


def _wrapped(name: str, width: int = 12) -> str:
    """Break a name at underscores, hyphens or blanks into lines of about ``width`` characters."""
    lines_of, current = [], ""
    for word in name.replace("_", "_ ").replace("-", "- ").split(" "):
        glue = "" if current.endswith(("_", "-")) or not current else " "
        if current and len(current) + len(glue) + len(word) > width:
            lines_of.append(current)
            current, glue = "", ""
        current += glue + word
    return "\n".join([*lines_of, current])
