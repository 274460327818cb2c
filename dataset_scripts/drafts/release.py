"""Candidates as raw releases in the two benchmarks' own layouts (PROTOCOL 1.1 and 2), for `egobench build`."""

import csv
import io
import string
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dataset_scripts.drafts.clips import CLIPS_FOLDER
from dataset_scripts.egogears.release import SINGLE_FOLDER
from dataset_scripts.repository.build_report import DRAFT
from dataset_scripts.repository.raw_files import link_file, write_json, write_lines
from egobench_tasks.errors import InputError
from egobench_tasks.files import sha256_of
from egobench_tasks.making.draft.candidate import CANDIDATES_FILE, OPEN_KINDS, Candidate, write_candidates

ANNOTATIONS = "egotempo_openQA.json"


def write_release(candidates: Sequence[Candidate], clips: Path, out: Path) -> list[str]:
    """Write candidates, and what `egobench build` needs of them, into ``out``; return the build commands.

    ``clips`` is the folder of their clips, which ``out/clips`` then holds, too. Multiple choice becomes EgoGears'
    single split, open questions EgoTempo's annotation file. Each question's status says that it is a draft.
    Raises ``InputError`` for a clip that is not there.
    """
    for name in sorted({one.clip for one in candidates}):
        if not (clips / name).is_file():
            raise InputError(f"{clips / name}: a candidate's clip is not there; give the folder `egobench draft` made")
        link_file(clips / name, out / CLIPS_FOLDER / name)
    choice = [one for one in candidates if not one.is_open]
    opened = [one for one in candidates if one.is_open]
    commands = []
    if choice:
        _write_choice(choice, out)
        commands.append(f"egobench build egogears --source {out} --only single --out {out / 'egogears'}")
    if opened:
        _write_open(opened, out)
        commands.append(
            f"egobench build egotempo --annotations {out / ANNOTATIONS} --videos {out / CLIPS_FOLDER} "
            f"--out {out / 'egotempo'}"
        )
    write_candidates(out / CANDIDATES_FILE, candidates)  # last: it says that all of it is there
    return commands


def _write_open(candidates: Sequence[Candidate], out: Path) -> None:
    rows = [
        {
            "question_id": one.question_id,
            "clip_id": one.clip.removesuffix(".mp4"),
            "question_type": OPEN_KINDS[one.kind],
            "question": one.question,
            "answer": one.answer,
            **_beside(one),
        }
        for one in candidates
    ]
    info = {"description": f"{len(rows)} drafted questions; no person has confirmed them"}
    write_json(out / ANNOTATIONS, {"info": info, "annotations": rows})


def _write_choice(candidates: Sequence[Candidate], out: Path) -> None:
    root = out / SINGLE_FOLDER
    sha256 = {name: sha256_of(out / CLIPS_FOLDER / name) for name in {one.clip for one in candidates}}
    checksums: list[Sequence[object]] = [("id", "path", "bytes", "sha256")]
    for one in candidates:
        video = root / "videos" / f"{one.question_id}.mp4"
        link_file(out / CLIPS_FOLDER / one.clip, video)
        checksums.append((one.question_id, f"videos/{video.name}", video.stat().st_size, sha256[one.clip]))
    table = io.StringIO()
    csv.writer(table, lineterminator="\n").writerows(checksums)
    write_lines(root / "data" / "single_567_human_eval.jsonl", map(_choice_row, candidates))
    (root / "data" / "video_sha256.csv").write_text(table.getvalue(), encoding="utf-8")
    counts = Counter(len(one.right) for one in candidates)
    manifest = {
        "questions": len(candidates),
        "answer_count_distribution": {str(count): counts[count] for count in sorted(counts)},
    }
    write_json(root / "data" / "source_manifest.json", manifest)


def _choice_row(one: Candidate) -> dict[str, Any]:
    letters = string.ascii_uppercase
    return {
        "id": one.question_id,
        "unit": "draft",
        "question": one.question,
        "options": dict(zip(letters, one.options, strict=False)),
        "answer": [letters[index] for index in one.right],
        "question_type": f"draft-{one.kind}",
        "category": "Draft",
        "video": one.recording,
        "span_sec": [one.start_s, one.end_s],
        "segment": f"{one.recording} [{one.start_s}--{one.end_s}]",
        "media_file": f"videos/{one.question_id}.mp4",
        **_beside(one),
    }


def _beside(one: Candidate) -> dict[str, Any]:
    """What stands beside the question for those who review it."""
    span = {"clip": 0, "label": None, "start_s": one.evidence_start_s, "end_s": one.evidence_end_s}
    return {"status": DRAFT, "evidence_spans": [span], "drafted_by": one.model, "drafted_in": one.wording}
