"""A question that a model proposed, and how it is kept: one JSON object a line."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from egobench_tasks.benchmarks import EGOTEMPO
from egobench_tasks.documents import parse_json
from egobench_tasks.errors import InputError
from egobench_tasks.files import write_atomically

CANDIDATES_FILE = "candidates.jsonl"

_ID_DIGITS = 16


class Perturbation(StrEnum):
    """What a near-miss distractor changes about the right answer (EgoGears, 3.1): one thing, and nothing else."""

    DIRECTION = "direction"
    ORDER = "order"
    PHASE = "phase"
    SUBJECT = "subject"


OPEN_KINDS: Mapping[str, str] = {code: category for category, code in EGOTEMPO.category_codes.items()}
"""EgoTempo's categories, by their codes: open questions."""

CHOICE_KINDS = tuple(kind.value for kind in Perturbation)
"""Kinds of multiple-choice questions: what their distractors perturb."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A proposed question on one clip.

    ``kind`` is one of `OPEN_KINDS` or `CHOICE_KINDS`. ``options`` is empty for an open question; ``right`` holds the
    indices of the right ones, ``answer`` an open question's answer. ``clip`` is the clip's file in the draft's folder;
    ``start_s``, ``end_s`` are seconds of the recording, the evidence's are seconds of the clip. ``model`` and
    ``wording`` say who proposed it, asked in which words.
    """

    kind: str
    clip: str
    recording: str
    start_s: float
    end_s: float
    question: str
    options: tuple[str, ...] = ()
    right: tuple[int, ...] = ()
    answer: str = ""
    evidence_start_s: float
    evidence_end_s: float
    model: str
    wording: str

    @property
    def question_id(self) -> str:
        """An id of the content: the same proposal on the same clip has the same one."""
        said = [self.kind, self.clip, self.question, *self.options, self.answer]
        return f"draft-{hashlib.sha256(json.dumps(said).encode()).hexdigest()[:_ID_DIGITS]}"

    @property
    def is_open(self) -> bool:
        """Whether it is answered in free text."""
        return self.kind in OPEN_KINDS


def write_candidates(path: Path, candidates: Iterable[Candidate]) -> None:
    """Write candidates as JSON lines, complete or not at all."""
    with write_atomically(path) as file:
        for one in candidates:
            record = {"question_id": one.question_id, **asdict(one)}
            file.write((json.dumps(record, ensure_ascii=False) + "\n").encode())


def read_candidates(path: Path) -> list[Candidate]:
    """Read what `write_candidates` wrote. Raises ``InputError`` naming the file and the line of another form."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot read the candidates: {error}; give a folder of `egobench draft`") from error
    candidates = []
    for number, line in enumerate(lines, start=1):
        try:
            candidates.append(_candidate(parse_json(line)))
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"{path}: line {number} is no candidate of `egobench draft`: {error}") from error
    return candidates


def _candidate(record: Mapping[str, Any]) -> Candidate:
    values = {name: value for name, value in record.items() if name != "question_id"}
    return Candidate(**{**values, "options": tuple(values["options"]), "right": tuple(values["right"])})
