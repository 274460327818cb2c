"""Which clips show footage of one recording: found by their pictures, where names are concealed and clips cut anew.

Equal bytes say little of clips that were cut for each question. Two clips that overlap hold near-equal frames at one
offset in time: several such frames make them of one recording. What is found is kept as a table beside the store.
A model's own frames are too far apart for this: on footage from a bicycle two clips' frames that are 0.25 s apart
differ in 7 of 64 bits in the median, at 0.5 s in 14, and beyond as two pictures of anything do.
"""

import hashlib
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from tqdm import tqdm

from egobench_tasks.cache import cache_dir
from egobench_tasks.documents import parse_json
from egobench_tasks.errors import InputError
from egobench_tasks.files import write_atomically
from egobench_tasks.frames.lazy import FrameRequest
from egobench_tasks.frames.spec import FrameSpec, Sampling
from egobench_tasks.frames.store import FrameStore

SPEC = FrameSpec(sampling=Sampling.RATE, rate_fps=2.0, max_width_px=64)
"""Two small frames a second: the nearest of two clips are a quarter of a second apart at most."""
MAX_BITS = 9
"""Frames are near-equal whose hashes differ in at most this many of 64 bits."""
MIN_FRAMES = 3
"""So many near-equal frames at one offset make two clips of one recording."""
_OFFSET_S = 2.0
"""Offsets that differ by less are one."""
_MIN_CONTRAST = 6.0
"""Grey levels of standard deviation: a frame with less (a dark street, a wall) looks like any other."""
_GRID = 8
_CHUNK = 256
_SCHEMA = 1
_NOTHING_NAMED: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class ClipHashes:
    """A clip's frames as 64-bit hashes with their times in seconds from its start; frames without contrast left out."""

    sha256: str
    times_s: tuple[float, ...]
    hashes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Footage:
    """Each clip's recording, named by the first of its clips' digests; ``pairs``: the clips that overlap."""

    recordings: Mapping[str, str]
    pairs: tuple[tuple[str, str], ...]

    def of(self, digests: Iterable[str]) -> "Footage":
        """Return what was found of some clips alone; recordings keep their names, whatever clips those are of."""
        here = set(digests)
        pairs = tuple(pair for pair in self.pairs if here.issuperset(pair))
        return Footage({digest: self.recordings[digest] for digest in self.recordings if digest in here}, pairs)


def frame_hash(jpeg: bytes) -> int | None:
    """Return a frame's difference hash: for 8x8 places, whether it is brighter than its right neighbour.

    None for a frame with too little contrast to tell it from others.
    """
    with Image.open(io.BytesIO(jpeg)) as image:
        image.draft("L", (16 * _GRID, 16 * _GRID))
        small = np.asarray(image.convert("L").resize((_GRID + 1, _GRID), Image.Resampling.BOX), dtype=np.int16)
    if float(small.std()) < _MIN_CONTRAST:
        return None
    return int.from_bytes(np.packbits(small[:, 1:] > small[:, :-1]).tobytes(), "big")


def hash_clips(requests: Iterable[FrameRequest], store: FrameStore) -> list[ClipHashes]:
    """Return the hashes of every clip once, of the frames in the store; what it lacks is decoded (see `fill_store`).

    Raises ``ClipError`` for a clip that does not decode.
    """
    found = []
    for request in tqdm({request.sha256: request for request in requests}.values(), desc="hashes", unit="clip"):
        clip = store.get(request.path, request.sha256, request.spec)
        hashed = [(time_s, frame_hash(jpeg)) for time_s, jpeg in zip(clip.times_s, clip.jpegs, strict=True)]
        kept = [(time_s, number) for time_s, number in hashed if number is not None]
        found.append(ClipHashes(request.sha256, tuple(t for t, _ in kept), tuple(number for _, number in kept)))
    return found


