"""A dataset of either benchmark and the runs over it, ready to be listed and opened question by question."""

from collections.abc import Sequence
from pathlib import Path

from egobench_tasks.benchmarks import EGOGEARS
from egobench_tasks.browse.choice_library import load_choice_library
from egobench_tasks.browse.library import Library
from egobench_tasks.browse.open_library import load_open_library
from egobench_tasks.data import DatasetLocation, benchmark_of


def load_library(location: DatasetLocation, runs: Sequence[Path]) -> Library:
    """Load a dataset of either benchmark and the runs over it.

    Raises ``InputError`` for a dataset of neither, for what is no run, and for runs over other questions.
    """
    benchmark, configs = benchmark_of(location)
    return load_choice_library(location, configs, runs) if benchmark is EGOGEARS else load_open_library(location, runs)
