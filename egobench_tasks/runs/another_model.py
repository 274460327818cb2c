"""Going on with a run that did not finish is for the model that began it."""

from pathlib import Path

from egobench_tasks.errors import InputError
from egobench_tasks.runs.differences import differing
from egobench_tasks.runs.journal import Journal, is_fresh, journal_folder
from egobench_tasks.runs.record import Answerer, read_records


def refuse_another_model(folder: Path, answerer: Answerer) -> None:
    """Raise ``InputError`` where the newest run of a name did not finish and was another model's than this one's.

    Who runs a command again after a kill means to go on, and would get one model's figure for two models' work.
    ``--fresh`` says that it is meant; so does another folder.
    """
    newest = next((record for record in reversed(read_records(folder)) if record.model.name == answerer.name), None)
    if newest is None or newest.complete or newest.model.key == answerer.key or is_fresh():
        return
    n_kept = len(Journal(journal_folder(newest.model.identity, newest.model.generation)).answers())
    if not n_kept:
        return
    names = differing(newest.model.identity, answerer.identity)
    raise InputError(
        f"{folder}: its last run of {answerer.name} ({newest.times.started_utc}) did not finish, and what answered "
        f"then is not what would answer now: other {', '.join(names)}.\nIts {n_kept} kept answers are not taken for "
        "this model's, and none is lost. To go on with it, put back what it was; to ask this one everything, add "
        "--fresh (plain lighteval: EGOBENCH_FRESH=1) or name another --output-dir"
    )