def find_footage(clips: Sequence[ClipHashes], named: Mapping[str, str] = _NOTHING_NAMED) -> Footage:
    """Compare all frames of all clips and join the clips that overlap, directly or through others.

    ``named``: by digest the recording that a clip is known to be of; clips of one are joined too.
    """
    pairs = tuple(sorted(_overlapping(clips)))
    leader = {clip.sha256: clip.sha256 for clip in clips}

    def first_of(digest: str) -> str:
        while leader[digest] != digest:
            digest = leader[digest]
        return digest

    firsts: dict[str, str] = {}
    of_one_name = [(digest, firsts.setdefault(name, digest)) for digest, name in named.items() if digest in leader]
    for one, other in (*pairs, *of_one_name):
        low, high = sorted((first_of(one), first_of(other)))
        leader[high] = low
    return Footage({digest: first_of(digest) for digest in leader}, pairs)


def _overlapping(clips: Sequence[ClipHashes]) -> Iterator[tuple[str, str]]:
    hashes = np.array([number for clip in clips for number in clip.hashes], dtype=np.uint64)
    of_clip = np.repeat(np.arange(len(clips)), [len(clip.hashes) for clip in clips])
    times_s = np.array([time_s for clip in clips for time_s in clip.times_s])
    matches: dict[tuple[int, int], list[tuple[float, int, int]]] = {}
    for start in tqdm(range(0, len(hashes), _CHUNK), desc="comparing", unit=f"x{_CHUNK} frames"):
        for row, column in _near(hashes, start):
            key = (int(of_clip[row]), int(of_clip[column]))
            if key[0] != key[1]:
                matches.setdefault(key, []).append((float(times_s[row] - times_s[column]), row, column))
    for (one, other), found in matches.items():
        if _most_at_one_offset(found) >= MIN_FRAMES:
            first, second = sorted((clips[one].sha256, clips[other].sha256))
            yield first, second


def _near(hashes: NDArray[np.uint64], start: int) -> Iterator[tuple[int, int]]:
    """Near-equal frames, each pair once: the first from the chunk that begins at ``start``, the second after it."""
    chunk = hashes[start : start + _CHUNK]
    differing = np.bitwise_count(chunk[:, None] ^ hashes[None, start:])
    for row, column in np.argwhere(differing <= MAX_BITS):
        if column > row:
            yield start + int(row), start + int(column)


def _most_at_one_offset(found: Sequence[tuple[float, int, int]]) -> int:
    """How many frames of either clip match at about one offset in time, at most; frames in order have one offset."""
    ordered, most = sorted(found), 0
    for index, (offset_s, _, _) in enumerate(ordered):
        near = [(row, column) for other, row, column in ordered[index:] if other - offset_s < _OFFSET_S]
        most = max(most, min(len({row for row, _ in near}), len({column for _, column in near})))
    return most


def footage_path(digests: Iterable[str], root: Path | None = None) -> Path:
    """Return where the table of these clips lies: beside the store, named by all of their digests."""
    name = hashlib.sha256("\n".join(sorted(set(digests))).encode()).hexdigest()[:16]
    return (cache_dir() if root is None else root) / "footage" / f"{name}.json"


def write_footage(path: Path, footage: Footage) -> None:
    """Write the table, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {"schema": _SCHEMA, "max_bits": MAX_BITS, "recordings": dict(footage.recordings), "pairs": footage.pairs}
    with write_atomically(path) as file:
        file.write((json.dumps(content, indent=1) + "\n").encode())


def read_footage(path: Path) -> dict[str, str]:
    """Return each clip's recording; empty where there is no table. Raises ``InputError`` for one that is none."""
    if not path.is_file():
        return {}
    try:
        content = parse_json(path.read_text(encoding="utf-8"))
        if content["schema"] != _SCHEMA:
            raise ValueError(f"schema {content['schema']}")
        return {str(digest): str(recording) for digest, recording in content["recordings"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path}: is no table of footage ({error}); run `egobench overlaps` again") from error
