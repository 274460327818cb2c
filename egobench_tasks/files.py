"""Writing and hashing files so that nothing half written is ever found under its final name."""

import hashlib
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def write_atomically(path: Path) -> Iterator[BinaryIO]:
    """Open a temporary file beside ``path``; on success sync it and rename it to ``path``.

    On an exception, or a kill, ``path`` stays as it was.
    """
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")
    try:
        with temporary.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, as 64 hex digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
