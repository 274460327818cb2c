"""Answers the sample's questions from exactly what a model gets: the message's text and pictures.

It knows the sample's English and colours. It knows no id, file or truth, so whatever the path from clip to message
does to frames, labels or options shows in its score.
"""

import json
import random
import re
from collections import defaultdict
from collections.abc import Sequence

from PIL import Image

from dataset_scripts.sample.asking import Asking, read_asking
from dataset_scripts.sample.sight import walk_seen
from dataset_scripts.sample.statements import Label, Walks
from dataset_scripts.sample.walks import Walk

Part = str | Image.Image

_OPTION = re.compile(r"([A-Z])\. (.+)")
_EXAMPLE = re.compile(r'\{"answer": (\[.*\])\}')


def answer_message(parts: Sequence[Part]) -> str:
    """Return the JSON answer to one message: the instruction, then for each clip its label, if any, and its frames.

    Where what it sees does not make as many options true as the example in the instruction names, it has misread
    something and guesses: that many of the shown letters, drawn evenly by a generator seeded with the message's text.
    So what it cannot read it scores at chance. Raises ``ValueError`` for a message with no option.
    """
    instruction = parts[0] if parts and isinstance(parts[0], str) else ""
    matches = filter(None, map(_OPTION.fullmatch, instruction.splitlines()))
    options = {match[1]: match[2] for match in matches}
    if not options:
        raise ValueError(f"no line of the first part reads like an option, such as 'A. text': {instruction[:200]!r}")
    n_select = _n_select(instruction)
    chosen = _true_options(_asking(instruction), options, _walks(parts[1:]))
    if len(chosen) != n_select:
        text = "\n".join(part for part in parts if isinstance(part, str))
        chosen = sorted(random.Random(text).sample(sorted(options), min(n_select, len(options))))
    return json.dumps({"answer": chosen})


def _n_select(instruction: str) -> int:
    """How many options to select, by the example answer in the instruction; 1 where there is none."""
    examples = _EXAMPLE.findall(instruction)
    return len(json.loads(examples[-1])) if examples else 1


def _asking(instruction: str) -> Asking | None:
    for line in instruction.splitlines():
        if asking := read_asking(line.removeprefix("Question: ")):
            return asking
    return None


def _true_options(asking: Asking | None, options: dict[str, str], walks: Walks) -> list[str]:
    if asking is None:
        return []
    statements = {letter: asking.read_option(text) for letter, text in options.items()}
    return [letter for letter, statement in statements.items() if statement is not None and statement.holds(walks)]


def _walks(parts: Sequence[Part]) -> dict[Label, list[Walk]]:
    """The walk of every clip, under its label; frames that follow no label are under None.

    A label introduces one clip, so a label that comes twice introduces two.
    """
    clips: list[tuple[Label, list[Image.Image]]] = []
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
        walks[label].append(walk_seen(frames))
    return walks
