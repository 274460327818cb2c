"""Where a clip's bytes are, and what they are: hashing and probing without unpacking anything."""

import io
import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import astuple, dataclass
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

import av
from av.error import FFmpegError
from tqdm import tqdm

from egobench_tasks.errors import InputError
from egobench_tasks.frames.clip_file import CONTAINER_OPTIONS

_TAIL_TOLERANCE_S = 1.0
"""How much earlier than its track's length a clip's last packet may end: rounding and the last frame's duration."""


@dataclass(frozen=True, slots=True)
class ClipSource:
    """The bytes of one clip: a whole file, or a stretch of an uncompressed tar file.

    ``offset`` and ``size_bytes`` are bytes within ``path``; ``size_bytes`` None means the whole file. ``member`` is
    the tar member's name, for messages.
    """

    path: Path
    offset: int = 0
    size_bytes: int | None = None
    member: str | None = None

    def __str__(self) -> str:
        return str(self.path) if self.member is None else f"{self.path}: member {self.member}"

    @property
    def is_whole_file(self) -> bool:
        """Whether the clip is a file of its own, so that it can be linked."""
        return self.size_bytes is None

    def open(self) -> BinaryIO:
        """Open the clip's bytes for reading and seeking."""
        file = self.path.open("rb")
        if self.size_bytes is None:
            return file
        return io.BufferedReader(_Stretch(file, self.offset, self.size_bytes))


class _Stretch(io.RawIOBase):
    """A read-only view of ``size_bytes`` bytes of a file from ``offset`` on; closing it closes the file."""

    def __init__(self, file: BinaryIO, offset: int, size_bytes: int) -> None:
        super().__init__()
        self._file, self._offset, self._size, self._position = file, offset, size_bytes, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        self._position = max(0, base + offset)
        return self._position

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        wanted = max(0, min(len(buffer), self._size - self._position))
        self._file.seek(self._offset + self._position)
        data = self._file.read(wanted)
        buffer[: len(data)] = data
        self._position += len(data)
        return len(data)

    def close(self) -> None:
        self._file.close()
        super().close()


@dataclass(frozen=True, slots=True)
class ClipFacts:
    """What a clip's bytes are: SHA-256 (64 hex digits), size, and the container's duration in seconds."""

    sha256: str
    size_bytes: int
    duration_s: float


def check_clip(source: ClipSource) -> ClipFacts:
    """Hash and probe a clip.

    Checked: the file opens, has a video track and a duration, its first frame decodes, and all its packets are there
    (a download cut short loses the last ones). The frames between are not decoded: that would take hours for a
    release. Raises ``InputError`` naming the clip and what is wrong.
    """
    with source.open() as file:
        digest = sha256()
        while chunk := file.read(1 << 20):
            digest.update(chunk)
        size_bytes = file.tell()
        file.seek(0)
        try:
            duration_s = _probe(file)
        except (FFmpegError, OSError, ValueError, IndexError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise InputError(f"{source}: not a clip that decodes ({reason}); fetch it again") from error
    return ClipFacts(digest.hexdigest(), size_bytes, duration_s)


def _probe(file: BinaryIO) -> float:
    """Return the container's duration in seconds. Raises ``ValueError`` for what `check_clip` promises to find."""
    with av.open(file, mode="r", container_options=CONTAINER_OPTIONS) as container:
        if not container.streams.video:
            raise ValueError("no video track")
        if not container.duration or container.duration <= 0:
            raise ValueError("its length is not given")
        stream = container.streams.video[0]
        end_s = 0.0
        decoded = False
        for packet in container.demux(stream):
            if packet.is_corrupt:
                raise ValueError("a packet is cut off")
            if packet.pts is not None and packet.time_base is not None:
                end_s = max(end_s, float((packet.pts + (packet.duration or 0)) * packet.time_base))
            if not decoded:
                decoded = bool(packet.decode())
        if not decoded:
            raise ValueError("no frame decodes")
        if stream.duration is not None and stream.time_base is not None:
            length_s = float(((stream.start_time or 0) + stream.duration) * stream.time_base)
            if end_s < length_s - _TAIL_TOLERANCE_S:
                raise ValueError(f"its packets end at {end_s:.1f} of {length_s:.1f} s")
        return container.duration / av.time_base


@dataclass(frozen=True, slots=True)
class CheckedClips:
    """The facts of all clips, and how many an interrupted run had checked already."""

    facts: Mapping[ClipSource, ClipFacts]
    reused: int


def check_clips(sources: Iterable[ClipSource], journal: Path) -> CheckedClips:
    """Check clips one after the other, with a progress bar; a later call takes up where a killed one stopped.

    Every result goes to ``journal`` as it is found; an entry counts while the file's size and modification time are
    the same. The caller removes the journal once the build is complete. Raises ``InputError`` for the first clip
    that does not pass.
    """
    known = _read_journal(journal)
    facts: dict[ClipSource, ClipFacts] = {}
    reused = 0
    journal.parent.mkdir(parents=True, exist_ok=True)
    with journal.open("a", encoding="utf-8") as file:
        file.write("\n")  # ends a line that a kill tore
        for source in tqdm(list(dict.fromkeys(sources)), desc="checking clips", unit="clip", disable=None):
            key = _journal_key(source)
            if key in known:
                reused += 1
                facts[source] = known[key]
                continue
            facts[source] = check_clip(source)
            file.write(json.dumps([key, *astuple(facts[source])]) + "\n")
            file.flush()
    return CheckedClips(facts, reused)


def _journal_key(source: ClipSource) -> str:
    status = source.path.stat()
    return f"{source.path.resolve()}|{source.offset}|{source.size_bytes}|{status.st_size}|{status.st_mtime_ns}"


def _read_journal(journal: Path) -> Mapping[str, ClipFacts]:
    """Return the entries of a journal; a line that a kill tore is passed over."""
    known = {}
    if journal.is_file():
        for line in journal.read_text(encoding="utf-8").split("\n"):
            with suppress(ValueError, TypeError):
                key, sha256_, size_bytes, duration_s = json.loads(line)
                known[key] = ClipFacts(sha256_, size_bytes, duration_s)
    return known
