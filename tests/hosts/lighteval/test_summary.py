"""How a run ends on the terminal: figures once, at most six lines, the next command."""

import math
from pathlib import Path
from types import SimpleNamespace

import pytest
from fsspec.implementations.local import LocalFileSystem

from egobench_tasks.hosts.lighteval.generation import Generation, no_generation
from egobench_tasks.hosts.lighteval.summary import each_once, summary_lines
from egobench_tasks.runs.journal import REQUEST_FAILED

CHOICE = {"exact_set": [1, 0, 0, 1], "chance": [0.25, 0.25, 0.5, 0.0]}


def pipeline(values, *, reasons=("stop",), details=True):
    responses = [
        no_generation("p", reason) if reason == REQUEST_FAILED else Generation(text=["x"], finish_reason=reason)
        for reason in reasons
    ]
    tracker = SimpleNamespace(
        metrics_logger=SimpleNamespace(metrics_values=values),
        details_logger=SimpleNamespace(details={"t": [SimpleNamespace(model_response=one) for one in responses]}),
        output_dir="out",
        fs=LocalFileSystem(),
        should_save_details=details,
    )
    return SimpleNamespace(evaluation_tracker=tracker, _egobench_record=None)


def test_each_figure_is_shown_once():
    one = ["egogears_swapped:multi|0", "egogears_swapped:_average|0", "all"]
    two = ["egogears:single|0", "egogears:multi|0", "egogears:_average|0"]
    assert list(each_once({name: {} for name in [*one, *two]})) == ["egogears_swapped:multi|0", *two]


def test_the_figure_stands_with_its_interval_and_chance_and_probes_above():
    values = {"egogears_f8:multi|0": CHOICE, "egogears:single|0": CHOICE, "egogears:multi|0": CHOICE}
    lines = summary_lines(pipeline(values, reasons=("stop", "length", REQUEST_FAILED)))
    assert lines[0].startswith("egogears:single 50.0% (15.0% to 85.0%), chance 25.0%; egogears:multi 50.0%")
    assert lines[0].endswith("; 1 more tasks above")
    assert lines[1].startswith("3 questions: 1 truncated, 1 lost") and "asks those lost again" in lines[1]
    assert lines[-1] == f"next: egobench report out --out {Path('out', 'report')}"
    assert len(lines) <= 6


def test_open_answers_without_verdicts_send_to_the_judge():
    judged = {"judge_accuracy": [1.0, 0.0, math.nan], "judged": [1, 1, 0]}
    none = {"judge_accuracy": [math.nan], "judged": [0]}
    first, *_, last = summary_lines(pipeline({"egotempo:a|0": judged, "egotempo:b|0": judged}))
    assert first.startswith("egotempo judged right 50.0% (") and first.endswith(
        "mean of 2 categories of 10: not the benchmark's figure"
    )
    assert last == "next: egobench judge out"
    assert summary_lines(pipeline({"egotempo:a|0": none}))[0] == "egotempo: no answer has a verdict yet"


@pytest.mark.parametrize("details", [True, False])
def test_without_details_the_next_step_is_to_save_them(details):
    last = summary_lines(pipeline({"egogears:multi|0": CHOICE}, details=details))[-1]
    assert ("--save-details" in last) is not details
