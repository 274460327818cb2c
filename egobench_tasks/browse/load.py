"""A dataset of either benchmark and the runs over it, ready to be listed and opened question by question."""

from collections.abc import Sequence
from pathlib import Path

from egobench_tasks.benchmarks import EGOGEARS
from egobench_tasks.browse.choice_library import load_choice_library
from egobench_tasks.browse.library import Library
from egobench_tasks.browse.open_library import load_open_library
from egobench_tasks.data import DatasetLocation
from egobench_tasks.errors import InputError
from egobench_tasks.hosts.open import OPEN_CONFIG


def load_library(location: DatasetLocation, runs: Sequence[Path]) -> Library:
    """Load a dataset of either benchmark and the runs over it.

    Raises ``InputError`` for a dataset of neither, for what is no run, and for runs over other questions.
    """
    from datasets import get_dataset_config_names

    configs = get_dataset_config_names(location.path, revision=location.revision)
    splits = [config for config in EGOGEARS.rows if config in configs]
    if splits:
        return load_choice_library(location, splits, runs)
    if OPEN_CONFIG in configs:
        return load_open_library(location, runs)
    raise InputError(f"{location}: has the configs {configs}, which are neither EgoGears' nor EgoTempo's")
