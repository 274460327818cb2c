"""A journal's answers as one last attempt a question and repeat: it does not say with which settings it was made."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from egobench_tasks.errors import InputError
from egobench_tasks.runs.journal import Answer


def last_attempts(folder: Path, answers: Iterable[Answer]) -> Iterator[tuple[str, list[Answer]]]:
    """Yield each question's id with its answers that count, one a repeat, in the repeats' order.

    Of attempts with growing budgets (PROTOCOL 1.2) the largest one's counts. A question that lacks its first answer,
    which scores, is still to be answered and is left out. Raises ``InputError`` naming the question that was answered
    under several settings.
    """
    attempts: dict[str, dict[int, list[Answer]]] = {}
    for answer in answers:
        attempts.setdefault(answer.question_id, {}).setdefault(answer.repeat, []).append(answer)
    for question_id, by_repeat in attempts.items():
        _check_one_setting(folder, question_id, [answer for tries in by_repeat.values() for answer in tries])
        if 0 in by_repeat:
            yield question_id, [max(by_repeat[repeat], key=_budget) for repeat in sorted(by_repeat)]


def journal_note(folder: Path) -> str:
    """Return what a reader must know of a run that is read from its journal."""
    return f"{folder}: read from the journal of an unfinished run; it does not say which prompt, frames and dataset"


def _check_one_setting(folder: Path, question_id: str, tries: Sequence[Answer]) -> None:
    budgets = {(answer.repeat, _budget(answer)) for answer in tries}
    if len(tries) > len(budgets) or len({answer.prompt for answer in tries}) > 1:
        raise InputError(
            f"{folder}: the journal answers question {question_id} under several settings and does not say which "
            "is which; let the run finish, then report on its details"
        )


def _budget(answer: Answer) -> int:
    return answer.budget_tokens or 0
