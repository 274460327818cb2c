"""Writing of a dataset folder: whole or absent, once a content, nothing touched twice."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from dataset_scripts.repository.clips import ClipSource, check_clip
from dataset_scripts.repository.videofolder import (
    REPORT_NAME,
    Repository,
    StoredClip,
    check_target,
    clip_file_name,
    configs_yaml,
    parquet_bytes,
    render_card,
    staging_folder,
    write_repository,
)
from egobench_tasks.errors import EgobenchError, InputError


@pytest.fixture
def clip(tmp_path, make_clip):
    source = ClipSource(make_clip(tmp_path / "source" / "P01_Running_Night.mp4", 1))
    return StoredClip(source, check_clip(source))


def repository(clip, configs=("single", "multi"), **changes):
    name = clip_file_name(clip.facts.sha256)
    plan = {
        "builder": "test",
        "configs": configs,
        "files": {f"{config}/metadata.parquet": b"rows" for config in configs} | {"README.md": b"card"},
        "clips": {f"{config}/{name}": clip for config in configs},
        "report": {"builder": "test", "configs": list(configs)},
    }
    return Repository(**(plan | changes))


def state(folder):
    return {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in folder.rglob("*") if path.is_file()}


def test_clips_are_linked_to_the_source_and_to_each_other(tmp_path, clip):
    out = tmp_path / "out"
    written = write_repository(repository(clip), out, link="hard")
    assert (written.clips_stored, written.clips_reused, written.files_written) == (2, 0, 4)
    name = clip_file_name(clip.facts.sha256)
    assert (out / "single" / name).samefile(clip.source.path)
    assert (out / "multi" / name).samefile(clip.source.path)
    assert not staging_folder(out).exists()


def test_a_copy_stands_alone_and_is_still_stored_once(tmp_path, clip):
    out = tmp_path / "out"
    write_repository(repository(clip), out, link="copy")
    name = clip_file_name(clip.facts.sha256)
    assert not (out / "single" / name).samefile(clip.source.path)
    assert (out / "single" / name).samefile(out / "multi" / name)


def test_a_linked_source_behind_a_symlink_is_the_file_itself(tmp_path, clip):
    (tmp_path / "snapshot.mp4").symlink_to(clip.source.path)
    behind = StoredClip(ClipSource(tmp_path / "snapshot.mp4"), clip.facts)
    write_repository(repository(behind), tmp_path / "out", link="hard")
    stored = tmp_path / "out" / "single" / clip_file_name(clip.facts.sha256)
    assert not stored.is_symlink() and stored.samefile(clip.source.path)


def test_a_second_run_touches_nothing(tmp_path, clip):
    out = tmp_path / "out"
    write_repository(repository(clip), out, link="copy")
    before = state(out)
    again = write_repository(repository(clip), out, link="copy")
    assert again.unchanged and (again.clips_reused, again.files_reused) == (2, 4)
    assert state(out) == before


def test_a_changed_release_changes_only_what_differs(tmp_path, clip, make_clip):
    out = tmp_path / "out"
    write_repository(repository(clip, ("single",)), out, link="copy")
    card = (out / "README.md").stat().st_mtime_ns
    source = ClipSource(make_clip(tmp_path / "other.mp4", 1, seed=1))
    other = StoredClip(source, check_clip(source))
    written = write_repository(repository(other, ("single",)), out, link="copy")
    assert (written.clips_stored, written.removed, written.files_written) == (1, 1, 0)
    assert [path.stem for path in (out / "single" / "videos").iterdir()] == [other.facts.sha256]
    assert (out / "README.md").stat().st_mtime_ns == card


def test_an_interrupted_build_resumes_with_the_clips_it_has(tmp_path, clip):
    out = tmp_path / "out"
    stored = staging_folder(out) / "single" / clip_file_name(clip.facts.sha256)
    stored.parent.mkdir(parents=True)
    stored.write_bytes(clip.source.path.read_bytes())
    (stored.parent / ".torn.mp4.tmp").write_bytes(b"half")
    written = write_repository(repository(clip), out, link="copy")
    assert (written.clips_stored, written.clips_reused, written.removed) == (1, 1, 1)
    assert sorted(path.name for path in (out / "single" / "videos").iterdir()) == [stored.name]


def test_a_clip_that_changes_meanwhile_is_not_stored_under_a_wrong_name(tmp_path, clip):
    clip.source.path.write_bytes(clip.source.path.read_bytes()[::-1])
    with pytest.raises(EgobenchError, match="changed while"):
        write_repository(repository(clip), tmp_path / "out", link="copy")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"holiday.jpg": "x"}, "did not make"),
        ({REPORT_NAME: json.dumps({"builder": "other"})}, "did not make"),
        ({REPORT_NAME: "[broken"}, "did not make"),
        ({REPORT_NAME: json.dumps({"builder": "test", "configs": ["single", "multi"]})}, "also holds multi"),
    ],
)
def test_a_folder_with_something_else_is_refused(tmp_path, content, message):
    for name, text in content.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=message):
        check_target(tmp_path, "test", ["single"])


def test_a_file_in_the_way_is_refused_and_an_empty_folder_is_taken(tmp_path, clip):
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="in the way"):
        check_target(tmp_path / "file", "test", ["single"])
    (tmp_path / "empty").mkdir()
    write_repository(repository(clip), tmp_path / "empty", link="hard")
    assert (tmp_path / "empty" / REPORT_NAME).is_file()


def test_parquet_bytes_are_deterministic_and_typed():
    schema = pa.schema([("question_id", pa.string()), ("capability", pa.string()), ("answer", pa.list_(pa.string()))])
    rows = [{"question_id": "1", "capability": None, "answer": ["A"]}]
    data = parquet_bytes(rows, schema)
    assert data == parquet_bytes(rows, schema)
    assert pq.read_schema(pa.BufferReader(data)).equals(schema)


def test_configs_name_the_first_one_as_default():
    block = yaml.safe_load(configs_yaml({"single": ["single/metadata.parquet"], "multi": ["multi/x"]}))
    assert block["configs"][0] == {
        "config_name": "single",
        "default": True,
        "data_files": [{"split": "test", "path": ["single/metadata.parquet"]}],
    }
    assert "default" not in block["configs"][1]


def test_a_card_with_an_unknown_placeholder_is_a_defect(tmp_path):
    (tmp_path / "card.md").write_text("${rows} rows, $$5")
    assert render_card(tmp_path / "card.md", {"rows": "12"}) == b"12 rows, $5"
    with pytest.raises(KeyError):
        render_card(tmp_path / "card.md", {})
