"""What became of a question: an answer, or the reason there is none."""

from egobench_tasks.runs.journal import CLIP_UNREADABLE, MISSING, REQUEST_FAILED
from egobench_tasks.scoring.answers import AnswerFailure, ParsedAnswer
from egobench_tasks.scoring.endings import Ending, ending

ANSWERED = "answered"

# Another attempt may mend these, so a run that has them is unfinished; the others are the model's own failures.
UNFINISHED = (MISSING, REQUEST_FAILED, CLIP_UNREADABLE)

STATES = (ANSWERED, *AnswerFailure, *UNFINISHED)

TITLES = {
    ANSWERED: "answered",
    AnswerFailure.NO_JSON: "no JSON",
    AnswerFailure.NOT_A_LIST: "not a list",
    AnswerFailure.EMPTY: "empty list",
    AnswerFailure.UNREADABLE_ITEM: "not a letter",
    AnswerFailure.UNKNOWN_LETTER: "unknown letter",
    AnswerFailure.TRUNCATED: "truncated",
    AnswerFailure.ABNORMAL_STOP: "abnormal stop",
    AnswerFailure.UNCLOSED_REASONING: "unclosed reasoning",
    REQUEST_FAILED: "request failed",
    CLIP_UNREADABLE: "clip unreadable",
    MISSING: "missing",
}


def state_of(parsed: ParsedAnswer, finish_reason: str) -> str:
    """Return one of `STATES` for a response that was parsed."""
    if finish_reason in UNFINISHED:
        return finish_reason
    if ending(finish_reason) is Ending.SERVICE_FAILURE:
        return REQUEST_FAILED
    return ANSWERED if parsed.failure is None else parsed.failure.value
