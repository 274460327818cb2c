"""`egobench review`: read what was decided before, hold the reviewer's file, serve the page."""

import sys
from collections.abc import Sequence
from pathlib import Path

from egobench_tasks.browse.listen import check_gradio
from egobench_tasks.browse.load import load_library
from egobench_tasks.data import DatasetLocation, pin
from egobench_tasks.making.audit.finding import Finding, read_findings
from egobench_tasks.making.ids import check_id
from egobench_tasks.making.log import LogFile
from egobench_tasks.making.review.contents import load_contents
from egobench_tasks.making.review.folder import Reviews, log_path, said_in
from egobench_tasks.making.review.outcome import check_same_questions
from egobench_tasks.making.review.state import replay


def review(
    location: DatasetLocation,
    reviewer: str,
    folder: Path,
    *,
    findings: Path | None = None,
    blind: bool = False,
    host: str = "127.0.0.1",
    port: int = 7860,
) -> None:
    """Serve one reviewer's page until interrupted; every decision is on disk before the page says so.

    ``folder`` holds a log a reviewer. ``findings``: an audit's, whose questions come first. Raises ``InputError`` for
    an id that is none, a damaged log, reviews of other questions, a page of the same reviewer that is open already, and
    as `browse.launch.launch`.
    """
    check_id(reviewer, "--reviewer")
    check_gradio("reviewing", "making")
    from egobench_tasks.making.pages.serve import serve
    from egobench_tasks.making.review.desk import ReviewDesk

    found: Sequence[Finding] = () if findings is None else read_findings(findings)
    others = Reviews(folder, besides=reviewer)
    location = pin(location)
    _, _, shown = load_contents(location)
    library = load_library(location, [])
    log = LogFile(log_path(folder, reviewer))
    with log.held() as kept:
        if kept.torn_bytes:
            print(
                f"{log.path}: its last line was cut short ({kept.torn_bytes} bytes); what it would have said was never "
                "shown as saved, and is left aside",
                file=sys.stderr,
            )
        said = said_in(kept, log.path)
        opinions = replay(said)
        check_same_questions(shown, {**others.read(), reviewer: opinions})
        desk = ReviewDesk(library, reviewer, log, opinions, others, found, blind=blind, said=said)
        print(f"{desk.n_decided} of {len(library.entries)} questions decided by {reviewer}; kept in {log.path}")
        serve(desk, library.video_folders, [""], host=host, port=port)
