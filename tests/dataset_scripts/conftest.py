"""Clips and raw releases in upstream's layout, small and made on the spot."""

import hashlib
import json
import shutil
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import av
import numpy as np
import pytest

MakeClip = Callable[..., Path]


def write_clip(
    path: Path, duration_s: float, *, seed: int = 0, fps: int = 2, width_px: int = 32, height_px: int = 32
) -> Path:
    """Write a tiny H.264 clip whose pixels, and so whose hash, follow from ``seed``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    noise = np.random.default_rng(seed)
    with av.open(str(path), "w", format="mp4", options={"movflags": "+faststart", "fflags": "+bitexact"}) as container:
        stream = container.add_stream("libx264", rate=fps, options={"preset": "ultrafast", "threads": "1"})
        stream.width, stream.height, stream.pix_fmt = width_px, height_px, "yuv420p"
        for _ in range(round(duration_s * fps)):
            pixels = noise.integers(0, 256, (height_px, width_px, 3), dtype=np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
        container.mux(stream.encode())
    return path


@pytest.fixture(scope="session")
def make_clip() -> MakeClip:
    """A factory: ``make_clip(path, duration_s, seed=…)`` writes a clip and returns its path."""
    return write_clip


@dataclass(frozen=True)
class RawRelease:
    """A small raw release in upstream's layout, and what a test needs to damage it."""

    root: Path

    @property
    def single_file(self) -> Path:
        return self.root / "single_video_567" / "data" / "single_567_human_eval.jsonl"

    @property
    def multi_file(self) -> Path:
        return self.root / "v2" / "runningbench_v2_kept.jsonl"

    @property
    def checksums_file(self) -> Path:
        return self.root / "single_video_567" / "data" / "video_sha256.csv"

    @property
    def bundles(self) -> Path:
        return self.root / "annotation_bundles"

    def rows(self, path: Path) -> list[dict[str, Any]]:
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

    def change(self, path: Path, index: int, **fields: Any) -> None:
        """Change fields of one row; ``...`` removes one."""
        rows = self.rows(path)
        rows[index] = {name: value for name, value in (rows[index] | fields).items() if value is not ...}
        write_rows(path, rows)

    def to_tars(self) -> None:
        """Pack every bundle folder into ``<bundle>.tar`` and remove the folder."""
        for folder in sorted(path for path in self.bundles.iterdir() if path.is_dir()):
            with tarfile.open(self.bundles / f"{folder.name}.tar", "w") as tar:
                tar.add(folder, folder.name)
            shutil.rmtree(folder)


