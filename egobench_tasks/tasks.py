"""The module for lighteval's ``--custom-tasks egobench_tasks.tasks``.

``egogears`` runs ``egogears:single`` and ``egogears:multi``.
"""

import os
from pathlib import Path

from egobench_tasks.benchmarks import EGOGEARS
from egobench_tasks.hosts import lighteval_compat
from egobench_tasks.hosts.lighteval_docs import egogears_task
from egobench_tasks.prompts import CHOICE_TEMPLATES, load_choice_templates

PROMPTS_VARIABLE = "EGOBENCH_PROMPTS"

with lighteval_compat.usage_errors():
    _templates = load_choice_templates(Path(os.environ.get(PROMPTS_VARIABLE, CHOICE_TEMPLATES)))

TASKS_TABLE = [egogears_task(config, _templates) for config in EGOGEARS.rows]

lighteval_compat.apply()
