"""Whether a judge is configured for open answers, said before a model is asked."""

import functools
import logging

from egobench_tasks.asking.open import HOW_TO_CONFIGURE_A_JUDGE
from egobench_tasks.judge.settings import JudgeSettings, load_settings

logger = logging.getLogger(__name__)


def check_judge() -> JudgeSettings | None:
    """Return the judge that is configured; say so where there is none. Raises ``InputError`` for a wrong setting.

    Called before the model runs: a typing error in a variable must not show after a night.
    """
    settings = load_settings()
    if settings is None:
        _say_no_judge()
    return settings


@functools.cache
def _say_no_judge() -> None:
    """Once a process: every category asks."""
    logger.warning(f"no judge is configured: answers are saved without verdicts; {HOW_TO_CONFIGURE_A_JUDGE}")
