"""The raw release: upstream's layout, everything that the sample is to cover, the same for the same seed."""

import hashlib
import json
import tarfile
from collections import Counter
from pathlib import Path

import av
import pyarrow.parquet as pq
import pytest

import dataset_scripts.sample.release as release_module
from dataset_scripts.egogears.build import build_egogears
from dataset_scripts.sample.questions import MULTI_PLANS, multi_questions, single_questions
from dataset_scripts.sample.release import N_QUESTIONS, write_sample_release
from dataset_scripts.sample.scene import MAX_FRAME_GAP_S
from dataset_scripts.sample.world import make_world
from egobench_tasks.benchmarks import EGOGEARS
from egobench_tasks.errors import InputError
from egobench_tasks.frames.spec import allocate_frames

SINGLE = Path("single_video_567")


def rows(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def single_rows(raw: Path) -> list[dict]:
    return rows(raw / SINGLE / "data" / "single_567_human_eval.jsonl")


def multi_rows(raw: Path) -> list[dict]:
    return rows(raw / "v2" / "runningbench_v2_kept.jsonl")


def clip_facts(path: Path) -> tuple[float, int, int]:
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        return container.duration / av.time_base, stream.width, stream.height


def digests(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_one_round_covers_what_upstream_holds():
    world = make_world(0)
    single = list(single_questions(world, 12, 0))
    multi = list(multi_questions(world, len(MULTI_PLANS), 0))
    assert len(single) + len(multi) == N_QUESTIONS == 32
    assert {question.plan.unit for question in multi} == set(EGOGEARS.multi_units)
    for questions in (single, multi):
        assert {len(question.options) for question in questions} == set(range(3, 9))
        assert set(range(1, 6)) <= {len(question.answer) for question in questions} <= set(range(1, 7))
    assert {1, 2, 3, 4, 10} <= {len(question.clips) for question in multi}
    repeated = [q for q in multi if len({label for label, _ in q.clips}) < len(q.clips)]
    assert repeated and {question.plan.unit for question in repeated} == {"cross_video"}


def test_single_split(sample):
    raw = sample.folder / "raw"
    questions = single_rows(raw)
    spans = [row["span_sec"] for row in questions]
    assert all(end - start == 60 for start, end in spans)
    facts = {row["id"]: clip_facts(raw / SINGLE / row["media_file"]) for row in questions}
    assert {duration_s for duration_s, _, _ in facts.values()} == {17.0, 60.0}
    assert {(width, height) for _, width, height in facts.values()} == {(320, 180), (180, 320)}
    assert {"P01_Running_Night_Traj03", "Muehlbach_joggen"} <= {row["video"] for row in questions}
    manifest = json.loads((raw / SINGLE / "data" / "source_manifest.json").read_text())
    counts = Counter(str(len(row["answer"])) for row in questions)
    assert manifest == {"questions": len(questions), "answer_count_distribution": dict(sorted(counts.items()))}


def test_multi_split(sample):
    raw = sample.folder / "raw"
    questions = multi_rows(raw)
    assert {row["status"] for row in questions} == set(EGOGEARS.multi_statuses)
    assert all(row["n_select"] == len(row["answer"]) for row in questions)
    everything = rows(raw / "v2" / "runningbench_v2.jsonl")
    assert [row for row in everything if row["status"] != "dropped"] == questions
    assert len(everything) > len(questions)
    members = set()
    for bundle in sorted((raw / "annotation_bundles").glob("*.tar")):
        with tarfile.open(bundle) as tar:
            members |= set(tar.getnames())
    assert members == {f"{row['bundle']}/{clip['path']}" for row in questions for clip in row["clips"]}


def test_builder_keeps_everything(sample):
    report = build_egogears(sample.folder / "raw", sample.folder / "egogears")
    assert not report.dropped
    assert {finding.kind for finding in report.warnings} <= {"count_differs", "repeated_label"}
    tables = [pq.read_table(path).to_pylist() for path in (sample.folder / "egogears").rglob("*.parquet")]
    assert "Example Reviewer" in (sample.folder / "raw" / "v2" / "runningbench_v2_kept.jsonl").read_text()
    assert "Example Reviewer" not in str(tables)


def test_clips_are_shared(sample):
    stored = list((sample.folder / "egogears").rglob("*.mp4"))
    assert len(stored) == sample.release.n_clips < 40


def test_same_seed_same_bytes(tmp_path):
    for name, seed in (("a", 5), ("b", 5), ("c", 6)):
        write_sample_release(tmp_path / name, questions=3, seed=seed)
    first, second, other = (digests(tmp_path / name) for name in "abc")
    assert first == second
    differing = {path for path in first if first[path] != other.get(path)}
    assert {Path(path).suffix for path in differing} == {
        ".mp4",
        ".jsonl",
        ".csv",
        ".tar",
        ".json",
    }  # .json: the recipe, which names the seed


def test_frames_are_close_enough_at_any_seed():
    """No question spreads its 64 frames so thin that a landmark could go unseen."""
    for seed in range(25):
        for question in multi_questions(make_world(seed), 2 * len(MULTI_PLANS), seed):
            durations_s = [clip.scene.duration_s for _, clip in question.clips]
            shares = allocate_frames(durations_s)
            assert all(d / k <= MAX_FRAME_GAP_S for d, k in zip(durations_s, shares, strict=True)), question


def test_folder_that_is_there_is_left_alone(tmp_path):
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "mine").write_text("mine")
    with pytest.raises(InputError, match="something else than this sample"):
        write_sample_release(tmp_path / "raw", questions=2, seed=0)
    assert (tmp_path / "raw" / "mine").read_text() == "mine"


@pytest.mark.parametrize("questions", [1, 0, -3])
def test_too_few_questions(tmp_path, questions):
    with pytest.raises(InputError, match="at least 2"):
        write_sample_release(tmp_path / "raw", questions=questions, seed=0)


def test_two_questions_are_one_of_each(tmp_path):
    release = write_sample_release(tmp_path / "deep" / "raw", questions=2, seed=0)
    assert (len(release.single), len(release.multi)) == (1, 1)


def test_nothing_is_left_of_a_failed_run(tmp_path, monkeypatch):
    def disk_full(scene, path):
        path.write_bytes(b"half")
        raise OSError("no space left on device")

    monkeypatch.setattr(release_module, "write_clip", disk_full)
    with pytest.raises(OSError, match="no space"):
        write_sample_release(tmp_path / "raw", questions=2, seed=0)
    assert list(tmp_path.iterdir()) == []
