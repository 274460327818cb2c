"""An append-only file of JSON lines, one person's: what is acknowledged is on disk, whenever the process is killed.

A kill, or a full disk, may leave the last line without its end. The fragment stays where it is; whoever appends next
ends it with a mark, ``#torn``. So a line that is no record is passed over where it has that mark, or is the last and
has no end; anywhere else the file is damaged, and nothing is read from it.
"""

import contextlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from egobench_tasks.documents import parse_json
from egobench_tasks.errors import InputError
from egobench_tasks.files import make_folder
from egobench_tasks.locks import try_exclusive

_TORN = b"#torn"
SUFFIX = ".jsonl"


@dataclass(frozen=True, slots=True)
class Log:
    """``records`` in the order written. ``torn_bytes``: of a last line that is cut short, 0 where it is whole."""

    records: tuple[Mapping[str, Any], ...]
    torn_bytes: int = 0


def parse_log(data: bytes, where: str) -> Log:
    """Read a log's bytes. Raises ``InputError`` naming ``where`` and the line that is neither whole nor torn."""
    *lines, rest = data.split(b"\n")
    records: list[Mapping[str, Any]] = []
    for number, line in enumerate(lines, start=1):
        record = _record(line)
        if record is not None:
            records.append(record)
        elif not line.endswith(_TORN):
            raise InputError(f"{where}: line {number} is damaged; restore the file from a copy, or mend the line")
    last = _record(rest)
    return Log((*records, last), 0) if last is not None else Log(tuple(records), len(rest))


def ending_of(data: bytes) -> bytes:
    """Return what is to be written before the next line, so that it starts a line: nothing, a line end, or the mark
    of a torn line and a line end."""
    rest = data.rpartition(b"\n")[2]
    if not rest:
        return b""
    return b"\n" if _record(rest) is not None else _TORN + b"\n"


def _record(line: bytes) -> Mapping[str, Any] | None:
    try:
        record = parse_json(line.decode("utf-8"))
    except ValueError:
        return None
    return record if isinstance(record, dict) else None


def _line(record: Mapping[str, Any]) -> bytes:
    return json.dumps(record, ensure_ascii=False, sort_keys=True).encode("utf-8", "replace") + b"\n"


def read_log(path: Path) -> Log:
    """Read a log; one that is not there is empty. Raises ``InputError`` for a damaged one."""
    try:
        return parse_log(path.read_bytes(), str(path))
    except FileNotFoundError:
        return Log(())


class LogFile:
    """A log open for appending, by one process at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @contextlib.contextmanager
    def held(self) -> Iterator[Log]:
        """Hold the file for as long as the block runs, and yield what it holds.

        Raises ``InputError`` where another process holds it, or it is damaged.
        """
        make_folder(self.path.parent)
        with try_exclusive(self.path.with_name(f".{self.path.name}.lock")) as ours:
            if not ours:
                raise InputError(f"{self.path}: a page for {self.path.stem} is open already; use it, or end it first")
            yield read_log(self.path)

    def append(self, record: Mapping[str, Any]) -> None:
        """Write one record and return once it is on disk. An ``OSError`` means that it is not to be relied on."""
        is_new = not self.path.exists()
        make_folder(self.path.parent)
        with self.path.open("ab+", buffering=0) as file:
            data = memoryview(self._ending(file) + _line(record))
            while data:
                data = data[file.write(data) :]
            os.fsync(file.fileno())
        if is_new:
            _sync_folder(self.path.parent)

    @staticmethod
    def _ending(file: Any) -> bytes:
        size = file.seek(0, os.SEEK_END)
        if not size:
            return b""
        file.seek(size - 1)
        if file.read(1) == b"\n":
            return b""
        file.seek(0)  # rare: after a kill, or a write that failed
        return ending_of(file.read())


def _sync_folder(folder: Path) -> None:
    """A new file's name is on disk only once its folder is."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
