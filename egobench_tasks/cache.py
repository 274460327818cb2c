"""Where what may be computed again, or asked again, is kept: decoded frames, judges' verdicts, journals of answers."""

import os
from pathlib import Path

import platformdirs

CACHE_VARIABLE = "EGOBENCH_CACHE"


def cache_dir() -> Path:
    """Return the folder ``$EGOBENCH_CACHE``, else ``egobench`` in the platform's cache folder. Not created here."""
    chosen = os.environ.get(CACHE_VARIABLE)
    return Path(chosen).expanduser() if chosen else platformdirs.user_cache_path("egobench", appauthor=False)
