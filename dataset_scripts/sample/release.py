"""Writes a sample benchmark as a raw release in upstream's layout (PROTOCOL 1.1), for the ordinary builder to build."""

import csv
import io
import json
import shutil
import tarfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tqdm import tqdm

from dataset_scripts.repository.raw_files import appearing_whole, link_file, write_lines
from dataset_scripts.sample.painting import write_clip
from dataset_scripts.sample.questions import MULTI_PLANS, SINGLE_PLANS, MultiPlan, SampleQuestion
from dataset_scripts.sample.questions import multi_questions as make_multi_questions
from dataset_scripts.sample.questions import single_questions as make_single_questions
from dataset_scripts.sample.scene import Scene
from dataset_scripts.sample.world import Clip, make_world
from egobench_tasks import __version__
from egobench_tasks.documents import parse_json
from egobench_tasks.errors import InputError
from egobench_tasks.files import sha256_of

N_QUESTIONS = len(SINGLE_PLANS) + len(MULTI_PLANS)
"""How many questions make one full round: fewer leave out part of what the sample is to cover."""

_RECIPE = "sample.json"
_SINGLE = Path("single_video_567")
_QUESTIONS_PER_BUNDLE = 10
_STATUSES = ("confirmed", "repaired", "rekeyed")
_DECISIONS = {"confirmed": "KEEP_CONFIRMED", "repaired": "REPAIR", "rekeyed": "REKEY", "dropped": "DROP"}


@dataclass(frozen=True, slots=True)
class SampleRelease:
    """What was written: questions of each split and the distinct clips that they share."""

    single: tuple[SampleQuestion, ...]
    multi: tuple[SampleQuestion, ...]
    n_clips: int


def write_sample_release(raw: Path, *, questions: int = N_QUESTIONS, seed: int = 0) -> SampleRelease:
    """Render a sample benchmark and write its raw release to the folder ``raw``, which must not exist yet.

    Args:
        raw: the folder to make; it appears when all of it is written. One that holds this very sample is left alone.
        questions: how many in both splits together, 2 at least; three eighths of them are single.
        seed: decides all of it: questions, clips, ids.

    Raises:
        InputError: for too few questions, or where ``raw`` holds anything else.
    """
    if questions < 2:
        raise InputError(f"a sample of {questions} questions: needs at least 2, one for each split")
    recipe = {"questions": questions, "seed": seed, "egobench": __version__}
    there = raw.exists()
    if there and _read_recipe(raw) != recipe:
        raise InputError(f"{raw}: holds something else than this sample; name another folder, or remove it")
    n_single = min(max(1, round(questions * len(SINGLE_PLANS) / N_QUESTIONS)), questions - 1)
    world = make_world(seed)
    single = tuple(make_single_questions(world, n_single, seed))
    multi = tuple(make_multi_questions(world, questions - n_single, seed))
    release = SampleRelease(single, multi, len(_scenes((*single, *multi))))
    if not there:
        _write(release, raw, recipe)
    return release


def _write(release: SampleRelease, raw: Path, recipe: Mapping[str, Any]) -> None:
    """Write the release beside ``raw`` and rename it into place."""
    with appearing_whole(raw) as building:
        rendered = _render(_scenes((*release.single, *release.multi)), building / "rendered")
        _write_single(building, release.single, rendered)
        _write_multi(building, release.multi, rendered)
        shutil.rmtree(building / "rendered")
        (building / _RECIPE).write_text(json.dumps(recipe) + "\n", encoding="utf-8")


