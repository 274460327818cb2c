"""What all tests share: the folder of real annotations, and an environment that touches nothing of the user's."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="session")
def shared_dir() -> Path:
    """The folder with real annotations and golden vectors, which the project does not commit."""
    folder = Path(os.environ.get("EGOBENCH_SHARED", ROOT.parent / "shared"))
    if not (folder / "protocol" / "vectors.json").is_file():
        pytest.skip(f"no shared data at {folder}: set EGOBENCH_SHARED to the folder that holds protocol/ and data/")
    return folder
