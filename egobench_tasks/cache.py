"""Where what may be computed again, or asked again, is kept: decoded frames and judges' verdicts."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

CACHE_VARIABLE = "EGOBENCH_CACHE"


def cache_dir(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the folder ``$EGOBENCH_CACHE``, else ``egobench`` in the user's cache folder. Not created here."""
    if chosen := environ.get(CACHE_VARIABLE):
        return Path(chosen).expanduser()
    return _user_cache_dir(environ) / "egobench"


def _user_cache_dir(environ: Mapping[str, str]) -> Path:
    if chosen := environ.get("XDG_CACHE_HOME"):
        return Path(chosen)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    if sys.platform == "win32" and (local := environ.get("LOCALAPPDATA")):
        return Path(local)
    return Path.home() / ".cache"
