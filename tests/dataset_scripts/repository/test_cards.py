"""The cards: whole, filled from what was built, and read by the Hub's own libraries."""

import re

import pytest
import yaml
from datasets.utils.metadata import MetadataConfigs
from huggingface_hub import DatasetCard

from dataset_scripts.egogears.build import build_egogears
from dataset_scripts.egotempo.build import build_egotempo
from dataset_scripts.repository.card_tables import statistics_table
from dataset_scripts.repository.hub_vocabulary import size_category

SECTIONS = ("Use", "Evaluate a model", "Columns", "Statistics", "Intended use", "Limitations", "Privacy", "Citation")


@pytest.fixture(params=["egogears", "egotempo"])
def folder(request, tmp_path):
    if request.param == "egogears":
        build_egogears(request.getfixturevalue("release").root, tmp_path / "out")
    else:
        annotations = request.getfixturevalue("shared_dir") / "data" / "egotempo" / "egotempo_openQA.json"
        build_egotempo(annotations, tmp_path / "out")
    return tmp_path / "out"


def test_a_card_has_all_its_parts(folder):
    card = DatasetCard.load(folder / "README.md")
    headings = re.findall(r"^## (.+)$", card.text, re.MULTILINE)
    assert set(SECTIONS) <= set(headings)
    assert any(heading.startswith("Licence") for heading in headings)
    assert "${" not in card.content
    assert {"video", "benchmark", "egocentric"} <= set(card.data.tags)
    assert card.data.language == ["en"]


def test_datasets_reads_the_configs_and_the_first_is_the_default(folder):
    card = DatasetCard.load(folder / "README.md")
    configs = MetadataConfigs.from_dataset_card_data(card.data)
    assert configs.get_default_config_name() == next(iter(configs))


def test_a_card_gives_the_numbers_of_what_was_built(release, tmp_path):
    build_egogears(release.root, tmp_path / "out")
    text = (tmp_path / "out" / "README.md").read_text()
    assert "| `single` | test | 2 | 2 |" in text
    assert "| `multi` | test | 2 | 2 |" in text
    assert "| `multi` | clips | 1: 1, 2: 1 |" in text
    assert "| `video` | Video | `single`, `multi`, `evidence` |" in text
    assert "| `videos` | list of Video | `multi` |" in text


def test_the_registration_names_the_configs_that_were_built(release, tmp_path):
    build_egogears(release.root, tmp_path / "all")
    build_egogears(release.root, tmp_path / "one", only="multi")
    tasks = {name: yaml.safe_load((tmp_path / name / "eval.yaml").read_text())["tasks"] for name in ("all", "one")}
    assert [task["id"] for task in tasks["all"]] == ["single", "multi"]
    assert tasks["one"] == [{"id": "multi", "config": "multi", "split": "test"}]


def test_long_counts_show_the_commonest():
    from types import SimpleNamespace

    counts = {f"type{number:02}": number for number in range(1, 21)}
    (row,) = statistics_table([SimpleNamespace(name="multi", counts={"question_type": counts})]).splitlines()[2:]
    assert row.startswith("| `multi` | question type | type20: 20, type19: 19")
    assert row.endswith("and 8 rarer ones |")


@pytest.mark.parametrize(("rows", "name"), [(0, "n<1K"), (999, "n<1K"), (1000, "1K<n<10K"), (3541, "1K<n<10K")])
def test_size_categories(rows, name):
    assert size_category(rows) == name


def test_a_size_beyond_all_categories():
    with pytest.raises(ValueError, match="no size category"):
        size_category(10**7)
