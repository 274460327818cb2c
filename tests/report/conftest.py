"""Planted datasets and runs, written once a session."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # for `planted`, which the bench script uses too

from planted import Planted, RunWriter, mixed_rows, plant


@pytest.fixture(scope="session")
def planted(tmp_path_factory) -> Planted:
    """60 single and 80 multi questions."""
    return plant(tmp_path_factory.mktemp("planted") / "egogears", mixed_rows(60, 80))


@pytest.fixture(scope="session")
def writer(planted) -> RunWriter:
    """Writes runs over `planted`."""
    return RunWriter(planted)
