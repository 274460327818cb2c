"""Why a generation ended, in one place for every host: providers have a dozen words for three things (PROTOCOL 1.3)."""

from enum import StrEnum


class Ending(StrEnum):
    """What a finish reason means for the answer."""

    NORMAL = "normal"  # the model was done
    LENGTH = "length"  # cut by a budget or by the context: asked for again with a larger budget
    SERVICE_FAILURE = "service_failure"  # the service's failure, not the model's: asked again, then unanswered
    MODEL = "model"  # any other end: a filter, a refusal, a tool call. The model's, and no answer


NOT_GIVEN = "not_given"
"""Kept as the finish reason of a reply that gives none, which is a normal end."""

# PROTOCOL 1.3, rule 5, lists the normal ends; a word that is not listed is none of them.
_NORMAL = frozenset({"stop", "eos", "eos_token", "end_turn", "stop_sequence", "completed", NOT_GIVEN, ""})
_LENGTH = frozenset(
    {"length", "max_tokens", "model_length", "max_length", "max_new_tokens", "max_output_tokens"}
    | {"max_completion_tokens", "token_limit", "model_context_window_exceeded", "error_limit"}
)
# Ends that hold a word of failure and yet are the model's: Cohere's name for a filter.
_MODEL = frozenset({"error_toxic"})
_FAILURE_WORDS = (
    *("error", "abort", "cancel", "fail", "timeout", "timed_out", "interrupt", "disconnect"),
    *("unavailable", "overload", "insufficient_system_resource"),
)


def ending(finish_reason: str | None) -> Ending:
    """Return what a finish reason means, in any provider's words, case and hyphens aside.

    >>> [ending(reason).value for reason in ("STOP", "max_tokens", "abort", "content_filter")]
    ['normal', 'length', 'service_failure', 'model']
    """
    word = (finish_reason or "").strip().lower().replace("-", "_").replace(" ", "_")
    if word in _NORMAL:
        return Ending.NORMAL
    if word in _LENGTH:
        return Ending.LENGTH
    if word not in _MODEL and any(failure in word for failure in _FAILURE_WORDS):
        return Ending.SERVICE_FAILURE
    return Ending.MODEL
