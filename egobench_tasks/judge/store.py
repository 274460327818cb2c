"""Verdicts on disk: one line each, written as they arrive, so that no answer is paid for twice."""

import hashlib
import json
import os
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from filelock import FileLock

from egobench_tasks.cache import CACHE_VARIABLE, cache_dir
from egobench_tasks.errors import EgobenchError
from egobench_tasks.judge.identity import JudgeIdentity, to_record
from egobench_tasks.judge.prompt import JudgeItem
from egobench_tasks.judge.verdict import Judgement, NoVerdict, Verdict


def default_store_path() -> Path:
    """Return where verdicts are kept: ``judge/verdicts.jsonl`` in the cache folder."""
    return cache_dir() / "judge" / "verdicts.jsonl"


def verdict_key(item: JudgeItem, judge: JudgeIdentity) -> str:
    """Return the key of a verdict: a digest of the judge's model, settings and wording, and of the item's three texts.

    The server's address is no part of it: a judge is its model, wherever it is served.
    """
    configured = [list(judge.configured)] if judge.configured else []  # none: as before there were any
    parts = [judge.model, judge.wording, *configured, item.question, item.gold, item.prediction]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class VerdictStore:
    """An append-only file of judgements, safe for several processes and for a kill at any moment.

    A judgement without a verdict is kept for the record and asked again on the next run.
    """

    path: Path

    def find(self, keys: Collection[str], served: str | None = None) -> dict[str, Judgement]:
        """Return the judgements stored under the given keys; the first verdict of a key stays.

        A key that holds failures only comes with the last of them. ``served`` is what stands behind the judge's name
        now: a verdict of a model known to be another is passed over.
        """
        found: dict[str, Judgement] = {}
        for key, kept_served, judgement in self._records():
            is_other = None not in (served, kept_served) and served != kept_served
            if key in keys and not is_other and (key not in found or found[key].verdict is None):
                found[key] = judgement
        return found

    def append(self, item: JudgeItem, judge: JudgeIdentity, judgement: Judgement) -> None:
        """Write one judgement and wait until it is on the disk."""
        record = {
            "key": verdict_key(item, judge),
            "judge": to_record(judge),
            **asdict(item),
            **asdict(judgement),
        }
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(f"{self.path}.lock"):
                _append_line(self.path, json.dumps(record).encode())
        except OSError as error:
            raise EgobenchError(f"{self.path}: cannot save a verdict: {error}; set {CACHE_VARIABLE}") from error

    def _records(self) -> Iterator[tuple[str, str | None, Judgement]]:
        if not self.path.exists():
            return
        with self.path.open("rb") as file:
            for line in file:
                try:
                    record = json.loads(line)
                    yield record["key"], _served(record), _judgement(record)
                except (ValueError, KeyError, TypeError):
                    continue  # half a line that a kill left behind: its item is asked again


def _append_line(path: Path, line: bytes) -> None:
    with path.open("ab+") as file:
        size = file.seek(0, os.SEEK_END)
        if size:
            # A writer that was killed may have left half a line: it must not swallow this one.
            file.seek(size - 1)
            line = line if file.read(1) == b"\n" else b"\n" + line
        file.write(line + b"\n")
        file.flush()
        os.fsync(file.fileno())


def _served(record: dict[str, object]) -> str | None:
    judge = record.get("judge")
    return judge["served"] if isinstance(judge, dict) else None  # a name alone, as it once was, says nothing of it


def _judgement(record: dict[str, object]) -> Judgement:
    verdict, failure = record["verdict"], record["failure"]
    return Judgement(
        Verdict(**verdict) if isinstance(verdict, dict) else None,
        NoVerdict(failure) if isinstance(failure, str) else None,
        str(record["raw"]),
    )
