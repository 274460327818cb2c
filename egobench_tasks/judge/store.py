"""Verdicts on disk: one line each, written as they arrive, so that no answer is paid for twice."""

import hashlib
import json
import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from egobench_tasks.cache import CACHE_VARIABLE, cache_dir, own_layer
from egobench_tasks.errors import EgobenchError
from egobench_tasks.files import create_private, make_private_folder
from egobench_tasks.judge.identity import JudgeIdentity, from_record, to_record
from egobench_tasks.judge.prompt import JudgeItem
from egobench_tasks.judge.verdict import Judgement, NoVerdict, Verdict
from egobench_tasks.locks import exclusive
from egobench_tasks.runs.sessions import Place, Session
from egobench_tasks.runs.values import from_json
from egobench_tasks.texts import well_formed

_BEGINS_ANEW = "begins_anew"


def default_store_path() -> Path:
    """Return where verdicts are kept: ``judge/verdicts.jsonl`` in the cache folder, or in the user's own where that is
    another's."""
    return own_layer(cache_dir() / "judge") / "verdicts.jsonl"


def verdict_key(item: JudgeItem, judge: JudgeIdentity) -> str:
    """Return the key of a verdict: a digest of the judge's model, settings and wording, and of the item's three texts.

    The server's address is no part of it: a judge is its model, wherever it is served.
    """
    configured = [list(judge.configured)] if judge.configured else []  # none: as before there were any
    parts = [judge.model, judge.wording, *configured, item.question, item.gold, item.prediction]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class KeptVerdict:
    """A verdict in the store, with what it is of."""

    key: str
    item: JudgeItem
    verdict: Verdict


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
            is_other = _is_other(served, kept_served)
            if key in keys and not is_other and (key not in found or found[key].verdict is None):
                found[key] = judgement
        return found

    def check(self) -> None:
        """Raise ``EgobenchError`` where no verdict could be kept. Called before any is asked for."""
        try:
            make_private_folder(self.path.parent)
            with exclusive(self._lock_path):
                pass
        except OSError as error:
            raise self._unwritable(error) from error

    def append(self, item: JudgeItem, judge: JudgeIdentity, judgement: Judgement, place: Place | None = None) -> None:
        """Write one judgement and wait until it is on the disk. ``place``: where and when the judge was asked."""
        self._write(
            {
                "key": verdict_key(item, judge),
                "judge": to_record(judge),
                "place": place and asdict(place),
                **asdict(item),
                **asdict(judgement),
            }
        )

    def confirm(self, judge: JudgeIdentity, place: Place, sessions: Collection[str]) -> None:
        """Note that the judge at a place gave the verdicts of some sessions again (see `work_of`)."""
        self._write({"judge": to_record(judge), "place": asdict(place), "confirmed": sorted(sessions)})

    def begin_anew(self, judge: JudgeIdentity) -> None:
        """Note that what the judge has said so far is not to be taken any more. It stays in the file."""
        self._write({_BEGINS_ANEW: True, "judge": to_record(judge)})

    def work_of(self, judge: JudgeIdentity) -> tuple[dict[str, Session], dict[str, list[KeptVerdict]]]:
        """Return where and when a judge was asked, and the verdicts it gave there: one session a place."""
        confirmed: dict[str, set[str]] = {}
        kept: dict[str, KeptVerdict] = {}
        session_of: dict[str, str] = {}
        for record in self._lines():
            try:
                if from_record(record["judge"]).digest != judge.digest or _is_other(judge.served, _served(record)):
                    continue
                session = json.dumps(record.get("place"))
                confirmed.setdefault(session, set()).update(record.get("confirmed", ()))
                verdict = _judgement(record).verdict
            except (KeyError, TypeError, AttributeError, ValueError):
                continue  # a line of confirmations has no verdict
            if verdict is not None and record["key"] not in kept:
                item = JudgeItem(**{field.name: record[field.name] for field in fields(JudgeItem)})
                kept[record["key"]] = KeptVerdict(record["key"], item, verdict)
                session_of[record["key"]] = session
        by_session: dict[str, list[KeptVerdict]] = {}
        for key, given in kept.items():
            by_session.setdefault(session_of[key], []).append(given)
        return {session: _session(judge, session, names) for session, names in confirmed.items()}, by_session

    def _write(self, record: Mapping[str, object]) -> None:
        try:
            make_private_folder(self.path.parent)
            with exclusive(self._lock_path):
                _append_line(self.path, json.dumps(record).encode())
        except OSError as error:
            raise self._unwritable(error) from error

    @property
    def _lock_path(self) -> Path:
        return self.path.with_name(f"{self.path.name}.lock")

    def _unwritable(self, error: OSError) -> EgobenchError:
        return EgobenchError(f"{self.path}: cannot save a verdict: {error}; set {CACHE_VARIABLE}")

    def _records(self) -> Iterator[tuple[str, str | None, Judgement]]:
        for record in self._lines():
            try:
                yield record["key"], _served(record), _judgement(record)
            except (ValueError, KeyError, TypeError):
                continue  # of another form, or no judgement at all (`confirm`)

    def _lines(self) -> Iterator[dict[str, Any]]:
        """The records that count: of each judge those since it last began anew."""
        begun_at = {
            _digest(record): number for number, record in self._all_lines(_BEGINS_ANEW) if record.get(_BEGINS_ANEW)
        }
        for number, record in self._all_lines():
            if not begun_at or number > begun_at.get(_digest(record), -1):
                yield record

    def _all_lines(self, holding: str = "") -> Iterator[tuple[int, dict[str, Any]]]:
        """Every record and its place in the file; of those alone in which a word stands, where one is given."""
        if not self.path.is_file():
            return
        with self.path.open("rb") as file:
            for number, line in enumerate(file):
                try:
                    record = json.loads(line) if holding.encode() in line else None
                except (ValueError, RecursionError):
                    continue  # half a line that a kill left behind: its item is asked again
                if isinstance(record, dict):
                    yield number, record


