"""A folder of decoded frames, shared by processes, runs and colleagues: each clip is decoded once.

One file a clip and spec, named by the clip's content, the spec and libavcodec's version (whose JPEGs
differ). A file appears whole or not at all; locks are the operating system's, so a killed process
holds none.
"""

import contextlib
import hashlib
import itertools
import json
import os
import time
import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from PIL import features

from egobench_tasks.cache import cache_dir, own_layer
from egobench_tasks.files import make_folder, write_atomically
from egobench_tasks.frames.clip_file import open_clip, unlike_a_clip
from egobench_tasks.frames.decode import decode_jpegs, decoder_version
from egobench_tasks.frames.errors import ClipError
from egobench_tasks.frames.spec import FrameSpec, Jpeg
from egobench_tasks.locks import exclusive, try_exclusive

DEFAULT_MAX_BYTES = 50 * 10**9

_MAGIC = b"egobench frames 1\n"
_HEADER_SIZE_BYTES = 8
_MAX_HEADER_BYTES = 2**26
_SUFFIX = ".frames"
_LOCKS = 1024
_ABANDONED_AFTER_S = 24 * 3600


@dataclass(frozen=True, slots=True)
class StoredClip:
    """The frames of a clip as JPEG files, in the order they are shown.

    ``times_s``: seconds from the clip's (or window's) start, one a frame. ``asked``: how many frames the
    spec asked for. ``damage``: what is broken in the clip, if the spec allows that. ``libavcodec``: the
    version that decoded and encoded them.
    """

    jpegs: tuple[bytes, ...]
    times_s: tuple[float, ...]
    asked: int
    damage: str | None
    libavcodec: str

    @property
    def complete(self) -> bool:
        """Whether the clip was whole as far as its frames were needed."""
        return self.damage is None


class FrameStore:
    """The store at ``root``: ``EGOBENCH_CACHE``, or the user's cache folder where that is not set.

    ``max_bytes``: when a new clip makes the store larger, the clips not used for longest go.
    """

    def __init__(self, root: Path | None = None, max_bytes: int = DEFAULT_MAX_BYTES) -> None:
        self.root = cache_dir() if root is None else Path(root)
        self.max_bytes = max_bytes

    def get(self, path: str, sha256: str, spec: FrameSpec) -> StoredClip:
        """Return a clip's frames, decoded and stored first where they are missing.

        ``sha256`` is of the clip's bytes, as the dataset has it; they are checked when they are decoded. Only one
        process decodes; others that ask for the same wait. Raises ``ClipError`` as `decode_jpegs`, and where
        the clip's bytes are others.
        """
        entry = self._entry(sha256, spec)
        found = _read(entry, sha256, spec)
        if found is not None:
            return found
        layer = own_layer(self.root)
        if layer != self.root:  # another's cache, to be read: what it lacks lies in one of this user's own
            return FrameStore(layer, self.max_bytes).get(path, sha256, spec)
        make_folder(entry.parent)
        with self._lock(entry):
            found = _read(entry, sha256, spec)  # another process may have finished while this one waited
            if found is None:
                check_digest(path, sha256)
                found = _decode(path, spec)
                with write_atomically(entry) as file:
                    file.writelines(_serialise(found, sha256, spec))
                self._prune()
        return found

    def held(self, sha256: str, spec: FrameSpec) -> StoredClip | None:
        """Return a clip's frames where they are there already, None where they would have to be decoded."""
        layer = own_layer(self.root)
        found = _read(self._entry(sha256, spec), sha256, spec)
        return found if found is not None or layer == self.root else FrameStore(layer).held(sha256, spec)

    def holds(self, sha256: str, spec: FrameSpec) -> bool:
        """Return whether a clip's frames are there already: by its entry's header, the frames are not read."""
        try:
            with self._entry(sha256, spec).open("rb") as file:
                if _is_of(_read_header(file), sha256, spec):
                    return True
        except (OSError, ValueError):
            pass
        layer = own_layer(self.root)
        return layer != self.root and FrameStore(layer).holds(sha256, spec)

    def _entry(self, sha256: str, spec: FrameSpec) -> Path:
        if len(sha256) != 64 or not set(sha256) <= set("0123456789abcdef"):
            raise ValueError(f"sha256 must be 64 lower-case hex digits, got {sha256!r}")
        variant = hashlib.sha256(f"{spec.key()}\n{_versions(spec)}".encode()).hexdigest()[:16]
        return self.root / "frames" / sha256[:2] / f"{sha256}-{variant}{_SUFFIX}"

    def _lock(self, entry: Path) -> AbstractContextManager[None]:
        """The lock for an entry; a fixed number of them, so that lock files do not pile up."""
        number = int(hashlib.sha256(entry.name.encode()).hexdigest(), 16) % _LOCKS
        return exclusive(self._lock_path(f"{number:04d}"))

    def _lock_path(self, name: str) -> Path:
        folder = self.root / "locks"
        make_folder(folder)
        return folder / f"{name}.lock"

    def _prune(self) -> None:
        """Remove the entries not used for longest until the store fits; what killed writers left goes, too."""
        with try_exclusive(self._lock_path("prune")) as is_ours:  # else another process is at it
            for path in _surplus(list(_files(self.root / "frames")), self.max_bytes, time.time()) if is_ours else ():
                path.unlink(missing_ok=True)


