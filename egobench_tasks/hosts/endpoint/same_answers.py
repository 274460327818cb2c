"""What makes two answers of a served model alike; see `runs.same_model` for what that is for."""

from egobench_tasks.runs.journal import Answer
from egobench_tasks.runs.same_model import Work, in_short
from egobench_tasks.scoring.answers import NORMAL_STOP, parse_answer
from egobench_tasks.scoring.open import token_f1

_EVERY_LETTER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_SAME_WORDS = 0.5
"""Token F1 from which two open answers say the same; a served model words one answer in several ways."""


def same_answer(kept: Answer, again: Answer) -> bool:
    """Whether two answers to one question are as alike as one model's are.

    The same question takes the same prompt tokens of one model. Letters must be the same letters; an open answer may
    be worded otherwise.
    """
    counts = (kept.n_prompt_tokens, again.n_prompt_tokens)
    if None not in counts and counts[0] != counts[1]:
        return False
    if kept.text.strip() == again.text.strip():
        return True
    letters = [parse_answer(answer.text, _EVERY_LETTER, NORMAL_STOP).letters for answer in (kept, again)]
    if any(letters):
        return letters[0] == letters[1]
    return token_f1(again.text, kept.text) >= _SAME_WORDS


def _shown(answer: Answer) -> str:
    tokens = "" if answer.n_prompt_tokens is None else f" ({answer.n_prompt_tokens:,} prompt tokens)"
    return f"{in_short(answer.text)}{tokens}"


ANSWERS: Work[Answer] = Work(
    noun="answers",
    key=lambda answer: answer.key,
    title=lambda answer: answer.question_id,
    shown=_shown,
    same=same_answer,
    ways=(
        "--fresh asks this one every question anew, and later runs go on with its answers, or",
        "`label: NAME` in the endpoint's settings keeps a model's answers apart from its namesake's",
    ),
)