def _read_recipe(raw: Path) -> Any:
    """What a sample was made from; None where the folder holds no sample."""
    try:
        return parse_json((raw / _RECIPE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _scenes(questions: Iterable[SampleQuestion]) -> list[Scene]:
    """Every scene that a question shows, once."""
    return list(dict.fromkeys(clip.scene for question in questions for _, clip in question.clips))


def _render(scenes: Sequence[Scene], folder: Path) -> Mapping[Scene, Path]:
    """Render every scene."""
    folder.mkdir()
    paths = {scene: folder / f"{number}.mp4" for number, scene in enumerate(scenes)}
    for scene, path in tqdm(paths.items(), desc="rendering clips", unit="clip"):
        write_clip(scene, path)
    return paths


def _write_single(root: Path, questions: Sequence[SampleQuestion], rendered: Mapping[Scene, Path]) -> None:
    data, videos = root / _SINGLE / "data", root / _SINGLE / "videos"
    data.mkdir(parents=True)
    videos.mkdir()
    checksums: list[Sequence[object]] = [("id", "path", "bytes", "sha256")]
    for question in questions:
        (_, clip), *_ = question.clips
        video = videos / f"{question.question_id}.mp4"
        link_file(rendered[clip.scene], video)
        checksums.append((question.question_id, f"videos/{video.name}", video.stat().st_size, sha256_of(video)))
    write_lines(data / "single_567_human_eval.jsonl", map(_single_row, questions))
    table = io.StringIO()
    csv.writer(table, lineterminator="\n").writerows(checksums)
    (data / "video_sha256.csv").write_text(table.getvalue(), encoding="utf-8")
    answer_counts = Counter(len(question.answer) for question in questions)
    manifest = {
        "questions": len(questions),
        "answer_count_distribution": {str(count): answer_counts[count] for count in sorted(answer_counts)},
    }
    (data / "source_manifest.json").write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")


def _single_row(question: SampleQuestion) -> dict[str, Any]:
    (_, clip), *_ = question.clips
    span_s = [float(clip.start_s), float(clip.start_s + 60)]
    return {
        "id": question.question_id,
        "unit": "60s_segment",
        "question": question.question,
        "options": _lettered(question.options),
        "answer": list(question.answer),
        "question_type": "spatial-temporal-reasoning",
        "category": "Ego-motion Recognition",
        "video": clip.recording,
        "span_sec": span_s,
        "segment": f"{clip.recording} [{span_s[0]}--{span_s[1]}]",
        "media_file": f"videos/{question.question_id}.mp4",
        "usability_source": "complete_clear_human_annotation",
        "repair_status": "",
    }


def _write_multi(root: Path, questions: Sequence[SampleQuestion], rendered: Mapping[Scene, Path]) -> None:
    (root / "v2").mkdir()
    (root / "annotation_bundles").mkdir()
    rows = []
    for number, question in enumerate(questions):
        bundle = f"bundle_{number // _QUESTIONS_PER_BUNDLE + 1:02}"
        rows.append(_multi_row(question, bundle, _STATUSES[number % len(_STATUSES)]))
    # Upstream's full file also holds what review threw out; one such row shows whether a reader leaves it alone.
    dropped = {**rows[0], "review_id": rows[0]["review_id"][::-1], "status": "dropped", "decision": "DROP"}
    write_lines(root / "v2" / "runningbench_v2_kept.jsonl", rows)
    write_lines(root / "v2" / "runningbench_v2.jsonl", [*rows, dropped])
    for bundle in sorted({row["bundle"] for row in rows}):
        with tarfile.open(root / "annotation_bundles" / f"{bundle}.tar", "w", format=tarfile.USTAR_FORMAT) as tar:
            for row, question in zip(rows, questions, strict=True):
                for entry, (_, clip) in zip(row["clips"], question.clips, strict=True):
                    if row["bundle"] == bundle:
                        _add_clip(tar, f"{bundle}/{entry['path']}", rendered[clip.scene])


def _multi_row(question: SampleQuestion, bundle: str, status: str) -> dict[str, Any]:
    plan = question.plan
    assert isinstance(plan, MultiPlan)
    folder = f"media/{question.question_id}"
    row = {
        "review_id": question.question_id,
        "bundle": bundle,
        "source": "sample",
        "unit": plan.unit,
        "question_type": plan.question_type,
        "n_select": len(question.answer),
        "question": question.question,
        "options": _lettered(question.options),
        "clips": [
            {"label": label, "path": f"{folder}/{_clip_name(plan, str(label), clip)}"} for label, clip in question.clips
        ],
        "decision": _DECISIONS[status],
        "reasons": [],
        "blind_guessable": False,
        "status": status,
        "answer": list(question.answer),
        "evidence": {letter: _evidence(question) for letter in question.answer},
    }
    return row | _review_columns(question, status)


def _review_columns(question: SampleQuestion, status: str) -> dict[str, Any]:
    """What upstream adds to rows whose answer was changed, with a made-up person's name where it names people."""
    wrong = [letter for letter in _lettered(question.options) if letter not in question.answer]
    if status == "repaired":
        return {
            "repair_rounds": 1,
            "distractor_basis": dict.fromkeys(wrong, "The footage shows otherwise."),
            "reasons": ["human_ambiguous", "trusted_human_clear:Example Reviewer"],
            "human_decided_by": "Example Reviewer",
        }
    if status == "rekeyed":
        return {
            "original_answer": wrong[:1],
            "evidence_source": "human",
            "reasons": [f"human_rules_out_gold:{wrong[0]}"],
        }
    return {}


def _evidence(question: SampleQuestion) -> str:
    return " ".join(
        f"{label} passes {', '.join(f'the {landmark}' for landmark in clip.scene.walk.landmarks)}."
        for label, clip in question.clips
    )


def _clip_name(plan: MultiPlan, label: str, clip: Clip) -> str:
    """Upstream's file name; clips of anonymous questions do not tell when they were filmed."""
    return f"{label}.mp4" if plan.unit == "anonymous_multi_clip" else f"{label}_{clip.start_s}_{clip.end_s}.mp4"


def _lettered(options: Sequence[str]) -> dict[str, str]:
    return {chr(ord("A") + index): option for index, option in enumerate(options)}


def _add_clip(tar: tarfile.TarFile, name: str, path: Path) -> None:
    member = tarfile.TarInfo(name)
    member.size = path.stat().st_size
    with path.open("rb") as file:
        tar.addfile(member, file)