def check_digest(path: str, sha256: str) -> None:
    """Raise ``ClipError`` naming both digests where a clip's bytes are not those of ``sha256``."""
    with open_clip(path) as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != sha256:
            what = unlike_a_clip(file) or "is another clip than the dataset names: fetch it again"
            raise ClipError(path, f"{what}. Its SHA-256 is {found}, the dataset's {sha256}")


def _decode(path: str, spec: FrameSpec) -> StoredClip:
    clip = decode_jpegs(path, spec)
    return StoredClip(clip.frames, clip.times_s, clip.asked, clip.damage, decoder_version())


def _versions(spec: FrameSpec) -> str:
    """The versions of what decodes, and of what encodes: with another, JPEG files differ."""
    encoder = f", libjpeg {features.version('libjpeg_turbo')}" if spec.jpeg is Jpeg.LIBJPEG_95 else ""
    return decoder_version() + encoder


def _serialise(clip: StoredClip, sha256: str, spec: FrameSpec) -> list[bytes]:
    header = json.dumps(
        {
            "sha256": sha256,
            "spec": spec.key(),
            "libavcodec": clip.libavcodec,
            "asked": clip.asked,
            "damage": clip.damage,
            "times_s": clip.times_s,
            "sizes": [len(jpeg) for jpeg in clip.jpegs],
            "crc32": zlib.crc32(b"".join(clip.jpegs)),
        }
    ).encode()
    return [_MAGIC, len(header).to_bytes(_HEADER_SIZE_BYTES, "big"), header, *clip.jpegs]


def _read(entry: Path, sha256: str, spec: FrameSpec) -> StoredClip | None:
    """Return the entry's clip; None where there is none, one of something else, or one that something has harmed."""
    try:
        with entry.open("rb") as file:
            header, body = _read_header(file), file.read()
        with contextlib.suppress(OSError):  # a store may be read-only
            os.utime(entry)  # used just now: pruned last
        ends = list(itertools.accumulate(header["sizes"], initial=0))
        if not _is_of(header, sha256, spec) or ends[-1] != len(body) or header["crc32"] != zlib.crc32(body):
            return None
        jpegs = tuple(body[start:end] for start, end in itertools.pairwise(ends))
        return StoredClip(jpegs, tuple(header["times_s"]), header["asked"], header["damage"], header["libavcodec"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _read_header(file: BinaryIO) -> dict[str, Any]:
    """Return what an entry says of itself. Raises ``ValueError`` where it says nothing that can be read."""
    if file.read(len(_MAGIC)) != _MAGIC:
        raise ValueError("no entry of a store")
    size_bytes = int.from_bytes(file.read(_HEADER_SIZE_BYTES), "big")
    if size_bytes > _MAX_HEADER_BYTES:
        raise ValueError("a header that is no header")
    header = json.loads(file.read(size_bytes))
    if not isinstance(header, dict):
        raise ValueError("a header that is no header")
    return header


def _is_of(header: dict[str, Any], sha256: str, spec: FrameSpec) -> bool:
    """Whether an entry holds what is asked for: its name may have been given to another's copy."""
    return header.get("sha256") == sha256 and header.get("spec") == spec.key()


def _files(folder: Path) -> Iterator[tuple[os.stat_result, Path]]:
    for path in folder.glob("*/*"):
        with contextlib.suppress(FileNotFoundError):  # another process may remove it meanwhile
            yield path.stat(), path


def _surplus(files: list[tuple[os.stat_result, Path]], max_bytes: int, now_s: float) -> list[Path]:
    """Return what to remove: entries beyond ``max_bytes``, newest kept (one at least), and old temporary files."""
    surplus, kept_bytes = [], 0
    for stat, path in sorted(files, key=lambda item: (-item[0].st_mtime_ns, item[1].name)):
        if path.suffix != _SUFFIX:
            if now_s - stat.st_mtime > _ABANDONED_AFTER_S:
                surplus.append(path)
        elif kept_bytes and kept_bytes + stat.st_size > max_bytes:
            surplus.append(path)
        else:
            kept_bytes += stat.st_size
    return surplus