def _append_line(path: Path, line: bytes) -> None:
    with create_private(path) if not path.exists() else path.open("ab+") as file:
        size = file.seek(0, os.SEEK_END)
        if size:
            # A writer that was killed may have left half a line: it must not swallow this one.
            file.seek(size - 1)
            line = line if file.read(1) == b"\n" else b"\n" + line
        file.write(line + b"\n")
        file.flush()
        os.fsync(file.fileno())


def _session(judge: JudgeIdentity, place: str, confirmed: Collection[str]) -> Session:
    """The session of all verdicts of one place, which it is named by: as JSON, null where it was not written down."""
    record = json.loads(place)
    return Session(
        name=judge.model,
        identity=to_record(judge),
        generation=0,
        started_utc=record["day"] if record else "",
        host="",
        place=from_json(Place, record) if record else None,
        confirmed=tuple(sorted(confirmed)),
    )


def _digest(record: Mapping[str, Any]) -> str | None:
    """Whose record it is, as `JudgeIdentity.digest`; None where it does not say."""
    try:
        return from_record(record["judge"]).digest
    except (KeyError, TypeError, AttributeError):
        return None


def _is_other(served: str | None, kept_served: str | None) -> bool:
    return None not in (served, kept_served) and served != kept_served


def _served(record: dict[str, object]) -> str | None:
    judge = record.get("judge")
    return judge["served"] if isinstance(judge, dict) else None  # a name alone, as it once was, says nothing of it


def _judgement(record: dict[str, object]) -> Judgement:
    verdict, failure = record["verdict"], record["failure"]
    return Judgement(
        _verdict(verdict) if isinstance(verdict, dict) else None,
        NoVerdict(failure) if isinstance(failure, str) else None,
        well_formed(str(record["raw"])),
    )


def _verdict(kept: dict[str, Any]) -> Verdict:
    verdict = Verdict(**kept)
    # Half a character in a reason could be kept here, and nowhere else.
    return verdict if verdict.reason is None else replace(verdict, reason=well_formed(verdict.reason))
