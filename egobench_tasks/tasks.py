"""The module for lighteval's ``--custom-tasks egobench_tasks.tasks``.

``egogears`` runs ``egogears:single`` and ``egogears:multi``, ``egogears_PROBE`` the same questions with one
thing changed, and ``probes`` a set of these (`asking.probes`). ``egotempo`` runs the ten categories of
EgoTempo at one frame a second, ``egotempo_SETTING`` at another input setting (`open_settings`). With
``EGOBENCH_CHOICES`` naming a file of wrong answers, ``egotempo_choice`` is EgoTempo's closed form, and
``egotempo_choice_text`` and ``egotempo_choice_center`` the same with the words alone and with one frame.
"""

import os
from pathlib import Path

from lighteval.tasks.lighteval_task import LightevalTaskConfig

from egobench_tasks.asking.open import load_open_choices
from egobench_tasks.asking.open_settings import DEFAULT_SETTING, TEXT_ONLY, open_settings
from egobench_tasks.asking.probes import PROBES, probe_configs
from egobench_tasks.asking.prompts import (
    OPEN_CHOICE_TEMPLATES,
    OPEN_CHOICE_TEXT_TEMPLATES,
    choice_templates,
    open_templates,
)
from egobench_tasks.benchmarks import EGOGEARS, EGOTEMPO
from egobench_tasks.hosts.lighteval import compat
from egobench_tasks.hosts.lighteval.docs import egogears_task, open_choice_task, open_task
from egobench_tasks.hosts.lighteval.usage import usage_errors

CHOICES_VARIABLE = "EGOBENCH_CHOICES"

_CLOSED_SETTINGS = (DEFAULT_SETTING, TEXT_ONLY, "center")


def choice_tasks() -> list[LightevalTaskConfig]:
    """Return EgoGears' tasks, the benchmark's own first, then each probe's."""
    templates = choice_templates()
    return [egogears_task(config, templates) for config in EGOGEARS.rows] + [
        egogears_task(config, templates, probe) for probe in PROBES.values() for config in probe_configs(probe)
    ]


def _egotempo() -> list[LightevalTaskConfig]:
    templates = open_templates()
    return [
        open_task(_named(EGOTEMPO.name, setting), category, spec, templates)
        for setting, spec in open_settings().items()
        for category in EGOTEMPO.category_codes
    ]


def _egotempo_choice() -> list[LightevalTaskConfig]:
    path = os.environ.get(CHOICES_VARIABLE)
    if not path:
        return []
    choices, specs = load_open_choices(Path(path)), open_settings()
    return [
        open_choice_task(
            _named(f"{EGOTEMPO.name}_choice", setting),
            category,
            specs[setting],
            choice_templates(OPEN_CHOICE_TEXT_TEMPLATES if setting == TEXT_ONLY else OPEN_CHOICE_TEMPLATES),
            choices,
        )
        for setting in _CLOSED_SETTINGS
        for category in EGOTEMPO.category_codes
    ]


def _named(name: str, setting: str) -> str:
    return name if setting == DEFAULT_SETTING else f"{name}_{setting}"


with usage_errors():
    TASKS_TABLE = [*choice_tasks(), *_egotempo(), *_egotempo_choice()]

compat.apply()
