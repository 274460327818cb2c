"""Counting what a run has asked, and what it took."""

from collections.abc import Iterable, Sequence

from egobench_tasks.runs.journal import UNANSWERED, Answer
from egobench_tasks.runs.record import Counts


def count(answers: Sequence[Answer | None], n_asked: int, n_asked_again: int = 0) -> Counts:
    """Count a run's questions by the answers that count; None, or one of `journal.UNANSWERED`, is a failure.

    ``n_asked`` questions were asked now, the others' answers were kept. ``n_asked_again``: see `recheck`.
    """
    given = [answer for answer in answers if answer is not None and answer.finish_reason not in UNANSWERED]
    return Counts(
        total=len(answers),
        asked=n_asked,
        reused=len(answers) - n_asked,
        failed=len(answers) - len(given),
        asked_again=n_asked_again,
        prompt_tokens=_sum(answer.n_prompt_tokens for answer in given),
        new_tokens=_sum(answer.n_new_tokens for answer in given),
    )


def _sum(counts: Iterable[int | None]) -> int | None:
    """The sum of the counts that are known; None where none is."""
    known = [count for count in counts if count is not None]
    return sum(known) if known else None
