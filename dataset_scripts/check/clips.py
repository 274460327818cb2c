"""Rules on clips: the bytes are those that the metadata promises, and the Hub's viewer can read their headers."""

from collections.abc import Iterator
from pathlib import Path

from tqdm import tqdm

from dataset_scripts.check.finding import Finding, error, warning
from dataset_scripts.check.input import DatasetFolder, Table
from dataset_scripts.repository.clips import ClipFacts, ClipSource, check_clip
from egobench_tasks.errors import InputError

_DURATION_TOLERANCE_S = 0.001


def clip_findings(folder: DatasetFolder) -> Iterator[Finding]:
    """Hash and probe every clip that is named (`clips.check_clip`), and compare with what the rows say."""
    files = set(folder.files)
    for table in folder.tables:
        facts: dict[str, ClipFacts] = {}
        promises = [promise for index in range(len(table.rows)) for promise in _promises(table, index)]
        names = list(dict.fromkeys(name for _, name, _, _ in promises))
        for name in tqdm(names, desc=f"checking clips of {table.name}", unit="clip", disable=None):
            where = f"{table.name}/{name}"
            if where not in files:
                continue  # `files` says so
            path = folder.root / where
            try:
                facts[name] = check_clip(ClipSource(path))
            except InputError as problem:
                yield error("clip-broken", where, str(problem).removeprefix(f"{path}: "))
                continue
            if not has_faststart(path):
                yield warning("clip-faststart", where, "its header is at the end; cut or remux it with faststart")
        for index, name, sha256, duration_s in promises:
            if name in facts:
                yield from _broken_promises(table.where(index), name, facts[name], sha256, duration_s)


def has_faststart(path: Path) -> bool:
    """Whether an MP4 file's header (box ``moov``) comes before its pictures (``mdat``).

    Only then can a reader over the network show the first frames without the whole file.
    """
    with path.open("rb") as file:
        while len(head := file.read(8)) == 8:
            size, kind = int.from_bytes(head[:4], "big"), head[4:]
            if kind in (b"moov", b"mdat"):
                return kind == b"moov"
            if size == 1:
                size = int.from_bytes(file.read(8), "big") - 8
            if size < 8:
                return False
            file.seek(size - 8, 1)
    return False


def _promises(table: Table, index: int) -> Iterator[tuple[int, str, str | None, float | None]]:
    """Yield (row, clip, its SHA-256, its duration in seconds) as the row has them."""
    row = table.rows[index]
    if row.get("file_names"):
        columns = (row.get("clip_sha256") or (), row.get("clip_duration_s") or ())
        for name, sha256, duration_s in zip(row["file_names"], *columns, strict=False):  # `rows` on lengths
            yield index, name, sha256, duration_s
    elif row.get("file_name"):
        yield index, row["file_name"], row.get("sha256"), row.get("duration_s")


def _broken_promises(
    where: str, name: str, facts: ClipFacts, sha256: str | None, duration_s: float | None
) -> Iterator[Finding]:
    if sha256 != facts.sha256:
        yield error("clip-checksum", where, f"{name} has SHA-256 {facts.sha256}, the row says {sha256}")
    if duration_s is None or abs(duration_s - facts.duration_s) > _DURATION_TOLERANCE_S:
        yield error("clip-duration", where, f"{name} lasts {facts.duration_s:.3f} s, the row says {duration_s}")
