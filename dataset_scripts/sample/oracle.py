"""Answers the sample's questions from exactly what a model gets: the message's text and pictures.

It knows the sample's English and colours. It knows no id, file or truth, so whatever the path from clip to message
does to frames, labels or options shows in its score.
"""

import json
import random
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from PIL import Image

from dataset_scripts.sample.asking import Asking, read_asking
from dataset_scripts.sample.sight import walk_seen
from dataset_scripts.sample.statements import Label, Walks
from dataset_scripts.sample.walks import Walk

Part = str | Image.Image
See = Callable[[Sequence[Any]], Walk]
"""From the frames of one clip, in the order shown, to the walk that they show."""

_OPTION = re.compile(r"([A-Z])\. (.+)")
_EXAMPLE = re.compile(r'\{"answer": (\[.*\])\}')


def answer_message(parts: Sequence[Any], see: See = walk_seen) -> str:
    """Return the JSON answer to one message: the instruction, then for each clip its label, if any, and its frames.

    Where what it sees does not make as many options true as the example in the instruction names, it has misread
    something and guesses: that many of the shown letters, drawn evenly by a generator seeded with the message's text.
    So what it cannot read it scores at chance. Raises ``ValueError`` for a message with no option. ``parts`` are texts
    and whatever ``see`` takes for frames: images, if nothing else is given.
    """
    chosen, n_select = true_letters(parts, see), n_to_select(parts)
    if len(chosen) != n_select:
        text = "\n".join(part for part in parts if isinstance(part, str))
        letters = sorted(read_options(parts))
        chosen = sorted(random.Random(text).sample(letters, min(n_select, len(letters))))
    return json.dumps({"answer": chosen})


def true_letters(parts: Sequence[Any], see: See = walk_seen) -> list[str]:
    """Return the shown letters of the options that are true of what is seen, however many are asked for."""
    options = read_options(parts)
    return true_options(read_question(parts), options, walks_by_label(parts[1:], see))


def read_options(parts: Sequence[Any]) -> dict[str, str]:
    """Return the options by shown letter. Raises ``ValueError`` for a message without any."""
    instruction = _instruction(parts)
    matches = filter(None, map(_OPTION.fullmatch, instruction.splitlines()))
    options = {match[1]: match[2] for match in matches}
    if not options:
        raise ValueError(f"no line of the first part reads like an option, such as 'A. text': {instruction[:200]!r}")
    return options


def n_to_select(parts: Sequence[Any]) -> int:
    """How many options to select, by the example answer in the instruction; 1 where there is none."""
    examples = _EXAMPLE.findall(_instruction(parts))
    return len(json.loads(examples[-1])) if examples else 1


def _instruction(parts: Sequence[Any]) -> str:
    return parts[0] if parts and isinstance(parts[0], str) else ""


def read_question(parts: Sequence[Any]) -> Asking | None:
    """What the message asks, or None where it asks none of the sample's questions."""
    for line in _instruction(parts).splitlines():
        if asking := read_asking(line.removeprefix("Question: ")):
            return asking
    return None


def true_options(asking: Asking | None, options: Mapping[str, str], walks: Walks) -> list[str]:
    """Return the letters of the options that are true of the walks; none where nothing of the sample's is asked."""
    if asking is None:
        return []
    statements = {letter: asking.read_option(text) for letter, text in options.items()}
    return [letter for letter, statement in statements.items() if statement is not None and statement.holds(walks)]


def walks_by_label(parts: Sequence[Any], see: See = walk_seen) -> dict[Label, list[Walk]]:
    """The walk of every clip, under its label; frames that follow no label are under None.

    A label introduces one clip, so a label that comes twice introduces two.
    """
    clips: list[tuple[Label, list[Any]]] = []
    label: Label = None
    after_text = True
    for part in parts:
        if isinstance(part, str):
            label, after_text = part.strip(), True
            continue
        if after_text:
            clips.append((label, []))
            after_text = False
        clips[-1][1].append(part)
    walks: dict[Label, list[Walk]] = defaultdict(list)
    for label, frames in clips:
        walks[label].append(see(frames))
    return walks
