import json
from collections import Counter

import pytest

from egobench_tasks.benchmarks import EGOGEARS, EGOTEMPO, Benchmark


def test_egogears_figures_agree_with_each_other():
    assert sum(EGOGEARS.single_answer_counts.values()) == EGOGEARS.rows["single"] == 567
    assert sum(EGOGEARS.cross_recording_unit_counts.values()) == 531
    assert len(EGOGEARS.multi_units) == 5


def test_egogears_real_records_are_of_the_known_units_and_statuses(shared_dir):
    lines = (shared_dir / "data/egogears/runningbench_v2_kept.sample.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    assert {record["unit"] for record in records} <= set(EGOGEARS.multi_units)
    assert {record["status"] for record in records} <= set(EGOGEARS.multi_statuses)
    assert sum(len(record["clips"]) for record in records) / len(records) == pytest.approx(
        EGOGEARS.mean_clips["multi"], abs=0.05
    )
    assert all(EGOGEARS.min_options <= len(record["options"]) <= EGOGEARS.max_options for record in records)


def test_egotempo_facts_hold_on_the_real_file(shared_dir):
    annotations = json.loads((shared_dir / "data/egotempo/egotempo_openQA.json").read_text())["annotations"]
    assert len(annotations) == EGOTEMPO.rows
    clip_ids = {row["clip_id"].strip().removesuffix(".mp4") for row in annotations}
    assert len(clip_ids) == EGOTEMPO.clips
    assert len({clip_id.rsplit("_", 2)[0] for clip_id in clip_ids}) == EGOTEMPO.videos
    starts_s = [float(row["clip_id"].strip().rsplit("_", 2)[1]) for row in annotations]
    assert sum(start_s < 0 for start_s in starts_s) == EGOTEMPO.rows_starting_below_zero
    ends_s = [float(row["clip_id"].strip().removesuffix(".mp4").rsplit("_", 2)[2]) for row in annotations]
    lengths_s = [end_s - max(0.0, start_s) for start_s, end_s in zip(starts_s, ends_s, strict=True)]
    assert sum(lengths_s) / len(lengths_s) == pytest.approx(EGOTEMPO.mean_clip_s, abs=0.05)
    counts = Counter(row["question_type"].strip() for row in annotations)
    assert counts == dict.fromkeys(EGOTEMPO.category_codes, EGOTEMPO.rows_per_category)


def test_a_dataset_on_the_hub_is_pinned_or_not_named():
    facts = dict.fromkeys(("name", "title", "paper", "annotation_licence", "data_variable", "canary"), "x")
    with pytest.raises(ValueError, match="together"):
        Benchmark(**facts, hub_id="org/x")
    assert Benchmark(**facts, hub_id="org/x", revision="v1").revision == "v1"
