"""Leaving a terminal to one progress bar and to our warnings, unless the user asks for all that the libraries say."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

_HEARD_IN_ERRORS = ("lighteval", "py.warnings", "datasets", "huggingface_hub")


@contextmanager
def loggers_kept() -> Iterator[None]:
    """Import lighteval's command line within it: its setup of logging mutes every logger that is there already, and so
    our warnings."""
    muted_before = {name for name, logger in _loggers().items() if logger.disabled}
    try:
        yield
    finally:
        for name, logger in _loggers().items():
            logger.disabled = name in muted_before


def _loggers() -> dict[str, logging.Logger]:
    known = logging.Logger.manager.loggerDict
    return {name: logger for name, logger in known.items() if isinstance(logger, logging.Logger)}


def quiet() -> None:
    """Silence lighteval's log and its neighbours' progress bars in this process.

    Call it after lighteval is imported: its command line sets up logging when it is.
    """
    import datasets
    from huggingface_hub.utils.tqdm import disable_progress_bars

    logging.getLogger().setLevel(logging.WARNING)
    for name in _HEARD_IN_ERRORS:
        logging.getLogger(name).setLevel(logging.ERROR)
    datasets.disable_progress_bars()
    disable_progress_bars()
