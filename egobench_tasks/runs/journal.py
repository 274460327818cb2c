"""Answers kept as they arrive, so that a killed run asks only for what it has not got.

lighteval writes its own cache once, after the last sample: a crash at 99 % loses everything.
"""

import dataclasses
import hashlib
import json
import os
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from egobench_tasks.cache import cache_dir, own_layer
from egobench_tasks.files import create_private, make_private_folder
from egobench_tasks.runs.sessions import Session, write_session
from egobench_tasks.texts import well_formed

if TYPE_CHECKING:
    from egobench_tasks.frames.lazy import FrameList

CLIP_UNREADABLE = "clip_unreadable"
REQUEST_FAILED = "request_failed"
MISSING = "missing"
UNANSWERED = frozenset({CLIP_UNREADABLE, REQUEST_FAILED, MISSING})
"""Finish reasons of questions without a generation: they score 0, are not journalled, and are asked again."""

JOURNAL_VARIABLE = "EGOBENCH_JOURNAL"
FRESH_VARIABLE = "EGOBENCH_FRESH"
"""Set to anything, it has a run ask everything anew; a variable, as `shards.SHARD_VARIABLE` is."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One generation. ``key`` is of everything that shaped it; counts and times are None where a host has none.

    ``text`` is what the answer is read from. ``reasoning`` is what the host kept apart from it.
    ``budget_tokens`` is the most new tokens that the generation could have had; the context may have held fewer.
    ``repeat`` counts from 0 where a question is asked several times.
    """

    key: str
    question_id: str
    task: str
    prompt: str
    text: str
    finish_reason: str
    n_prompt_tokens: int | None = None
    n_new_tokens: int | None = None
    clip_notes: tuple[str, ...] = ()
    reasoning: str = ""
    budget_tokens: int | None = None
    latency_s: float | None = None
    repeat: int = 0


def answer_key(**inputs: Any) -> str:
    """Return 32 hex digits of everything that shapes an answer, order of the names aside."""
    return hashlib.sha256(json.dumps(inputs, sort_keys=True, default=str).encode()).hexdigest()[:32]


def question_key(
    identity: Mapping[str, Any],
    segments: Sequence[Mapping[str, Any]],
    frames: "FrameList",
    max_new_tokens: int,
    generation: int = 0,
) -> str:
    """Return the key of one question's answer by one model, whose ``identity`` is everything that shapes its answers.

    ``segments`` are rows as of `messages.to_record`. Clips count by their content, wherever they lie.
    ``generation``: see `next_generation`.
    """
    return answer_key(
        **identity,
        generation=generation,
        segments=segments,
        frames=[(request.sha256, request.spec.key()) for request in frames.requests],
        max_new_tokens=max_new_tokens,
    )


def journal_root() -> Path:
    """``EGOBENCH_JOURNAL``, else ``journal`` in the cache folder, or in the user's own where that is another's."""
    named = os.environ.get(JOURNAL_VARIABLE)
    return Path(named) if named else own_layer(cache_dir() / "journal")


def is_fresh(environ: Mapping[str, str] = os.environ) -> bool:
    """Whether this run is to ask everything anew (``--fresh``)."""
    return bool(environ.get(FRESH_VARIABLE))


def next_generation(identity: Mapping[str, Any], environ: Mapping[str, str] = os.environ) -> int:
    """Return the generation of answers that a run belongs to: the newest that one model has, 0 at first.

    Where ``EGOBENCH_FRESH`` is set it is a new one: the old answers stay where they are, and are not taken. Later runs
    without it go on with the new ones.
    """
    digest = answer_key(**identity)
    kept = [path.name.rpartition("-")[2] for path in journal_root().glob(f"{digest}-*")]
    newest = max((int(number) for number in kept if number.isdecimal()), default=0)
    begins = is_fresh(environ) and journal_folder(identity, newest).is_dir()
    return newest + 1 if begins else newest


def journal_folder(identity: Mapping[str, Any], generation: int) -> Path:
    """Return where one model's answers of one generation are kept."""
    digest = answer_key(**identity)
    return journal_root() / (f"{digest}-{generation}" if generation else digest)


