"""Where what may be computed again, or asked again, is kept: decoded frames, judges' verdicts, journals of answers."""

import os
from pathlib import Path

import platformdirs

from egobench_tasks.errors import InputError

CACHE_VARIABLE = "EGOBENCH_CACHE"


def cache_dir() -> Path:
    """Return the folder ``$EGOBENCH_CACHE``, else the user's own. Not created here."""
    chosen = os.environ.get(CACHE_VARIABLE)
    return Path(chosen).expanduser() if chosen else own_cache_dir()


def own_cache_dir() -> Path:
    """Return ``egobench`` in the platform's cache folder of this user. Not created here."""
    return platformdirs.user_cache_path("egobench", appauthor=False)


def own_layer(folder: Path) -> Path:
    """Return a folder below `cache_dir` where this user may write it, else its like in the user's own cache.

    A cache may be shared: what it holds is read where it lies, what is new lies in a layer of its user's. Raises
    ``InputError`` where a file stands in the folder's place.
    """
    if (there := _nearest(folder)).is_file():
        raise InputError(f"{there}: is a file, where the cache's folder is to be; name another with {CACHE_VARIABLE}")
    if may_write(folder):
        return folder
    try:
        return own_cache_dir() / folder.relative_to(cache_dir())
    except ValueError:  # not of the cache
        return folder


def may_write(folder: Path) -> bool:
    """Whether this user may write into a folder, or make it where it is not there yet."""
    there = _nearest(folder)
    return there.is_dir() and os.access(there, os.W_OK | os.X_OK)


def _nearest(folder: Path) -> Path:
    """The folder, or what is there of the path to it."""
    return next(path for path in (folder, *folder.absolute().parents) if path.exists())
