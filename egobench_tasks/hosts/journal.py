"""Answers kept as they arrive, so that a killed run asks only for what it has not got.

lighteval writes its own cache once, after the last sample: a crash at 99 % loses everything.
"""

import hashlib
import json
import os
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, TextIO

from egobench_tasks.cache import cache_dir

JOURNAL_VARIABLE = "EGOBENCH_JOURNAL"


@dataclass(frozen=True, slots=True)
class Answer:
    """One generation. ``key`` is of everything that shaped it; token counts are None where a host has none."""

    key: str
    question_id: str
    task: str
    prompt: str
    text: str
    finish_reason: str
    n_prompt_tokens: int | None = None
    n_new_tokens: int | None = None
    clip_notes: tuple[str, ...] = ()


def answer_key(**inputs: Any) -> str:
    """Return 32 hex digits of everything that shapes an answer, order of the names aside."""
    return hashlib.sha256(json.dumps(inputs, sort_keys=True, default=str).encode()).hexdigest()[:32]


def journal_root() -> Path:
    """``EGOBENCH_JOURNAL``, else ``journal`` in the cache folder."""
    named = os.environ.get(JOURNAL_VARIABLE)
    return Path(named) if named else cache_dir() / "journal"


class Journal:
    """A folder of append-only JSON lines, one file a process, so that none needs a lock.

    Several processes, machines or shards may write into one folder at once.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._file: TextIO | None = None

    def answers(self) -> dict[str, Answer]:
        """Read all answers by key. A line that a kill cut short is left out: its question is asked again."""
        found: dict[str, Answer] = {}
        for path in sorted(self.folder.glob("*.jsonl")):
            # not splitlines(): a model may write U+2028 or other line ends that JSON leaves as they are
            for line in path.read_text(encoding="utf-8", errors="replace").split("\n"):
                answer = _read(line)
                if answer is not None:
                    found[answer.key] = answer
        return found

    def append(self, answer: Answer) -> None:
        """Write one answer and return once it is on disk."""
        if self._file is None:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._file = (self.folder / f"{uuid.uuid4().hex}.jsonl").open("x", encoding="utf-8")
        self._file.write(json.dumps(asdict(answer), ensure_ascii=False) + "\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file this process writes; appending again opens a new one."""
        if self._file is not None:
            self._file.close()
            self._file = None


_NAMES = frozenset(field.name for field in fields(Answer))


def _read(line: str) -> Answer | None:
    try:
        record = json.loads(line)
    except ValueError:
        return None
    if not isinstance(record, Mapping) or set(record) != _NAMES:
        return None
    return Answer(**{**record, "clip_notes": tuple(record["clip_notes"])})
