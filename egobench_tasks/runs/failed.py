"""Questions whose requests have failed, so that another run begins where nothing has been asked yet."""

from pathlib import Path

from egobench_tasks.files import create_private


class FailedBefore:
    """The keys of a journal's questions that failed, in a file of one key a line. Kept through later answers."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "failed.txt"

    def keys(self) -> frozenset[str]:
        """Return all keys so far."""
        if not self._path.is_file():
            return frozenset()
        return frozenset(self._path.read_text(encoding="utf-8", errors="replace").split())

    def append(self, key: str) -> None:
        """Add a key. A line so short is written at once or not at all."""
        with self._path.open("a", encoding="utf-8") as file:
            file.write(f"{key}\n")

    def touch(self) -> None:
        """Make the file where it is not there, as any later `append` would find it. Raises ``OSError``."""
        try:
            create_private(self._path).close()
        except FileExistsError:
            self._path.open("a", encoding="utf-8").close()
