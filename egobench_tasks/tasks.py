"""The module for lighteval's ``--custom-tasks egobench_tasks.tasks``.

``egogears`` runs ``egogears:single`` and ``egogears:multi``, ``egogears_PROBE`` the same questions with one
thing changed, and ``probes`` a set of these (`asking.probes`). ``egotempo`` runs the ten categories of
EgoTempo at one frame a second, ``egotempo_SETTING`` at another input setting (`open_settings`). With
``EGOBENCH_CHOICES`` naming a file of wrong answers, ``egotempo_choice`` is EgoTempo's closed form, and
``egotempo_choice_text`` and ``egotempo_choice_center`` the same with the words alone and with one frame.
"""

from lighteval.tasks.lighteval_task import LightevalTaskConfig

from egobench_tasks.asking.catalogue import choice_entries, closed_entries, open_entries
from egobench_tasks.asking.closed import load_closed_form
from egobench_tasks.asking.prompts import choice_templates, open_templates
from egobench_tasks.hosts.lighteval import compat
from egobench_tasks.hosts.lighteval.docs import egogears_task, open_choice_task, open_task
from egobench_tasks.hosts.lighteval.usage import usage_errors


def choice_tasks() -> list[LightevalTaskConfig]:
    """Return EgoGears' tasks, the benchmark's own first, then each probe's."""
    templates = choice_templates()
    return [egogears_task(entry.part, templates, entry.probe) for entry in choice_entries()]


def _egotempo() -> list[LightevalTaskConfig]:
    templates = open_templates()
    return [open_task(entry.group, entry.part, entry.spec, templates) for entry in open_entries()]


def _egotempo_choice() -> list[LightevalTaskConfig]:
    closed = load_closed_form()
    if closed is None:
        return []
    return [
        open_choice_task(entry.group, entry.part, entry.spec, closed.templates(entry.spec), closed.choices)
        for entry in closed_entries()
    ]


with usage_errors():
    TASKS_TABLE = [*choice_tasks(), *_egotempo(), *_egotempo_choice()]

compat.apply()
