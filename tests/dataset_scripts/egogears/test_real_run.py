"""The real records, with stand-in clips, from raw release to lighteval's details."""

import os
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from dataset_scripts.egogears.build import build_egogears

LIGHTEVAL = str(Path(sys.executable).parent / "lighteval")


@pytest.mark.slow
def test_the_real_questions_reach_a_real_vision_model_unchanged(real_release, tiny_llava, tmp_path):
    build_egogears(real_release.root, tmp_path / "egogears")
    command = [LIGHTEVAL, "accelerate", f"model_name={tiny_llava},generation_size=64", "egogears|0", "--vision-model"]
    command += ["--custom-tasks", "egobench_tasks.tasks", "--output-dir", "out", "--save-details"]
    environment = {**os.environ, "EGOBENCH_JOURNAL": str(tmp_path / "journal")}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    paths = sorted((tmp_path / "out").rglob("details_*.parquet"))
    rows = [row for path in paths for row in pq.read_table(path).to_pylist()]
    assert len(rows) == len(real_release.published) == 12
    for row in rows:
        facts, prompt = row["doc"]["specific"], row["model_response"]["input"]
        record = real_release.published[facts["question_id"]]
        assert record["question"] in prompt
        assert all(f". {text}\n" in prompt for text in record["options"].values())
        assert [clip["label"] for clip in record.get("clips", [])] == [
            line for line in prompt.splitlines() if line.startswith(("CLIP_", "VIDEO_"))
        ]
        gold = [record["options"][letter] for letter in record["answer"]]
        assert sorted(row["doc"]["choices"][index] for index in row["doc"]["gold_index"]) == sorted(gold)
