"""EgoTempo's annotation file, revised."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dataset_scripts.egotempo.rows import read_annotations
from dataset_scripts.repository.raw_files import write_json
from dataset_scripts.revise.row import revised
from egobench_tasks.documents import read_json
from egobench_tasks.errors import InputError
from egobench_tasks.making.review.decision import Content
from egobench_tasks.making.review.outcome import Outcome

FILE = "egotempo_openQA.json"


def revise(raw: Path, out: Path, shown: Mapping[str, Content], outcomes: Mapping[str, Outcome]) -> None:
    """Write the revised file into the folder ``out``; ``raw`` is upstream's file, or the folder that holds it.

    Dropped questions stand under ``dropped``, beside ``annotations``. Raises ``InputError`` where a question is in
    other words than it was reviewed in, or is not there.
    """
    path = raw / FILE if raw.is_dir() else raw
    records = read_annotations(path)
    content = read_json(path, "the annotations")
    kept: list[Mapping[str, Any]] = []
    dropped: list[Mapping[str, Any]] = list(content.get("dropped") or ())
    for record, row in zip(records, content["annotations"], strict=True):
        before = Content(record.question, (), (record.answer,))
        if shown.get(record.question_id) != before:
            raise InputError(
                f"{record.where}: question {record.question_id} is not, or not in the same words and with the same "
                "answer, in the dataset that was reviewed; give the file that it was built from"
            )
        outcome = outcomes[record.question_id]
        (dropped if outcome.is_dropped else kept).append(revised(row, before, outcome, [None]))
    if missing := sorted(set(shown) - {record.question_id for record in records}):
        raise InputError(f"{path}: lacks question {missing[0]}; give the file that the dataset was built from")
    write_json(out / FILE, {**content, "annotations": kept, "dropped": dropped})
