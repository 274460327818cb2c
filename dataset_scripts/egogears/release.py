"""Where things lie in EgoGears' raw release (PROTOCOL 1.1): question files, clips in folders or tars, checksums."""

import csv
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from dataset_scripts.egogears.rows import is_inner_path
from dataset_scripts.repository.clips import ClipSource
from egobench_tasks.documents import parse_json
from egobench_tasks.errors import InputError

SINGLE_FOLDER = Path("single_video_567")
MULTI_FILE = Path("v2/runningbench_v2_kept.jsonl")
BUNDLES_FOLDER = Path("annotation_bundles")
_SINGLE_NAME = "single_567_human_eval.jsonl"
_SINGLE_PLACES = (
    SINGLE_FOLDER / "data" / _SINGLE_NAME,
    SINGLE_FOLDER / "human_answer_repair_567" / _SINGLE_NAME,
    Path("human_answer_repair_567") / _SINGLE_NAME,
)
_CHECKSUMS = SINGLE_FOLDER / "data" / "video_sha256.csv"
_MANIFEST = SINGLE_FOLDER / "data" / "source_manifest.json"
_PATH_COLUMN, _SHA256_COLUMN = 1, 3  # id, path, bytes, sha256


def single_questions(source: Path) -> Path:
    """Return the single-video question file. Raises ``InputError`` listing the places looked at."""
    return _first_file(source, _SINGLE_PLACES, "multi")


def multi_questions(source: Path) -> Path:
    """Return the multi-video question file. Raises ``InputError`` naming the place looked at."""
    return _first_file(source, (MULTI_FILE,), "single")


def _first_file(source: Path, places: Iterable[Path], other: str) -> Path:
    if not source.is_dir():
        raise InputError(f"{source}: no such folder; give the folder that holds {SINGLE_FOLDER}/ and v2/")
    for place in places:
        if (source / place).is_file():
            return source / place
    looked_at = " or ".join(str(place) for place in places)
    raise InputError(f"{source}: holds no {looked_at}; fetch it, or build the other split alone with --only {other}")


def splits_in(folder: Path) -> tuple[Literal["single", "multi"], ...]:
    """Return the splits whose question files a folder holds in the raw release's places; () where it is no release."""
    splits: list[Literal["single", "multi"]] = []
    if any((folder / place).is_file() for place in _SINGLE_PLACES):
        splits.append("single")
    if (folder / MULTI_FILE).is_file():
        splits.append("multi")
    return tuple(splits)


def single_clip(source: Path, media_file: str) -> ClipSource | None:
    """Return a single question's clip, or None where the release lacks it."""
    path = source / SINGLE_FOLDER / media_file
    return ClipSource(path) if path.is_file() else None


def read_checksums(source: Path) -> Mapping[str, str] | None:
    """Return ``{media_file: sha256}`` of the single-video clips, or None where the release has no such file.

    Raises ``InputError`` naming file and line for a row that is not ``id, path, bytes, sha256``.
    """
    path = source / _CHECKSUMS
    if not path.is_file():
        return None
    checksums: dict[str, str] = {}
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file)
        next(reader, None)
        for row in reader:
            if row:
                name, digest = _checksum(row, f"{path}: line {reader.line_num}")
                checksums[name] = digest
    return checksums


def _checksum(row: list[str], where: str) -> tuple[str, str]:
    digest = row[_SHA256_COLUMN].strip().lower() if len(row) > _SHA256_COLUMN else ""
    if len(digest) != 64 or not set(digest) <= set("0123456789abcdef"):
        raise InputError(f"{where}: column 4 is no SHA-256; fetch the file again")
    return PurePosixPath(row[_PATH_COLUMN].strip()).as_posix(), digest


@dataclass(frozen=True, slots=True)
class SourceManifest:
    """What the release says of its single-video questions; None where it does not."""

    questions: int | None
    answer_counts: Mapping[int, int] | None


def read_source_manifest(source: Path) -> SourceManifest:
    """Read ``source_manifest.json``. Raises ``InputError`` for broken JSON; an absent file says nothing."""
    path = source / _MANIFEST
    if not path.is_file():
        return SourceManifest(None, None)
    try:
        manifest = parse_json(path.read_text(encoding="utf-8-sig"))
        if not isinstance(manifest, dict):
            raise ValueError("not a JSON object")
        return SourceManifest(manifest.get("questions"), _answer_counts(manifest.get("answer_count_distribution")))
    except (ValueError, AttributeError) as error:
        raise InputError(f"{path}: cannot be read ({error}); fetch it again") from error


def _answer_counts(distribution: Any) -> Mapping[int, int] | None:
    return None if distribution is None else {int(count): int(rows) for count, rows in distribution.items()}


class Bundles:
    """The clips of multi questions, in unpacked bundle folders or in tar files; both may stand together."""

    def __init__(self, source: Path) -> None:
        self._folder = source / BUNDLES_FOLDER
        self._members: dict[str, Mapping[str, ClipSource]] = {}

    def clip(self, bundle: str, path: str) -> ClipSource | None:
        """Return a clip by its path within a bundle, or None where neither the folder nor the tar holds it.

        Raises ``InputError`` for a tar that is cut off, compressed, or holds a member that is a link or leaves its
        folder.
        """
        unpacked = self._folder / bundle / path
        if unpacked.is_file():
            return ClipSource(unpacked)
        if bundle not in self._members:
            tar = self._folder / f"{bundle}.tar"
            self._members[bundle] = index_tar(tar) if tar.is_file() else {}
        return self._members[bundle].get(f"{bundle}/{path}")


def index_tar(path: Path) -> Mapping[str, ClipSource]:
    """Return where each file of an uncompressed tar lies, without unpacking it.

    A member given twice counts as its last version, as in unpacking. Raises ``InputError`` naming tar and member.
    """
    try:
        with tarfile.open(path, "r:") as tar:
            members = dict(_members(tar, path))
            _check_end(tar, path)
            return members
    except tarfile.TarError as error:
        raise InputError(f"{path}: not a whole, uncompressed tar file ({error}); fetch it again") from error


def _check_end(tar: tarfile.TarFile, path: Path) -> None:
    """Refuse a tar without its end marker: `tarfile` takes a cut or broken header for the end without a word."""
    with path.open("rb") as file:
        file.seek(tar.offset)
        if file.read(tarfile.BLOCKSIZE) != bytes(tarfile.BLOCKSIZE):
            raise InputError(f"{path}: cut off or damaged at byte {tar.offset}; fetch it again")


def _members(tar: tarfile.TarFile, path: Path) -> Iterator[tuple[str, ClipSource]]:
    size_bytes = path.stat().st_size
    for member in tar:
        if not is_inner_path(member.name):
            raise InputError(f"{path}: member {member.name!r} leaves its folder; do not unpack it, fetch the tar again")
        if member.isdir():
            continue
        if not member.isreg() or member.issparse():
            raise InputError(f"{path}: member {member.name!r} is a link or no plain file; fetch the tar again")
        if member.offset_data + member.size > size_bytes:
            raise InputError(f"{path}: cut off within member {member.name!r}; fetch it again")
        name = PurePosixPath(member.name).as_posix()
        yield name, ClipSource(path, member.offset_data, member.size, name)
