"""A folder of reviews: a log a reviewer, ``r1.jsonl``; reading them all, and the others' as they grow."""

from collections.abc import Mapping
from pathlib import Path

from egobench_tasks.errors import InputError
from egobench_tasks.making.ids import check_id
from egobench_tasks.making.log import SUFFIX, Log, read_log
from egobench_tasks.making.review.decision import Said, from_record
from egobench_tasks.making.review.state import Opinions, replay


def log_path(folder: Path, reviewer: str) -> Path:
    """Return where a reviewer's log lies."""
    return folder / f"{reviewer}{SUFFIX}"


def said_in(log: Log, path: Path) -> list[Said]:
    """Return what a reviewer's log says. Raises ``InputError`` for records of another form, or of another reviewer."""
    said = [from_record(record, str(path)) for record in log.records]
    for one in said:
        if one.reviewer != path.stem:
            raise InputError(f"{path}: holds what {one.reviewer} said; a file is named by its reviewer, rename it")
    return said


def read_reviews(folder: Path) -> dict[str, Opinions]:
    """Return the opinions of every reviewer in a folder, by id.

    Raises ``InputError`` for a folder without a review, a file that is not named by an id, and a damaged log.
    """
    reviews = Reviews(folder).read()
    if not reviews:
        raise InputError(f"{folder}: holds no review (r1{SUFFIX}); give the folder that `egobench review` wrote into")
    return dict(reviews)


class Reviews:
    """The reviews of a folder, each read again only where its file has grown."""

    def __init__(self, folder: Path, besides: str = "") -> None:
        self._folder, self._besides = folder, besides
        self._read: dict[Path, tuple[int, Opinions]] = {}

    def read(self) -> Mapping[str, Opinions]:
        """Return all opinions by reviewer, in the order of ids, but for the reviewer ``besides``.

        Raises ``InputError`` as `read_reviews`.
        """
        found: dict[str, Opinions] = {}
        for path in sorted(self._folder.glob(f"[!.]*{SUFFIX}")):
            reviewer = check_id(path.stem, str(path))
            if reviewer != self._besides:
                found[reviewer] = self._opinions(path)
        return found

    def _opinions(self, path: Path) -> Opinions:
        size_bytes = path.stat().st_size
        known = self._read.get(path)
        if known is None or known[0] != size_bytes:
            known = self._read[path] = size_bytes, replay(said_in(read_log(path), path))
        return known[1]
