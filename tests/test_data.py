import dataclasses
import shutil

import pytest

from egobench_tasks.benchmarks import EGOGEARS
from egobench_tasks.commands.doctor_checks import _whole
from egobench_tasks.data import (
    DatasetLocation,
    benchmark_of,
    fingerprint,
    load_rows,
    load_rows_with_clips,
    locate,
    parse_location,
)
from egobench_tasks.errors import InputError


def a_dataset(folder):
    (folder / "multi").mkdir(parents=True)
    (folder / "multi" / "metadata.parquet").write_bytes(b"")
    return folder


def test_the_variable_comes_first_then_the_folder_here_then_the_hub(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    published = dataclasses.replace(EGOGEARS, hub_id="org/gears", revision="v1")
    assert locate(published) == DatasetLocation("org/gears", "v1")
    here = a_dataset(tmp_path / "egogears")
    assert locate(published) == DatasetLocation(str(here))
    elsewhere = a_dataset(tmp_path / "elsewhere")
    monkeypatch.setenv("EGOGEARS_DATA", "elsewhere")
    assert locate(published) == DatasetLocation(str(elsewhere))
    monkeypatch.setenv("EGOGEARS_DATA", "org/name@v1.0")
    assert locate(published) == DatasetLocation("org/name", "v1.0")
    assert str(locate(published)) == "org/name@v1.0"


def test_nothing_found_says_what_to_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"egobench build egogears(.|\n)*EGOGEARS_DATA=(.|\n)*egobench sample"):
        locate(EGOGEARS)


@pytest.mark.parametrize("value", ["no/such/folder/here", "name", "org/name@", "/absent"])
def test_neither_folder_nor_hub_id(value):
    with pytest.raises(InputError, match=r"EGOGEARS_DATA: .*neither a folder nor a Hub id"):
        parse_location(value, where="EGOGEARS_DATA")


@pytest.mark.parametrize("revision", ["@x", "a..b", "-x", "v1 final", "refs/", "x^", "a@{1}"])
def test_a_malformed_revision_is_refused_before_the_hub_is_asked_for_half_a_minute(revision, monkeypatch):
    monkeypatch.setenv("EGOGEARS_DATA", f"org/name@{revision}")
    with pytest.raises(InputError, match=r"EGOGEARS_DATA: .*no branch, tag or commit can be called"):
        locate(EGOGEARS)


@pytest.mark.parametrize("revision", ["main", "v1.0", "0a1b2c3", "refs/pr/1", "user@work", "fix-#3"])
def test_revisions_as_git_takes_them(revision):
    assert parse_location(f"org/name@{revision}", where="here").revision == revision


def test_a_folder_without_a_dataset_is_refused(tmp_path):
    with pytest.raises(InputError, match="holds no dataset"):
        parse_location(str(tmp_path), where="EGOGEARS_DATA")


def test_an_unknown_config_is_named(sample_folder):
    with pytest.raises(InputError, match="cannot load config 'triple'"):
        load_rows(DatasetLocation(str(sample_folder / "egogears")), "triple")


def test_the_fingerprint_is_of_the_data_and_not_of_where_it_lies():
    rows = [{"question_id": "q", "answer": ["A"], "video": {"path": "/a.mp4"}}]
    moved = [{"video": {"path": "hf://b.mp4"}, "answer": ["A"], "question_id": "q"}]
    assert fingerprint(rows) == fingerprint(moved)
    assert fingerprint(rows) != fingerprint([{**rows[0], "answer": ["B"]}])
    assert fingerprint(rows) != fingerprint(rows * 2)


def test_a_dataset_built_anew_in_its_place_is_read_anew(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder = a_dataset(tmp_path / "egogears")
    path = folder / "multi" / "metadata.parquet"
    for answer in ("A", "B"):
        pq.write_table(pa.table({"file_name": pa.array([None], pa.string()), "answer": [answer]}), path)
        card = "---\nconfigs:\n- config_name: multi\n  data_files:\n  - split: test\n    path: multi/*\n---\n"
        (folder / "README.md").write_text(card)
        assert load_rows(DatasetLocation(str(folder)), "multi")["answer"] == [answer]


def test_two_folders_of_one_name_are_not_mixed_up(sample_folder, tmp_path):
    copy = shutil.copytree(sample_folder / "egogears", tmp_path / "egogears")
    for folder in (sample_folder / "egogears", copy):
        rows = load_rows(DatasetLocation(str(folder)), "single")
        assert rows[0]["video"]["path"].startswith(str(folder))


@pytest.mark.parametrize("name", ["single", "multi"])
def test_a_clip_that_is_a_link_out_of_the_dataset_is_refused(name, sample_folder, tmp_path):
    """A link to a text file gave frames of its words."""
    dataset = shutil.copytree(sample_folder / "egogears", tmp_path / "egogears")
    secret = tmp_path / "secret.txt"
    secret.write_text("words\n" * 100)
    clip = sorted((dataset / name / "videos").iterdir())[0]
    inside = clip.with_name("moved.mp4")
    clip.rename(inside)
    clip.symlink_to(inside.name)
    assert len(load_rows(parse_location(str(dataset), where="here"), name))  # a link that stays inside is none out
    clip.unlink()
    clip.symlink_to(secret)
    with pytest.raises(InputError, match=r"leads out of the dataset, to .*secret\.txt"):
        load_rows(parse_location(str(dataset), where="here"), name)


def test_a_dataset_copied_without_its_clips_is_told(sample_folder, tmp_path):
    """`datasets` drops the column of clips then: a run, and the doctor, ended in a traceback."""
    dataset = shutil.copytree(sample_folder / "egogears", tmp_path / "egogears", ignore=shutil.ignore_patterns("*.mp4"))
    location = DatasetLocation(str(dataset))
    for config in ("single", "multi"):
        with pytest.raises(InputError, match=f"none of the clips of '{config}' is there; copy the dataset whole"):
            load_rows_with_clips(location, config)
    with pytest.raises(InputError, match="copy the dataset whole"):
        _whole(EGOGEARS, ("single", "multi"), location)


def test_a_dataset_that_cannot_be_read_at_all_is_told(sample_folder, tmp_path):
    """A folder in place of the table ended an audit in a traceback."""
    dataset = shutil.copytree(sample_folder / "egogears", tmp_path / "egogears")
    (dataset / "single" / "metadata.parquet").unlink()
    (dataset / "single" / "metadata.parquet").mkdir()
    with pytest.raises(InputError, match="egogears: cannot be read as a dataset"):
        benchmark_of(DatasetLocation(str(dataset)))
