"""Who reviewed a question or sat an exam: an id, never a name. Whatever is written or exported holds ids alone."""

import re

from egobench_tasks.errors import InputError

_ID = re.compile(r"[a-z]{1,2}[0-9]{1,4}", re.ASCII)


def check_id(text: str, option: str) -> str:
    """Return an id: one or two small letters and one to four digits (``r1``, ``p03``), so that no name passes for one.

    Raises ``InputError`` naming the ``option`` that was given anything else.
    """
    if not _ID.fullmatch(text):
        raise InputError(
            f"{option}: {text!r} is no id; give one or two small letters and a number, such as r1 or p03. Names stay "
            "with you: what is written here is handed on"
        )
    return text