def write_rows(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def write_release(
    root: Path, single: list[dict[str, Any]], multi: list[dict[str, Any]], clip_for: Callable[[str], Path]
) -> RawRelease:
    """Write rows and their clips as a release; ``clip_for(path)`` names the file to copy for a clip."""
    release = RawRelease(root)
    write_rows(release.single_file, single)
    write_rows(release.multi_file, multi)
    lines = ["question_id,path,bytes,sha256"]
    for row in single:
        path = root / "single_video_567" / row["media_file"]
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(clip_for(row["media_file"]), path)
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        lines.append(f"{row['id']},{row['media_file']},{path.stat().st_size},{digest}")
    release.checksums_file.write_text("\n".join(lines) + "\n")
    for row in multi:
        for clip in row["clips"]:
            path = release.bundles / row["bundle"] / clip["path"]
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(clip_for(clip["path"]), path)
    return release


def single_fields(question_id: str = "s1", **changes: Any) -> dict[str, Any]:
    """A valid single row."""
    return {
        "id": question_id,
        "unit": "60s_segment",
        "question": "Which way does the runner turn first?",
        "options": {"A": "Left", "B": "Right", "C": "Not at all"},
        "answer": ["B"],
        "question_type": "visual-grounded-qa",
        "category": "Ego-motion Recognition",
        "video": "P03_FastWalk_Night_Traj02_Trial01",
        "span_sec": [60.0, 62.0],
        "segment": "",
        "media_file": f"videos/{question_id}.mp4",
        "usability_source": "complete_clear_human_annotation",
        "repair_status": "",
    } | changes


def multi_fields(question_id: str = "m1", labels: tuple[str, ...] = ("CLIP_1", "CLIP_2"), **changes: Any) -> dict:
    """A valid multi row; its review names a person in every place upstream does."""
    return {
        "review_id": question_id,
        "bundle": "bundle_01",
        "source": "excerpt",
        "unit": "whole_video",
        "question_type": "landmark-order",
        "n_select": 2,
        "question": "Which landmarks are passed?",
        "options": {"A": "A kiosk", "B": "A bridge", "C": "A tower", "D": "A lake"},
        "clips": [
            {"label": label, "path": f"media/{question_id}/{label}_{10 * i}_{10 * i + 2}.mp4"}
            for i, label in enumerate(labels)
        ],
        "decision": "REKEY_HUMAN",
        "reasons": ["human_rules_out_gold:D", f"trusted_human_clear:{PERSON}", f"asked:{PERSON}"],
        "blind_guessable": False,
        "status": "rekeyed",
        "answer": ["A", "C"],
        "evidence": {"per_option": {"A": "CLIP_1 00:01 - a kiosk"}, "notes": f"seen by {PERSON}", "annotator": PERSON},
        "evidence_source": "human",
        "human_decided_by": PERSON,
    } | changes


PERSON = "Avery Quill"
"""A reviewer's name that no published byte may hold."""


@pytest.fixture(scope="session")
def upstream() -> SimpleNamespace:
    """What writes upstream's rows and releases."""
    return SimpleNamespace(
        single=single_fields, multi=multi_fields, write_rows=write_rows, write_release=write_release, person=PERSON
    )


@pytest.fixture(scope="session")
def tiny_clips(tmp_path_factory) -> list[Path]:
    """Four clips of different content, 2 s each but the last (1 s)."""
    folder = tmp_path_factory.mktemp("tiny_clips")
    return [write_clip(folder / f"{seed}.mp4", 1 if seed == 3 else 2, seed=seed) for seed in range(4)]


@pytest.fixture
def release(tmp_path, tiny_clips) -> RawRelease:
    """Two single and two multi questions; m2 has a clip of m1's and a clip without times in its name."""
    multi = [
        multi_fields("m1"),
        multi_fields("m2", clips=[{"label": "CLIP_A", "path": "media/m2/CLIP_A.mp4"}], bundle="bundle_02"),
    ]
    clips = {
        "videos/s1.mp4": tiny_clips[0],
        "media/m1/CLIP_1_0_2.mp4": tiny_clips[1],
        "media/m1/CLIP_2_10_12.mp4": tiny_clips[2],
        "media/m2/CLIP_A.mp4": tiny_clips[1],
    }
    return write_release(
        tmp_path / "raw",
        [single_fields("s1"), single_fields("s2", video="sinzheim_city_slow", answer=["A", "C"])],
        multi,
        lambda path: clips.get(path, tiny_clips[3]),
    )


@pytest.fixture(scope="session")
def real_release(shared_dir, tmp_path_factory) -> SimpleNamespace:
    """The real records as a raw release, with stand-in clips of the right number and length.

    ``published`` maps a question's id to its record, ``lengths_s`` a clip's path to its length.
    """
    folder, root = shared_dir / "data" / "egogears", tmp_path_factory.mktemp("real")
    single = [json.loads(line) for line in (folder / "single_567_human_eval.sample.jsonl").read_text().splitlines()]
    multi = [json.loads(line) for line in (folder / "runningbench_v2_kept.sample.jsonl").read_text().splitlines()]
    lengths_s = {row["media_file"]: row["span_sec"][1] - row["span_sec"][0] for row in single}
    for row in multi:
        for clip in row["clips"]:
            start, end = clip["path"].removesuffix(".mp4").split("_")[-2:]
            lengths_s[clip["path"]] = int(end) - int(start)
    stand_ins = {
        path: write_clip(root / "clips" / f"{seed}.mp4", length_s, seed=seed, fps=1)
        for seed, (path, length_s) in enumerate(lengths_s.items())
    }
    write_release(root / "raw", single, multi, stand_ins.__getitem__)
    published = {row["id"]: row for row in single} | {row["review_id"]: row for row in multi}
    return SimpleNamespace(root=root / "raw", published=published, lengths_s=lengths_s)
