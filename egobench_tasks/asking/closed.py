"""EgoTempo's closed form as a whole: its wrong answers, which a user's file holds, and its two wordings."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from egobench_tasks.asking.catalogue import CHOICES_VARIABLE
from egobench_tasks.asking.open import OpenChoices, load_open_choices
from egobench_tasks.asking.prompts import (
    OPEN_CHOICE_TEMPLATES,
    OPEN_CHOICE_TEXT_TEMPLATES,
    ChoiceTemplates,
    choice_templates,
)
from egobench_tasks.frames.spec import FrameSpec


@dataclass(frozen=True, slots=True)
class ClosedForm:
    """``choices``: the wrong answers; a question is worded otherwise where its words stand alone."""

    choices: OpenChoices
    with_frames: ChoiceTemplates
    words_alone: ChoiceTemplates

    def templates(self, spec: FrameSpec | None) -> ChoiceTemplates:
        """Return the wording of what is shown of a clip; ``spec`` None: nothing."""
        return self.words_alone if spec is None else self.with_frames


def load_closed_form(environ: Mapping[str, str] = os.environ) -> ClosedForm | None:
    """Return the form that ``EGOBENCH_CHOICES`` names, None for none. Raises ``InputError`` for a wrong file."""
    path = environ.get(CHOICES_VARIABLE)
    if not path:
        return None
    choices = load_open_choices(Path(path))
    return ClosedForm(choices, choice_templates(OPEN_CHOICE_TEMPLATES), choice_templates(OPEN_CHOICE_TEXT_TEMPLATES))
