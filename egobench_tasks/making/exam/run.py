"""`egobench exam`: whose exam it is, what was answered before, the page, and the runs that come of it."""

import contextlib
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from egobench_tasks.browse.library import Library
from egobench_tasks.browse.listen import check_gradio
from egobench_tasks.browse.load import load_library
from egobench_tasks.data import DatasetLocation, pin
from egobench_tasks.errors import InputError
from egobench_tasks.making.exam.questions import load_questions
from egobench_tasks.making.exam.save import save_run
from egobench_tasks.making.exam.sitting import Shown, Sitting, Terms, from_record, replay, to_record
from egobench_tasks.making.ids import check_id
from egobench_tasks.making.log import SUFFIX, LogFile, read_log

if TYPE_CHECKING:
    from egobench_tasks.browse.question import QuestionPage
    from egobench_tasks.making.exam.desk import Candidate


def log_path(out: Path, participant: str) -> Path:
    """Return where a person's answers are kept as they come; their run is the folder of the same name."""
    return out / f"{participant}{SUFFIX}"


def exam(
    location: DatasetLocation,
    participants: Sequence[str],
    out: Path,
    terms: Terms,
    *,
    host: str = "127.0.0.1",
    port: int = 7860,
) -> list[Path]:
    """Serve an exam until everybody has handed in, or until interrupted; then save a run for each person.

    ``terms.dataset`` is filled in here. Returns the runs' folders. Raises ``InputError`` for an id that is none, other
    terms than a person's exam began with, a page that is open already, and as `browse.launch.launch`.
    """
    for participant in participants:
        check_id(participant, "--participant")
    check_gradio("an exam", "making")
    from egobench_tasks.making.exam.desk import Candidate, ExamDesk
    from egobench_tasks.making.pages.serve import serve

    location = pin(location)
    questions = load_questions(location)
    terms = replace(terms, dataset=questions.fingerprint)
    question_ids = questions.shown(terms)
    library = load_library(location, [])
    finished = threading.Event()
    with contextlib.ExitStack() as stack:
        candidates = [_candidate(out, one, terms, stack, Candidate) for one in participants]
        desk = ExamDesk(library, question_ids, candidates, finished.set, _frames_of(library, question_ids, terms))
        links = [f"?participant={participant}" for participant in participants]
        serve(desk, library.video_folders, links, host=host, port=port, finished=finished)
    return [path for participant in participants for path in save(location, participant, out)]


def save(location: DatasetLocation, participant: str, out: Path) -> list[Path]:
    """Save what a person has answered so far as a run in ``out``; nothing where they have answered nothing.

    Raises ``InputError`` where there is no exam of theirs, or it was over another dataset.
    """
    path = log_path(out, check_id(participant, "--participant"))
    sitting = sitting_in(path)
    if sitting.terms is None:
        raise InputError(f"{path}: no exam was begun there; give the folder that `egobench exam --out` named")
    location = pin(location)
    questions = load_questions(location)
    if questions.fingerprint != sitting.terms.dataset:
        raise InputError(f"{path}: is of another dataset than {location}; give the one that was asked")
    if not sitting.answers:
        return []
    return [save_run(location, questions, participant, sitting, out / participant)]


def sitting_in(path: Path) -> Sitting:
    """Return what a person's log holds. Raises ``InputError`` for one that is damaged, or of another form."""
    return replay(from_record(record, str(path)) for record in read_log(path).records)


def _candidate(
    out: Path, participant: str, terms: Terms, stack: contextlib.ExitStack, make: "type[Candidate]"
) -> "Candidate":
    log = LogFile(log_path(out, participant))
    kept = stack.enter_context(log.held())
    if kept.torn_bytes:
        print(f"{log.path}: its last line was cut short; that answer was never shown as saved", file=sys.stderr)
    sitting = replay(from_record(record, str(log.path)) for record in kept.records)
    candidate = make(participant, log, sitting)
    if sitting.terms is None:
        candidate.keep(terms)
    elif sitting.terms != terms:
        before = {name: value for name, value in to_record(sitting.terms).items() if value != to_record(terms)[name]}
        raise InputError(
            f"{log.path}: {participant}'s exam began with {', '.join(f'{one}={two}' for one, two in before.items())}; "
            "go on with that, or name another --out"
        )
    return candidate


def _frames_of(library: Library, question_ids: Sequence[str], terms: Terms) -> "Callable[[QuestionPage], str] | None":
    """A question's frames as HTML; the next ones are decoded while one is looked at."""
    from egobench_tasks.browse.strips import decode_strips
    from egobench_tasks.frames.store import FrameStore
    from egobench_tasks.making.pages.html import strips_html

    if terms.shown is Shown.CLIPS:
        return None
    store, ahead = FrameStore(), ThreadPoolExecutor(max_workers=1)

    @lru_cache(maxsize=4)
    def html(question_id: str) -> str:
        page = library.page(question_id)
        assert page is not None
        return strips_html(page, decode_strips(page, store))

    def frames(page: "QuestionPage") -> str:
        place = question_ids.index(page.entry.question_id)
        found = html(page.entry.question_id)
        if place + 1 < len(question_ids):
            ahead.submit(html, question_ids[place + 1])
        return found

    return frames
