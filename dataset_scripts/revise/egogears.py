"""EgoGears' raw release, revised: questions of both splits, checksums, counts; clips are linked."""

import string
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from dataset_scripts.egogears.release import (
    BUNDLES_FOLDER,
    MULTI_FILE,
    SINGLE_FOLDER,
    multi_questions,
    single_questions,
)
from dataset_scripts.egogears.rows import clean_reasons, lettered_texts, multi_record, single_record
from dataset_scripts.repository.jsonl import Row, read_jsonl
from dataset_scripts.repository.raw_files import link_files, write_json, write_lines
from dataset_scripts.revise.row import revised
from egobench_tasks.errors import InputError
from egobench_tasks.making.review.decision import Content
from egobench_tasks.making.review.outcome import Outcome

SINGLE_FILE = SINGLE_FOLDER / "data" / "single_567_human_eval.jsonl"
SINGLE_DROPPED = SINGLE_FOLDER / "data" / "single_567_dropped.jsonl"
MULTI_ALL = MULTI_FILE.with_name("runningbench_v2.jsonl")
_CHECKSUMS = SINGLE_FOLDER / "data" / "video_sha256.csv"
_MANIFEST = SINGLE_FOLDER / "data" / "source_manifest.json"
_NAMES_A_PERSON = "human_decided_by"

Outcomes = Mapping[str, Outcome]
Contents = Mapping[str, Content]


def revise(raw: Path, out: Path, configs: Sequence[str], shown: Contents, outcomes: Outcomes) -> None:
    """Write a revised release into the folder ``out``, of the splits that the dataset has.

    Raises ``InputError`` where a question is in other words in ``raw`` than it was reviewed in, or is not there.
    """
    found: set[str] = set()
    if "single" in configs:
        found |= _single(raw, out, shown, outcomes)
    if "multi" in configs:
        found |= _multi(raw, out, shown, outcomes)
    if missing := sorted(set(shown) - found):
        raise InputError(f"{raw}: lacks question {missing[0]}; give the release that the dataset was built from")


def _single(raw: Path, out: Path, shown: Contents, outcomes: Outcomes) -> set[str]:
    kept: list[Mapping[str, Any]] = []
    dropped: list[Mapping[str, Any]] = []
    found: set[str] = set()
    for row in read_jsonl(single_questions(raw)):
        record = single_record(row)
        found.add(record.question_id)
        content = Content(record.question, record.options, record.answer)
        new = _revised(row, record.question_id, content, _nameless(row, len(record.options)), [None], shown, outcomes)
        (dropped if _is_dropped(record.question_id, outcomes) else kept).append(new)
    write_lines(out / SINGLE_FILE, kept)
    write_lines(out / SINGLE_DROPPED, dropped)
    counts = Counter(len(row["answer"]) for row in kept)
    manifest = {
        "questions": len(kept),
        "answer_count_distribution": {str(count): counts[count] for count in sorted(counts)},
    }
    write_json(out / _MANIFEST, manifest)
    link_files(raw, out, [_CHECKSUMS])
    link_files(raw, out, (path.relative_to(raw) for path in sorted((raw / SINGLE_FOLDER / "videos").rglob("*.mp4"))))
    return found


def _multi(raw: Path, out: Path, shown: Contents, outcomes: Outcomes) -> set[str]:
    kept: list[Mapping[str, Any]] = []
    dropped: list[Mapping[str, Any]] = []
    found: set[str] = set()
    for row in read_jsonl(multi_questions(raw)):
        record = multi_record(row)
        found.add(record.question_id)
        content = Content(record.question, record.options, record.answer)
        labels = [clip.label for clip in record.clips]
        new = _revised(row, record.question_id, content, _nameless(row, len(record.options)), labels, shown, outcomes)
        (dropped if _is_dropped(record.question_id, outcomes) else kept).append(new)
    write_lines(out / MULTI_FILE, kept)
    write_lines(out / MULTI_ALL, [*kept, *dropped, *_dropped_before(raw, found)])
    clips = (raw / BUNDLES_FOLDER).rglob("*")
    link_files(raw, out, (path.relative_to(raw) for path in sorted(clips) if path.suffix in (".mp4", ".tar")))
    return found


def _dropped_before(raw: Path, found: set[str]) -> Iterable[Mapping[str, Any]]:
    """What upstream itself had thrown out."""
    if not (raw / MULTI_ALL).is_file():
        return
    for row in read_jsonl(raw / MULTI_ALL):
        if row.text("review_id") not in found:
            yield _nameless(row, len(row.options("options")))


def _is_dropped(question_id: str, outcomes: Outcomes) -> bool:
    return question_id in outcomes and outcomes[question_id].is_dropped


def _revised(
    row: Row,
    question_id: str,
    content: Content,
    nameless: Mapping[str, Any],
    labels: Sequence[str | None],
    shown: Contents,
    outcomes: Outcomes,
) -> Mapping[str, Any]:
    if question_id not in shown:
        return nameless  # a dataset that was built with --partial lacks it: nobody could review it
    if content != shown[question_id]:
        raise InputError(
            f"{row.where}: question {question_id} has other words or another answer here than in the dataset that was "
            "reviewed; give the release that it was built from"
        )
    return revised(nameless, content, outcomes[question_id], labels)


def _nameless(row: Row, n_options: int) -> dict[str, Any]:
    """A row without what names people: who decided, in reasons, and beside the texts of the evidence."""
    fields = {name: value for name, value in row.fields.items() if name != _NAMES_A_PERSON}
    letters = string.ascii_uppercase[:n_options]
    if "reasons" in fields:
        fields["reasons"] = list(clean_reasons(row, letters))
    for name in ("evidence", "distractor_basis"):
        if name in fields:
            fields[name] = dict(lettered_texts(fields[name], letters))
    return fields
