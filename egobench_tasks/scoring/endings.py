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

# PROTOCOL 1.3, rule 5, lists the normal ends; a word that is not listed is none of them. The second line is the same in
# other providers' words: Cohere's and AI21's, Amazon Titan's, Gemini's enumeration in full.
_NORMAL = frozenset(
    {"stop", "eos", "eos_token", "end_turn", "stop_sequence", "completed", NOT_GIVEN, ""}
    | {"complete", "endoftext", "finish", "finish_reason_stop"}
)
_LENGTH = frozenset(
    {"length", "max_tokens", "model_length", "max_length", "max_new_tokens", "max_output_tokens"}
    | {"max_completion_tokens", "token_limit", "model_context_window_exceeded", "error_limit"}
    | {"finish_reason_max_tokens"}
)
# Ends that are the model's, though one holds a word of failure: Cohere's name for a filter.
_MODEL = frozenset(
    {"error_toxic", "content_filter", "content_filtered", "refusal", "safety", "recitation", "blocklist", "language"}
    | {"prohibited_content", "spii", "tool_calls", "tool_call", "tool_use", "function_call"}
    | {"malformed_function_call", "guardrail_intervened"}
)
_FAILURE_WORDS = (
    *("error", "abort", "cancel", "fail", "timeout", "timed_out", "interrupt", "disconnect"),
    *("unavailable", "overload", "insufficient_system_resource"),
)


def ending(finish_reason: str | None) -> Ending:
    """Return what a finish reason means, in any provider's words, case and hyphens aside.

    >>> [ending(reason).value for reason in ("STOP", "max_tokens", "abort", "content_filter")]
    ['normal', 'length', 'service_failure', 'model']
    """
    word = _word(finish_reason)
    if word in _NORMAL:
        return Ending.NORMAL
    if word in _LENGTH:
        return Ending.LENGTH
    if word not in _MODEL and any(failure in word for failure in _FAILURE_WORDS):
        return Ending.SERVICE_FAILURE
    return Ending.MODEL


def is_known(finish_reason: str | None) -> bool:
    """Whether a finish reason's meaning is known, and not only taken to be no normal end since nothing says it is."""
    return ending(finish_reason) is not Ending.MODEL or _word(finish_reason) in _MODEL


def _word(finish_reason: str | None) -> str:
    return (finish_reason or "").strip().lower().replace("-", "_").replace(" ", "_")
