"""Families small and random, for the tests and the script beside them."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session")
def family(tmp_path_factory):
    """``family("gemma3")``: the folder of a small random model of the family, made once."""
    from build import write_model
    from recipes import RECIPES

    made = {}

    def make(name):
        if name not in made:
            made[name] = write_model(RECIPES[name], tmp_path_factory.mktemp("family") / "model")
        return made[name]

    return make
