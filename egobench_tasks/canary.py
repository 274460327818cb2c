"""Whether a text has seen the benchmarks: it then holds the GUID that stands beside their questions."""

from collections.abc import Iterable
from pathlib import Path

from egobench_tasks.benchmarks import BENCHMARKS, Benchmark
from egobench_tasks.errors import InputError

_CHUNK_BYTES = 1 << 20
# A canary's letters with hyphens, blanks or line ends between them, as text is wrapped and models write it.
_DROPPED = b"- \t\r\n"
_DIGITS = 32


def canaries_in(parts: Iterable[bytes]) -> list[Benchmark]:
    """Return the benchmarks whose canary stands in a text, given in parts; in any case, with or without hyphens."""
    wanted = {benchmark.canary.replace("-", "").encode(): benchmark for benchmark in BENCHMARKS}
    found: list[Benchmark] = []
    tail = b""
    for part in parts:
        text = tail + part.lower().translate(None, _DROPPED)
        found += [benchmark for digits, benchmark in wanted.items() if digits in text and benchmark not in found]
        tail = text[-(_DIGITS - 1) :]
    return found


def read_parts(path: Path) -> Iterable[bytes]:
    """Yield a file's bytes in parts. Raises ``InputError`` for one that cannot be read."""
    try:
        with path.open("rb") as file:
            while part := file.read(_CHUNK_BYTES):
                yield part
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error}); name files, or give the text itself") from error