class Journal:
    """A folder of append-only JSON lines, one file a process, so that none needs a lock.

    Several processes, machines or shards may write into one folder at once. ``session``, where it is given, says
    beside this process's answers what gave them.
    """

    def __init__(self, folder: Path, session: Session | None = None) -> None:
        self.folder = folder
        self.session = session
        self._stem = uuid.uuid4().hex
        self._file: BinaryIO | None = None
        self._read_bytes: dict[Path, int] = {}

    def answers(self) -> dict[str, Answer]:
        """Read all answers by key. A line that a kill cut short is left out: its question is asked again."""
        self._read_bytes = {}
        return self.news()

    def news(self) -> dict[str, Answer]:
        """Read the answers that have come since the last reading: other processes', and this one's own."""
        found: dict[str, Answer] = {}
        for path in sorted(self.folder.glob("*.jsonl")):
            text, self._read_bytes[path] = _read_from(path, self._read_bytes.get(path, 0))
            found |= {answer.key: answer for answer in _answers(text)}
        return found

    def by_session(self) -> dict[str, list[Answer]]:
        """Read all answers by the file that holds them, which is named as its session's (see `sessions`)."""
        return {path.stem: list(_answers(_read_from(path, 0)[0])) for path in sorted(self.folder.glob("*.jsonl"))}

    def note_session(self) -> None:
        """Write down what gives this process's answers, before the first of them; once is enough."""
        if self.session is not None:
            make_private_folder(self.folder)
            write_session(self.folder, self._stem, self.session)

    def append(self, answer: Answer) -> None:
        """Write one answer and return once it is on disk."""
        if self._file is None:
            make_private_folder(self.folder)
            self.note_session()
            self._file = create_private(self.folder / f"{self._stem}.jsonl")
        self._file.write((json.dumps(asdict(answer), ensure_ascii=False) + "\n").encode("utf-8", "replace"))
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file this process writes; appending again opens a new one."""
        if self._file is not None:
            self._file.close()
            self._file = None
            self._stem = uuid.uuid4().hex


_TYPES: Mapping[str, tuple[type, ...]] = {
    **dict.fromkeys(("key", "question_id", "task", "prompt", "text", "finish_reason", "reasoning"), (str,)),
    **dict.fromkeys(("n_prompt_tokens", "n_new_tokens", "budget_tokens"), (int, type(None))),
    "clip_notes": (list, type(None)),
    "latency_s": (int, float, type(None)),
    "repeat": (int,),
}
assert set(_TYPES) == {field.name for field in fields(Answer)}  # an answer with a field unknown here would be lost
_NO_COUNT = 2**53
_REQUIRED = frozenset(field.name for field in fields(Answer) if field.default is dataclasses.MISSING)


def _read_from(path: Path, start: int) -> tuple[str, int]:
    """Text beyond what was read before, and where whole lines end: a last one without its end may still be growing."""
    if not path.is_file() or path.stat().st_size <= start:  # a pipe of that name would be waited for without end
        return "", start
    with path.open("rb") as file:
        file.seek(start)
        data = file.read()
    return data.decode("utf-8", "replace"), start + data.rfind(b"\n") + 1


def _answers(text: str) -> Iterator[Answer]:
    # not splitlines(): a model may write U+2028 or other line ends that JSON leaves as they are
    for line in text.split("\n"):
        answer = _read(line)
        if answer is not None:
            yield answer


def _is_plausible(value: object) -> bool:
    """Whether a number is a count or a time; others would end a run where its results are added up and saved."""
    if isinstance(value, bool):
        return False
    return not isinstance(value, int | float) or 0 <= value < _NO_COUNT


def _read(line: str) -> Answer | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, Mapping) or not _REQUIRED <= set(record) <= set(_TYPES):
        return None
    if not all(isinstance(value, _TYPES[name]) and _is_plausible(value) for name, value in record.items()):
        return None
    texts = {name: well_formed(value) for name, value in record.items() if isinstance(value, str)}
    notes = tuple(str(note) for note in record.get("clip_notes") or ())
    return Answer(**{**record, **texts, "clip_notes": notes})
