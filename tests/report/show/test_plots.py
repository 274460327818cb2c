"""Figures: nothing written over anything else, nothing cut off, the same bytes every time."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from egobench_tasks.benchmarks import EGOGEARS
from egobench_tasks.report.show import plots

NAMES = [f"Some-Quite-Long-Model-Name-{number}B-A22B-Thinking (partial)" for number in range(31)]


def leaderboard(n_runs):
    rows = [
        {"run": name, "config": config, "exact_set": 0.3 + 0.01 * place, "low": 0.28, "high": 0.65, "chance": 0.17}
        for config in ("single", "multi")
        for place, name in enumerate(NAMES[:n_runs])
    ]
    nothing = math.nan
    published = {"run": "Published", "config": "multi", "exact_set": 0.38, "low": nothing, "high": nothing}
    return plots.leaderboard(pd.DataFrame([*rows, published]))


def heat_map(n_runs):
    values = np.random.default_rng(0).random((n_runs, len(EGOGEARS.multi_units)))
    return plots.heat_map(pd.DataFrame(values, NAMES[:n_runs], list(EGOGEARS.multi_units)), "multi: exact %")


def lines(n_runs):
    bins = ["0-20 s", "20-40 s", "40-60 s", "60-120 s", "120-300 s", "300 s and more"]
    points = pd.DataFrame({"x": bins, "accuracy": 0.4, "low": 0.3, "high": 0.5})
    return plots.lines(dict.fromkeys(NAMES[: min(n_runs, plots.MAX_SERIES)], points), "duration")


def rates(n_runs):
    points = pd.DataFrame({"x": [0.1, 0.5, 1, 1.5], "accuracy": 0.4})
    return plots.lines(dict.fromkeys(NAMES[: min(n_runs, plots.MAX_SERIES)], points), "rate", log_x=True)


def slopes(n_runs):
    # Nearly equal rates: labels must make room for each other.
    values = pd.DataFrame(
        {"single": np.linspace(0.5, 0.52, n_runs), "multi": np.linspace(0.31, 0.3, n_runs)}, NAMES[:n_runs]
    )
    return plots.slopes(values)


def confusions(n_runs):
    counts = pd.DataFrame(np.arange(64).reshape(8, 8), list("ABCDEFGH"), list("ABCDEFGH"))
    return plots.confusions(dict.fromkeys(NAMES[: min(n_runs, 9)], counts))


DRAWINGS = [leaderboard, heat_map, lines, rates, slopes, confusions]


@pytest.mark.parametrize("n_runs", [1, 3, 31])
@pytest.mark.parametrize("draw", DRAWINGS, ids=lambda draw: draw.__name__)
def test_no_text_lies_over_another_or_outside(draw, n_runs, monkeypatch):
    figure = draw(n_runs)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()  # lays out
    drawn = []
    stock = Text.draw
    monkeypatch.setattr(Text, "draw", lambda text, *args, **kwargs: (drawn.append(text), stock(text, *args, **kwargs)))
    canvas.draw()
    texts = [text for text in drawn if text.get_visible() and text.get_text().strip()]
    assert len(texts) > 4
    boxes = {text: text.get_window_extent(canvas.get_renderer()) for text in texts}
    for (one, first), (other, second) in itertools.combinations(boxes.items(), 2):
        width = min(first.x1, second.x1) - max(first.x0, second.x0)
        height = min(first.y1, second.y1) - max(first.y0, second.y0)
        assert width <= 0.5 or height <= 0.5, (one.get_text(), other.get_text())
    for text, box in boxes.items():
        assert box.x0 >= -0.5 and box.y0 >= -0.5, text.get_text()
        assert box.x1 <= figure.bbox.x1 + 0.5 and box.y1 <= figure.bbox.y1 + 0.5, text.get_text()


@pytest.mark.parametrize("draw", DRAWINGS, ids=lambda draw: draw.__name__)
def test_the_same_figure_gives_the_same_bytes(draw):
    one, other = (plots.to_plot("key", "Title", "alt", draw(3)) for _ in range(2))
    assert one.svg == other.svg
    assert "<svg" in one.svg and "<text" not in one.svg  # letters are shapes: no font of a reader's can move them


def test_series_differ_without_colour():
    figure = lines(plots.MAX_SERIES)
    markers = [line.get_marker() for line in figure.axes[0].get_lines()]
    assert len(set(markers)) == plots.MAX_SERIES


def test_a_users_own_style_changes_nothing():
    import matplotlib as mpl

    plain = plots.to_plot("key", "Title", "alt", leaderboard(3)).svg
    with mpl.rc_context({"font.size": 30, "axes.facecolor": "black", "lines.linewidth": 9}):
        assert plots.to_plot("key", "Title", "alt", leaderboard(3)).svg == plain
