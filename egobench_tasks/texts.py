"""Text from outside, made fit to be written down; names that nobody knows, and the nearest that somebody does."""

import difflib
from collections.abc import Iterable, Sequence


def well_formed(text: str) -> str:
    """Return the text with every lone surrogate replaced by U+FFFD, and halves of a pair that met joined.

    JSON and Python literals can spell half a character (``"\\ud800"``), which no file, table or request can hold.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def nearest(name: str, known: Iterable[str]) -> str:
    """Return what to say beside an unknown name: the nearest known one, else all of them."""
    choices = sorted(known)
    close = difflib.get_close_matches(name.lower(), choices, n=1, cutoff=0.6)
    return f"did you mean {close[0]}?" if close else f"known: {', '.join(choices)}"


def first_line(error: Exception) -> str:
    """Return what an error says, without the advice that follows in further lines."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)


def one_line(error: Exception) -> str:
    """Return all that an error says, in one line."""
    return " ".join(str(error).split())


def some_of(names: Sequence[str], most: int = 3) -> str:
    """Return the first of some names and how many more there are: ``a, b, c and 489 more``."""
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most:,} more"
