"""What ``datasets`` makes of a built folder, and the real records from build to typed questions."""

import json
import subprocess
import sys

import pytest

from dataset_scripts.egogears.build import build_egogears

LOAD = """
import json, sys
from datasets import List, Video, get_dataset_config_names, load_dataset
folder = sys.argv[1]
result = {"configs": get_dataset_config_names(folder), "default": load_dataset(folder)["test"].column_names}
for config in result["configs"]:
    rows = load_dataset(folder, config)
    assert list(rows) == ["test"], rows
    rows = rows["test"]
    result[config + ".features"] = {name: repr(feature) for name, feature in rows.features.items()}
    rows = rows.cast_column("video", Video(decode=False))
    if "videos" in rows.column_names:
        rows = rows.cast_column("videos", List(Video(decode=False)))
    result[config] = list(rows)
    streamed = load_dataset(folder, config, split="test", streaming=True).decode(False)
    assert [row["question_id"] for row in streamed] == [row["question_id"] for row in rows]
print(json.dumps(result))
"""


@pytest.fixture(scope="module")
def load(tmp_path_factory):
    """Load a folder in a process of its own: offline, with a fresh cache."""

    def load_folder(folder):
        cache = tmp_path_factory.mktemp("hf")
        environment = {"HF_HOME": str(cache), "HF_HUB_OFFLINE": "1", "PATH": "/usr/bin:/bin"}
        process = subprocess.run(
            [sys.executable, "-c", LOAD, folder], capture_output=True, text=True, env=environment, check=False
        )
        assert process.returncode == 0, process.stderr
        return json.loads(process.stdout)

    return load_folder


def test_all_configs_load_with_video_columns(release, tmp_path, load):
    out = tmp_path / "egogears"
    build_egogears(release.root, out)
    loaded = load(out)
    assert sorted(loaded["configs"]) == ["evidence", "multi", "single"]
    assert "recording" in loaded["default"]
    assert loaded["single.features"]["video"].startswith("Video(")
    assert loaded["multi.features"]["videos"].startswith("List(Video(")
    assert loaded["multi.features"]["clip_start_s"] == "List(Value('float64'))"
    assert loaded["multi.features"]["capability"] == "Value('string')"
    assert "file_name" not in loaded["single.features"]
    first = loaded["multi"][0]
    assert [clip["path"] for clip in first["videos"]] == [
        str(out / "multi" / "videos" / f"{digest}.mp4") for digest in first["clip_sha256"]
    ]
    assert first["video"]["path"] == first["videos"][0]["path"]
    assert loaded["evidence"][0]["evidence"] == [{"letter": "A", "text": "CLIP_1 00:01 - a kiosk"}]
    assert loaded["evidence"][0]["video"] is None


def test_multi_alone_is_its_own_default(release, tmp_path, load):
    build_egogears(release.root, tmp_path / "egogears", only="multi")
    loaded = load(tmp_path / "egogears")
    assert "clip_labels" in loaded["default"]


def test_the_real_records_build_load_and_become_questions(real_release, tmp_path, load):
    from egobench_tasks.asking.questions import choice_question

    report = build_egogears(real_release.root, tmp_path / "egogears")
    assert {finding.kind for finding in report.warnings} == {"count_differs"}
    loaded = load(tmp_path / "egogears")
    published, lengths_s = real_release.published, real_release.lengths_s
    rows = loaded["single"] + loaded["multi"]
    assert len(rows) == len(published) == 12
    for row in rows:
        question, original = choice_question(row), published[row["question_id"]]
        assert question.question == original["question"]
        assert dict(zip(question.letters, question.options, strict=True)) == original["options"]
        assert sorted(question.answer) == sorted(original["answer"])
        names = [clip["path"] for clip in original["clips"]] if "clips" in original else [original["media_file"]]
        assert [clip.duration_s for clip in question.clips] == pytest.approx([lengths_s[name] for name in names])
    assert "Reviewer One" not in json.dumps(loaded)
    by_id = {row["question_id"]: row for row in loaded["single"]}
    assert by_id["242baf1947bcf3ce"]["route"] == "Traj03"
    assert by_id["ec9933176eaa2e28"]["speed"] == "walk"
