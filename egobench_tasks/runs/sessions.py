"""What stood behind the answers of a journal: one session a process that wrote, or confirmed, some of them."""

import json
import platform
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from egobench_tasks.documents import parse_json
from egobench_tasks.files import write_atomically
from egobench_tasks.runs.record import Answerer, utc_now
from egobench_tasks.runs.values import from_json
from egobench_tasks.servers.models import ServedModel

SUFFIX = ".session.json"
"""Of a session's file, beside the ``.jsonl`` of its answers and of the same name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where and when a served model was asked, as far as it can be told from outside.

    ``address`` is the API's root, ``served`` what the server says of the model. Its ``created_s`` is None where it is
    the time of the look, as with vLLM and SGLang, and no start. ``day``: the UTC date on which the process began.
    """

    address: str
    day: str
    served: ServedModel = field(default_factory=ServedModel)

    @property
    def server(self) -> "Place":
        """The same on any day."""
        return replace(self, day="")

    def __str__(self) -> str:
        said = [f"{name} {value}" for name in ("root", "parent") if (value := getattr(self.served, name))]
        return f"{self.address} ({', '.join(said)})" if said else self.address


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One process's part of a journal.

    ``name`` is the model's, for people; ``identity`` is what the answers' keys are of, ``generation`` how often
    ``--fresh`` had begun anew before. ``place`` is None for a model of the process itself. ``confirmed``: the sessions
    (by their files' names) whose answers this one's server gave again.
    """

    name: str
    identity: Mapping[str, Any]
    generation: int
    started_utc: str
    host: str
    place: Place | None = None
    confirmed: tuple[str, ...] = ()


def session_of(answerer: Answerer, place: Place | None = None, confirmed: Iterable[str] = ()) -> Session:
    """Return a session of this process, beginning now."""
    return Session(
        name=answerer.name,
        identity=answerer.identity,
        generation=answerer.generation,
        started_utc=utc_now(),
        host=platform.node(),
        place=place,
        confirmed=tuple(sorted(confirmed)),
    )


def read_sessions(folder: Path) -> dict[str, Session]:
    """Return the sessions of a journal's folder by their files' names, without endings, the oldest first.

    What cannot be read is left out: its answers then count as of an unknown session.
    """
    found: dict[str, Session] = {}
    for path in folder.glob(f"*{SUFFIX}"):
        if not path.is_file():  # a pipe of that name would be waited for without end
            continue
        try:
            found[path.name.removesuffix(SUFFIX)] = from_json(Session, parse_json(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError, AttributeError):
            continue
    return dict(sorted(found.items(), key=lambda item: (item[1].started_utc, item[0])))


def write_session(folder: Path, stem: str, session: Session) -> None:
    """Write a session's file, whole or not at all."""
    with write_atomically(folder / f"{stem}{SUFFIX}") as file:
        file.write((json.dumps(asdict(session), ensure_ascii=False, default=str) + "\n").encode())


def believed(sessions: Mapping[str, Session], place: Place) -> frozenset[str]:
    """Return the sessions whose answers are those of the model at ``place``, without asking it anything.

    These are the sessions at the very same place, and those that a believed one has confirmed.
    """
    found: set[str] = set()
    waiting = [stem for stem, session in sessions.items() if session.place == place]
    while waiting:
        stem = waiting.pop()
        if stem not in found and stem in sessions:
            found.add(stem)
            waiting.extend(sessions[stem].confirmed)
    return frozenset(found)
