"""lighteval's ``NAME:_average``: a mean over whatever parts of a task ran, by the name of the benchmark's figure.

Where parts are missing or questions lost it is another figure, and gets another name; the error of a mean of parts
follows from theirs, where lighteval prints the mean of their errors.
"""

import math
from collections.abc import Mapping, MutableMapping, Sequence

from egobench_tasks.benchmarks import EGOGEARS, EGOTEMPO

Figures = MutableMapping[str, MutableMapping[str, float]]
"""Figures by task and metric, as lighteval has aggregated them."""
AVERAGE = ":_average"
_ERROR = "_stderr"


def correct_averages(figures: Figures, values: Mapping[str, Mapping[str, Sequence[float]]]) -> None:
    """Put right what lighteval made of our tasks. ``values``: each question's, by task and metric."""
    for name in [name for name in figures if f"{AVERAGE}|" in name]:
        group, _, shots = name.partition(f"{AVERAGE}|")
        parts = [task for task in values if task.partition(":")[0] == group and task.endswith(f"|{shots}")]
        if group.partition("_")[0] not in (EGOGEARS.name, EGOTEMPO.name) or not parts:
            continue
        average = figures.pop(name)
        for metric in [metric for metric in average if metric.endswith(_ERROR)]:
            average[metric] = _error([figures[part].get(metric, math.nan) for part in parts])
        figures[f"{group}{AVERAGE}{caveat(group, parts, values)}|{shots}"] = average


def caveat(group: str, parts: Sequence[str], values: Mapping[str, Mapping[str, Sequence[float]]]) -> str:
    """Return what the mean of a group's parts lacks: `` (3 of 10 categories, partial)``; empty for nothing."""
    few = EGOTEMPO.part_of_categories(len(parts)) if group.partition("_")[0] == EGOTEMPO.name else ""
    partial = "partial" if any(any(values[part].get("lost", ())) for part in parts) else ""
    lacks = ", ".join(filter(None, (few, partial)))
    return f" ({lacks})" if lacks else ""


def _error(errors: Sequence[float]) -> float:
    """Return the standard error of a mean of independent parts."""
    return math.sqrt(math.fsum(error**2 for error in errors)) / len(errors)
