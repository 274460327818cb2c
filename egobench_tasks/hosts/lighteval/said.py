"""What a model of transformers said: its tokens become a text in which the marks of reasoning are still there."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from egobench_tasks.scoring.reasoning import is_mark_token, left_open


@dataclass(frozen=True, slots=True)
class Said:
    """``text`` is what the answer is read from; ``reasoning`` is what transformers split off before."""

    text: str
    reasoning: str = ""


def read_tokens(tokenizer: Any, tokens: Sequence[int], stop_ids: Collection[int], prompt: str) -> Said:
    """Decode a generation (PROTOCOL 1.3, rule 1).

    Where the tokenizer says how its model's responses are built, transformers' own parser splits them. Else special
    tokens are removed as ever, but for those that mark reasoning: without them an unclosed thought would read as an
    answer. A mark that the chat template had opened in the prompt is put in front again, for the same reason.

    Args:
        tokenizer: a tokenizer of transformers.
        tokens: the new tokens, padding after them included.
        stop_ids: the tokens that end a turn.
        prompt: the chat text that the model was given.
    """
    if getattr(tokenizer, "response_template", None):
        return _parsed(tokenizer, tokens, stop_ids, prompt)
    dropped = {token for token in _special_ids(tokenizer) if not is_mark_token(tokenizer.convert_ids_to_tokens(token))}
    kept = [token for token in tokens if token not in dropped]
    return Said(left_open(prompt) + tokenizer.decode(kept, skip_special_tokens=False))


def all_stop_ids(generation_config_ids: int | list[int] | None, tokenizer_id: int | None) -> list[int]:
    """All tokens that end an answer. lighteval passes the tokenizer's alone; chat models often end
    turns with another one, and would run on to the limit."""
    ids = generation_config_ids if isinstance(generation_config_ids, list) else [generation_config_ids]
    return sorted({token for token in [*ids, tokenizer_id] if token is not None})


def _parsed(tokenizer: Any, tokens: Sequence[int], stop_ids: Collection[int], prompt: str) -> Said:
    n_said = next((index for index, token in enumerate(tokens) if token in stop_ids), len(tokens))
    message = tokenizer.parse_response(list(tokens[:n_said]), prefix=prompt)
    # Templates name the reasoning in either way, and leave out what a response does not have.
    reasoning = message.get("reasoning_content") or message.get("thinking") or ""
    content = message.get("content") or ""
    return Said(content, reasoning)


def _special_ids(tokenizer: Any) -> set[int]:
    """All tokens that decoding would remove, those that were added without a name of their own included."""
    added = {token for token, text in tokenizer.added_tokens_decoder.items() if text.special}
    return added | set(tokenizer.all_special_ids)
