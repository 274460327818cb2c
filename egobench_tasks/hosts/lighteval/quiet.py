"""Leaving a terminal to one progress bar and to our warnings, unless the user asks for all that the libraries say."""

import logging

_HEARD_IN_ERRORS = ("lighteval", "py.warnings", "datasets", "huggingface_hub")


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
