"""Models that are wrong in one known way each, for what probes and reports must tell apart.

Each takes what the oracle takes: a message's texts and frames, and how frames are seen. What they answer does not
depend on the order of the options, but for `always_first`, which depends on nothing else.
"""

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from dataset_scripts.sample.oracle import (
    See,
    answer_message,
    n_to_select,
    read_options,
    read_question,
    true_options,
    walks_by_label,
)
from dataset_scripts.sample.sight import walk_seen
from dataset_scripts.sample.statements import LABEL

ScriptedModel = Callable[[Sequence[Any], See], str]
"""From a message and eyes to a reply."""


def guess_blind(parts: Sequence[Any], see: See = walk_seen) -> str:
    """Answer from the words of the options alone: the same ones whatever is shown, asked or reordered."""
    options = read_options(parts)
    return _reply(_by_words(options)[: n_to_select(parts)])


def always_first(parts: Sequence[Any], see: See = walk_seen) -> str:
    """Answer with the first letters shown, as many as are asked for."""
    return _reply(sorted(read_options(parts))[: n_to_select(parts)])


def ignore_labels(parts: Sequence[Any], see: See = walk_seen) -> str:
    """Answer as the oracle would that sees every frame but not which clip it belongs to.

    A statement is true for it where it holds of any of the clips. Of more true ones than are asked for, and of too
    few, it takes those that the words alone put first.
    """
    options = read_options(parts)
    walks = [walk for walks in walks_by_label(parts[1:], see).values() for walk in walks]
    named = [None, *re.findall(LABEL, parts[0])]
    true = set(true_options(read_question(parts), options, dict.fromkeys(named, walks)))
    by_words = sorted(_by_words(options), key=lambda letter: letter not in true)
    return _reply(by_words[: n_to_select(parts)])


SCRIPTED_MODELS: Mapping[str, ScriptedModel] = MappingProxyType(
    {
        "oracle": answer_message,
        "blind-guesser": guess_blind,
        "always-first": always_first,
        "label-ignorer": ignore_labels,
    }
)
"""By name: one that is right, and three that are wrong in one way each."""


def _by_words(options: Mapping[str, str]) -> list[str]:
    """The letters in an order that follows from the options' texts and from nothing else."""
    return sorted(options, key=lambda letter: hashlib.sha256(options[letter].encode()).digest())


def _reply(letters: Sequence[str]) -> str:
    return json.dumps({"answer": sorted(letters)})
