"""What all journals hold: which models' answers, how many, since when, and from where (``egobench journal``)."""

import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from egobench_tasks.errors import EgobenchError, InputError
from egobench_tasks.runs.journal import Journal, journal_root
from egobench_tasks.runs.sessions import Session, read_sessions

_UNKNOWN = "not written down"


@dataclass(frozen=True, slots=True)
class Kept:
    """One folder of the journal: one model's answers under one identity, of one generation (see `journal`).

    ``key`` is the folder's name. ``n_answers`` of each session, by its file's name; ``tasks``: how many of each task.
    ``first_utc``, ``last_utc``: when the first session began, and the last answer was written.
    """

    key: str
    folder: Path
    sessions: Mapping[str, Session]
    n_answers: Mapping[str, int]
    tasks: Mapping[str, int]
    first_utc: str
    last_utc: str

    @property
    def name(self) -> str:
        """The model's name."""
        return next((session.name for session in self.sessions.values()), _UNKNOWN)

    @property
    def total(self) -> int:
        """How many answers, every attempt counted."""
        return sum(self.n_answers.values())

    @property
    def places(self) -> list[str]:
        """Where they came from: servers, and machines where the model was in the process itself."""
        found = {str(session.place.server if session.place else session.host) for session in self.sessions.values()}
        return sorted(found) or [_UNKNOWN]


def read_kept() -> list[Kept]:
    """Return what the journal holds, by the models' names, then the oldest first."""
    root = journal_root()
    folders = [path for path in root.iterdir() if path.is_dir()] if root.is_dir() else []
    return sorted(map(_kept, folders), key=lambda kept: (kept.name, kept.first_utc, kept.key))


def find_kept(wanted: Sequence[str]) -> list[Kept]:
    """Return what is named: a model by its name, or a folder by its key or the beginning of one.

    Raises ``InputError`` for a name that nothing has.
    """
    everything = read_kept()
    found: dict[str, Kept] = {}
    for name in wanted:
        matching = [
            kept for kept in everything if name in (kept.name, kept.key) or (kept.key.startswith(name) and name)
        ]
        if not matching:
            known = ", ".join(sorted({kept.name for kept in everything})) or "nothing"
            raise InputError(f"the journal {journal_root()} holds no answers of {name!r}; it holds {known}")
        found |= {kept.key: kept for kept in matching}
    return list(found.values())


def clear(kept: Sequence[Kept]) -> None:
    """Remove answers for good. Raises ``EgobenchError`` where they cannot be removed."""
    for item in kept:
        try:
            shutil.rmtree(item.folder)
        except OSError as error:
            raise EgobenchError(f"{item.folder}: cannot be removed: {error}") from error


def _kept(folder: Path) -> Kept:
    by_session, sessions = Journal(folder).by_session(), read_sessions(folder)
    files = [path.stat().st_mtime for path in folder.iterdir()]
    return Kept(
        key=folder.name,
        folder=folder,
        sessions=sessions,
        n_answers={stem: len(answers) for stem, answers in by_session.items()},
        tasks=Counter(answer.task for answers in by_session.values() for answer in answers),
        first_utc=min((session.started_utc for session in sessions.values()), default=_utc(min(files, default=0.0))),
        last_utc=_utc(max(files, default=0.0)),
    )


def _utc(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
