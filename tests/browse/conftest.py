"""The sample with two runs over it."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent.parent / "report"))  # for `planted`, which writes runs

from sample_runs import SampleRuns, write_sample_runs


@pytest.fixture(scope="session")
def sample_runs(sample_folder, tmp_path_factory) -> SampleRuns:
    return write_sample_runs(sample_folder / "egogears", tmp_path_factory.mktemp("sample-runs"))
